#!/usr/bin/env bash
# Shows one whole agent run with the built-in scripted model: no key, no network.
set -euo pipefail
binary=$(realpath "${1:?usage: scripts/demo.sh BINARY}")
dir=$(mktemp -d -t simplex-demo.XXXXXX)
cd "$dir"
echo "\$ echo y | simplex chat --offline --prompt 'What machine is this?'"
echo y | "$binary" chat --offline --prompt 'What machine is this?'
echo
echo "The session is in $dir/data/session/state/state.json:"
ls -l "$dir/data/session/state/state.json"
