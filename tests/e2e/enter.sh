#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# enter.sh [-b SOURCE:TARGET]... ROOT COMMAND [ARGUMENT...]
# enter.sh --check
#
# Run COMMAND in the Debian root ROOT, as process 1 of fresh mount, pid, net, ipc and uts namespaces. ROOT itself is not
# changed: COMMAND sees a copy-on-write view of it, so several runs share one root at the same time. -b shows a
# directory or file of this machine inside. When COMMAND ends, the kernel ends every process it left and drops every
# mount; the cgroups under the run's own parent ($NRI_E2E_CGROUP inside) are removed here.
#
# --check only tells whether this machine allows all that.
#
# Exit: COMMAND's status, or 77 with a reason when this machine does not allow such namespaces.

set -eu

skip() {
    echo "enter.sh: $*"
    exit 77
}

# Second half, already inside the namespaces but still in this machine's file system.
inside() {
    cgroup=$1
    root=$2
    shift 2
    mount --make-rprivate /
    cd "$root"
    # The copy-on-write layer lives in memory, hung up on a directory that the root itself does not use.
    mount -t tmpfs -o mode=755 tmpfs mnt || skip "no tmpfs mount in a mount namespace"
    mkdir mnt/changes mnt/work mnt/view
    # Relative names, because overlay options cannot carry a ':' or ',' of the path to ROOT.
    mount -t overlay -o lowerdir=.,upperdir=mnt/changes,workdir=mnt/work overlay mnt/view ||
        skip "no overlay mount in a mount namespace"
    view=$PWD/mnt/view
    mount -t proc proc "$view/proc"
    mount -t sysfs sysfs "$view/sys"
    mount --rbind /sys/fs/cgroup "$view/sys/fs/cgroup"
    mount --rbind /dev "$view/dev"
    mount -t tmpfs -o mode=755 tmpfs "$view/run"
    mount -t tmpfs -o mode=1777 tmpfs "$view/tmp"
    while [ "$1" = -b ]; do
        source=${2%:*}
        target=$view${2##*:}
        if [ -d "$source" ]; then
            mkdir -p "$target"
        else
            mkdir -p "$(dirname "$target")"
            : >"$target"
        fi
        mount --bind "$source" "$target"
        shift 2
    done
    hostname nri-e2e
    # A plain chroot would not do: the runtime's exec enters the mount namespace of a container from here, and without
    # pivot_root that namespace's real root is still this machine's.
    cd "$view"
    mkdir -p .outside
    pivot_root . .outside
    cd /
    umount -l /.outside
    ip link set lo up
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        NRI_E2E_CGROUP="$cgroup" "$@"
}

if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
fi

[ "$(id -u)" -eq 0 ] || skip "real containers need root rights"
# Root of a user namespace may make the namespaces below, but not the mounts of a container.
[ "$(tr -s ' ' </proc/self/uid_map)" = " 0 0 4294967295" ] || skip "real containers need root outside of a user namespace"
command -v unshare >/dev/null 2>&1 || skip "no unshare program"
command -v setpriv >/dev/null 2>&1 || skip "no setpriv program"
command -v pivot_root >/dev/null 2>&1 || skip "no pivot_root program"
unshare --mount --pid --net --ipc --uts --fork mount --make-rprivate / 2>/dev/null ||
    skip "this machine does not let root make mount, pid, net, ipc and uts namespaces"
[ -n "$(ls -A /sys/fs/cgroup 2>/dev/null)" ] || skip "no cgroup file system"
if [ "${1-}" = --check ]; then
    exit 0
fi

# The -b pairs must end up behind ROOT on the inner command line; POSIX sh has no arrays to hold them meanwhile.
count=0
while [ "${1-}" = -b ]; do
    count=$((count + 1))
    eval "bind_$count=\$2"
    shift 2
done
if [ $# -lt 2 ]; then
    echo "usage: enter.sh [-b SOURCE:TARGET]... ROOT COMMAND [ARGUMENT...]" >&2
    exit 2
fi
root=$(realpath "$1")
shift
while [ "$count" -gt 0 ]; do
    eval "set -- -b \"\$bind_$count\" \"\$@\""
    count=$((count - 1))
done

cgroup=nri-e2e-$$

remove_cgroups() {
    for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
        if [ -d "$hierarchy/$cgroup" ]; then
            find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || :
        fi
    done
}
# Process 1 of the pid namespace takes all others with it, and unshare ends when the last of them is gone.
end_namespaces() {
    kill -KILL "$(cat "/proc/$unshare/task/$unshare/children")" 2>/dev/null || :
    wait "$unshare" || :
    exit "$1"
}

# unshare itself ignores SIGTERM, and a shell runs its traps only between commands or in wait. The two death signals are for
# the case that this shell is killed.
setpriv --pdeathsig KILL \
    unshare --mount --pid --net --ipc --uts --fork --kill-child --propagation private \
    "$0" --inside "$cgroup" "$root" "$@" &
unshare=$!
trap remove_cgroups EXIT
trap 'end_namespaces 143' TERM
trap 'end_namespaces 130' INT
status=0
wait "$unshare" || status=$?
exit "$status"
