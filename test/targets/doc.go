// Package targets drives the static binary where a Hub would: on this machine, through
// `ssh -T` to a real sshd, and through `docker exec` in a container of a real engine
// (docs/deploy.md).
//
// It owns its daemons: they listen on a free loopback port and on a socket in a temporary
// folder, live in a mount namespace of their own, and end with the tests, also when those
// are killed. Nothing of the machine's own sshd or engine is touched, read or needed.
//
// It needs root and the programs that scripts/install-targets.sh installs. Where
// something is missing, the tests fail; only -short leaves them out.
package targets
