#!/bin/sh
# Installs by apt what the tests of targets and crashes drive: a real sshd, a real Docker
# engine, strace, file systems. Only what is missing is installed, so that a second run
# does nothing and prints nothing. No service is started: the tests start their own
# daemons and stop them. Needs root, and Debian or Ubuntu.
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
PATH=$PATH:/usr/sbin:/sbin

# program:package, the program being what the tests look for.
wanted='
ssh:openssh-client
sshd:openssh-server
docker:docker.io
dockerd:docker.io
containerd:containerd
runc:runc
busybox:busybox-static
ip:iproute2
strace:strace
sqlite3:sqlite3
mkfs.ext4:e2fsprogs
mkfs.xfs:xfsprogs
losetup:mount
mount:mount
ps:procps
make:make
tar:tar
'

missing() {
	for pair in $wanted; do
		command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
	done | sort -u
}

need=$(missing)
[ -n "$need" ] || exit 0

# Packages ask this file before they start a service. One that is there stays.
policy=/usr/sbin/policy-rc.d
log=$(mktemp)
made=
trap 'rm -f "$log" $made' EXIT
trap 'exit 1' HUP INT TERM
if [ ! -e "$policy" ]; then
	made=$policy
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

# shellcheck disable=SC2086 # the names are words
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $need; } >"$log" 2>&1; then
	cat "$log" >&2
	echo "install-targets: could not install" $need >&2
	exit 1
fi

still=$(missing)
[ -z "$still" ] || { echo "install-targets: installed, and yet a program is missing of" $still >&2; exit 1; }
