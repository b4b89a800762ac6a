#!/usr/bin/env bash
# Measures `simplex manage` against the cheapest programs of its kind, interleaved in one
# run: scripts/bench-manage.sh [STATIC_BINARY]. Without an argument the static binary is
# built as `make static` builds it, into a temporary folder. PERF is the folder of the
# floor programs, which are not part of the repository: what it must hold is in
# docs/performance.md; unset, ../shared/perf is tried. MANAGE_REPS is the number of pairs.
set -euo pipefail
cd "$(dirname "$0")/.."
perf=${PERF:-../shared/perf}
reps=${MANAGE_REPS:-41}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tags='netgo osusergo sqlite_omit_load_extension'
ldflags='-s -w -extldflags=-static'

[ -f "$perf/go.mod" ] || {
	echo "the floor programs, which are not part of this repository, are not at $perf: set PERF to their folder (docs/performance.md tells what it must hold)" >&2
	exit 1
}
cp -r "$perf" "$work/perf" && chmod -R u+w "$work/perf"
(
	cd "$work/perf" && mkdir -p "$work/bin"
	export GOFLAGS=-mod=mod CGO_ENABLED=1
	gcc -O2 -static -o "$work/bin/runit" c/runit.c
	go build -ldflags="$ldflags" -tags "$tags" -o "$work/bin/hello-full-static" ./cmd/hellofull
	go build -ldflags="$ldflags" -tags "full $tags" -o "$work/bin/floormanage-full" ./cmd/floormanage
)
if [ $# -gt 0 ]; then
	binary=$(realpath "$1")
else
	binary=$work/bin/simplex
	CGO_ENABLED=1 go build -trimpath -tags "$tags urfave_cli_no_docs" -ldflags "$ldflags" -o "$binary" ./cmd/simplex
fi
# What a linker has just written lies in the page cache in other pieces than a file that
# was copied, and maps up to twice the memory; a program that is used was copied.
mkdir "$work/installed"
cp "$work"/bin/* "$work/installed/"
cp "$binary" "$work/installed/simplex"
export SIMPLEX_BENCH_MANAGER=$work/installed/simplex SIMPLEX_BENCH_FLOORS=$work/installed
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
# A request takes milliseconds, a round of eight some dozens, a large state seconds.
go test ./test/bench -run '^$' -bench 'Manage(Inspect|Refresh|Capture|Memory|Syncs|Tombstones)' -benchtime "${reps}x"
go test ./test/bench -run '^$' -bench 'Manage.*AtOnce' -benchtime "$((reps / 2 + 1))x"
go test ./test/bench -run '^$' -bench 'ManageReadState' -benchtime 5x
echo "load after: $(cut -d ' ' -f 1-3 /proc/loadavg)"
