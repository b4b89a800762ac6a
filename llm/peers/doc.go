// Package peers holds tests alone: `simplex chat`, built and run as a program, against
// model servers that were written by others. They need npm and its registry, so they
// run only where SIMPLEX_PEERS is set; SIMPLEX_PEERS_DIR names a folder in which
// scripts/peers.sh has installed the servers before.
package peers
