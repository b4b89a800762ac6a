// Package providers is the list of the provider plugins that are compiled in. It wires
// them and owns nothing else: no registration, no state.
package providers
