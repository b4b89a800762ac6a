// Package strict judges requests as the strictest model server would: one that refuses
// a conversation for any of the reasons for which some server is known to refuse one.
// It is what the offline server checks with, and tests. It refuses to send or to repair
// anything; its checks have no state.
package strict
