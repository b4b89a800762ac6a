#!/bin/sh
# The long forms of the tests that need time: a kill at every event of a long run, bad
# links with 10,000 events, 200 workers whose Hub goes away. Needs root and iproute2. Arguments go to go test.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo 'soak: needs root for network namespaces' >&2; exit 1; }
command -v ip >/dev/null || { echo 'soak: needs iproute2' >&2; exit 1; }
export SIMPLEX_SOAK=1
"${GO:-go}" test -count=1 -v -timeout 20m -run TestKilledAtEveryBoundary "$@" ./test/conformance
"${GO:-go}" test -count=1 -v -timeout 40m "$@" ./test/soak
