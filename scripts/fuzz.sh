#!/usr/bin/env bash
# Runs every fuzz target of the module for a budget: scripts/fuzz.sh 3s
set -euo pipefail
cd "$(dirname "$0")/.."
budget=${1:-3s}
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -rn1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u | while read -r name; do
		echo "fuzz $dir $name $budget"
		out=$(go test "$dir" -run '^$' -fuzz "^$name\$" -fuzztime "$budget" 2>&1 </dev/null) || {
			# The fuzzing engine may report its own deadline as a failure.
			if [ "$(grep -c -e '--- FAIL' -e 'panic:' -e 'Failing input' <<<"$out")" -gt 1 ] || ! grep -q 'context deadline exceeded' <<<"$out"; then
				echo "$out" >&2
				exit 1
			fi
		}
	done
done
