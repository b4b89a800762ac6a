#!/usr/bin/env bash
# Counts the fsyncs of one `simplex chat --offline` run: scripts/count-saves.sh BINARY
set -euo pipefail
binary=$(realpath "${1:?usage: scripts/count-saves.sh BINARY}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for scenario in turns:1 turns:10 two-tools; do
	rm -rf data
	strace -f -qq -e trace=fsync,fdatasync,rename,renameat,renameat2 -o trace "$binary" chat "--offline=$scenario" --approve --prompt go >/dev/null 2>&1
	printf '%-10s fsyncs %s renames %s\n' "$scenario" "$(grep -cE 'f(data)?sync\(' trace)" "$(grep -cE 'rename(at2?)?\(' trace)"
done
