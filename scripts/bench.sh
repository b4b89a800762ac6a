#!/usr/bin/env bash
# Measures Simplex against the floor programs in one interleaved run, and the state codec
# against plain encoding/json/v2. Usage: scripts/bench.sh bin/simplex
# PERF is the folder of the floor programs, which are not part of the repository: what it
# must hold is in docs/performance.md; unset, ../shared/perf is tried. REPS, TURNS and OUT
# change the size of the run and where the raw figures go.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:?usage: scripts/bench.sh BINARY}")
perf=${PERF:-../shared/perf}
reps=${REPS:-9}
turns=${TURNS:-1,10,50}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${OUT:-$work/agent.jsonl}

[ -f "$perf/go.mod" ] || {
	echo "the floor programs, which are not part of this repository, are not at $perf: set PERF to their folder (docs/performance.md tells what it must hold)" >&2
	exit 1
}
cp -r "$perf" "$work/perf" && chmod -R u+w "$work/perf"
(
	cd "$work/perf" && mkdir -p bin
	export GOFLAGS=-mod=mod
	gcc -O2 -static -o bin/runit c/runit.c
	go build -tags sqlite -o bin/floor ./cmd/floor
	go build -o bin/agentbench ./cmd/agentbench
	python3 - "$binary" <<'PY'
import json, sys
peers = json.load(open("peers.json"))
for peer in list(peers):
    if peer["name"] != "simplex":
        continue
    peer["argv"][0] = sys.argv[1]
    lite = json.loads(json.dumps(peer).replace("persistence: {", "persistence: {format: sqlite, "))
    lite["name"] = "simplex-sqlite"
    peers.append(lite)
json.dump(peers, open("peers-here.json", "w"))
PY
	bin/agentbench -spec peers-here.json -peers floor-file,floor-sqlite,simplex,simplex-sqlite -turns "$turns" -reps "$reps" -out "$out"
	echo
	python3 ratios.py "$out" floor-file
	echo
	python3 ratios.py "$out" floor-sqlite
)
echo
echo "fsyncs of one run of 10 tool turns (strace; a save is one fsync of the file and one of its directory):"
scripts/count-saves.sh "$binary" "$work/perf"
echo
go test ./state -run '^$' -bench . -benchtime 2s
echo
echo "processes and tools against the bare system, interleaved:"
go test ./test/bench -run '^$' -bench . -benchtime 9x
echo
echo "requests and streamed answers, saves in both formats, pages of long histories:"
go test ./llm/chat ./llm/responses ./wire/display ./intercom -run '^$' -bench . -benchtime 1s
go test ./persistence/sqlitestore -run '^$' -bench 'ToolTurn/json|Load' -benchtime 1s
# SQLite's log costs more until it is full once: both sizes of history get as many turns.
go test ./persistence/sqlitestore -run '^$' -bench 'ToolTurn/sqlite|HandWritten' -benchtime 600x
echo
echo "manage against the cheapest managers, interleaved:"
PERF="$perf" scripts/bench-manage.sh
