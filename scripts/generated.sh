#!/usr/bin/env bash
# Fails when a generated file is not what `go generate` makes of its source.
set -euo pipefail
cd "$(dirname "$0")/.."
before=$(git ls-files -co --exclude-standard | xargs -r sha256sum 2>/dev/null | sha256sum)
go generate ./...
after=$(git ls-files -co --exclude-standard | xargs -r sha256sum 2>/dev/null | sha256sum)
[ "$before" = "$after" ] || { echo 'go generate changed files: commit them' >&2; git status --short >&2; exit 1; }
