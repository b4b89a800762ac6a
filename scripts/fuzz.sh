#!/usr/bin/env bash
# Runs every fuzz target of the module for a budget each: scripts/fuzz.sh 3s
set -euo pipefail
cd "$(dirname "$0")/.."
budget=${1:-3s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=$(go env GOCACHE)/fuzz
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -rn1 dirname | sort -u > "$work/packages"
count=0
while read -r dir; do
	# `go test -fuzz` would compile the whole standard library once more, to count what it
	# covers of that as well. The module's own packages are enough to guide a fuzzer, and all
	# others come out of the cache.
	go test -c -vet=off -gcflags='simplex/...=-d=libfuzzer' -o "$work/fuzz.test" "$dir"
	while read -r name; do
		out=$(cd "$dir" && "$work/fuzz.test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$budget" \
			-test.fuzzminimizetime 5x -test.fuzzcachedir "$cache/simplex/$dir" 2>&1 </dev/null) || {
			# At the end of its budget the engine may report its own deadline as a failure.
			if grep -qE 'Failing input|panic:|_test\.go:[0-9]+:' <<<"$out" || ! grep -q 'context deadline exceeded' <<<"$out"; then
				printf 'fuzz %s %s\n%s\n' "$dir" "$name" "$out" >&2
				exit 1
			fi
		}
		# Without the counters the engine would only guess, and say so.
		if grep -q 'without coverage' <<<"$out"; then
			printf 'fuzz %s %s\n%s\n' "$dir" "$name" "$out" >&2
			exit 1
		fi
		count=$((count + 1))
	done < <(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u)
done < "$work/packages"
echo "$count fuzz targets ran for $budget each"
