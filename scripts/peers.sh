#!/bin/sh
# Installs model servers that we did not write into DIR, by npm. The versions are fixed.
# Nothing outside DIR is written.
set -eu
dir=${1:?usage: scripts/peers.sh DIR}
mkdir -p "$dir"
cd "$dir"
[ -f package.json ] || echo '{"private": true}' >package.json
npm install --no-audit --no-fund --no-save --loglevel=error --cache "$dir/.npm" \
	@copilotkit/aimock@1.43.0 \
	@dwmkerr/mock-llm@0.1.29
