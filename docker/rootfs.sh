#!/bin/sh
# Packs the root file system of a worker container into a tar file: the static binary, the
# idle init, certificates, /tmp and the allocations directory. `docker build` takes it by
# docker/Dockerfile, `docker import` as it is.
#
#	docker/rootfs.sh SIMPLEX OUT.tar [TREE]
#
# SIMPLEX is the binary of `make static`. What lies below the folder TREE is added.
set -eu
umask 022
# The toolchain that the Makefile takes, also where the user's own setting is `local`.
export GOTOOLCHAIN=go1.27.3+auto
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo 'usage: docker/rootfs.sh SIMPLEX OUT.tar [TREE]' >&2; exit 2; }
home=$(cd "$(dirname "$0")/.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM

bin=$stage/usr/local/bin
mkdir -p "$bin" "$stage/tmp" "$stage/root" "$stage/srv/simplex/allocations"
chmod 0755 "$stage"
chmod 1777 "$stage/tmp"
chmod 0700 "$stage/root" "$stage/srv/simplex" "$stage/srv/simplex/allocations"
install -m 0755 "$1" "$bin/simplex"
(cd "$home" && CGO_ENABLED=0 "${GO:-go}" build -trimpath -ldflags '-s -w' -o "$bin/simplex-idle" ./docker/idle)

# Without certificates no provider can be reached by https.
certificates=/etc/ssl/certs/ca-certificates.crt
if [ -f "$certificates" ]; then
	mkdir -p "$stage/etc/ssl/certs"
	install -m 0644 "$certificates" "$stage$certificates"
fi

if [ $# -eq 3 ]; then
	cp -a "$3/." "$stage/"
fi
tar --sort=name --numeric-owner --owner=0 --group=0 --mtime=@0 -C "$stage" -cf "$2" .
