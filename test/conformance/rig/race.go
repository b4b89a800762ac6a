//go:build race

package rig

// Race tells whether the tests run with the race detector.
const Race = true
