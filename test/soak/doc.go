// Package soak puts the real binary on bad links and into crowds: two network namespaces
// with loss, delay and silent cuts between them, readers that stop, and many workers whose
// Hub goes away and comes back.
//
// Each test has a short form, which runs with all tests, and a long one, which runs when
// SIMPLEX_SOAK is set (scripts/soak.sh). Both need root and iproute2 and fail without.
package soak
