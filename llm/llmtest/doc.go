// Package llmtest holds what tests of model exchanges share: a clock that moves by
// hand, histories as odd as they come, and the check that a strict server would make of
// a request. It refuses to be linked into a program: only tests import it.
package llmtest
