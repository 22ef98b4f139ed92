#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# mkroot.sh SUITE DIR
#
# Build in DIR a Debian root of SUITE (forky, trixie, ...) that holds a containerd with NRI, runc, and what the
# scenario driver needs. A complete root is reused; an interrupted build leaves nothing under the name DIR, because
# the root is built under a temporary name and renamed as the last step.
#
# NRI_MIRROR names another mirror than the one this machine's apt uses.
# Exit: 0 DIR is ready, 77 with a reason when the tools, the rights or the mirror are missing, else the build failed.

set -eu

# Raise this when the contents below change: roots of another recipe are then built anew.
RECIPE=4

if [ $# -ne 2 ]; then
    echo "usage: mkroot.sh SUITE DIR" >&2
    exit 2
fi
suite=$1
dir=$2
stamp=etc/nri-e2e-root

is_complete() {
    [ -f "$dir/$stamp" ] && [ "$(cat "$dir/$stamp")" = "$suite recipe $RECIPE" ]
}

if is_complete; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "mkroot.sh: building a $suite root needs root rights"
    exit 77
fi
if ! command -v debootstrap >/dev/null 2>&1; then
    echo "mkroot.sh: building a $suite root needs debootstrap"
    exit 77
fi

mkdir -p "$(dirname "$dir")"
# Two suites or two build directories may ask for the same root at once: the second waits and finds it built.
exec 9>"$dir.lock"
flock 9
if is_complete; then
    exit 0
fi

mirror=${NRI_MIRROR-}
if [ -z "$mirror" ]; then
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
fi
if [ -z "$mirror" ]; then
    echo "mkroot.sh: apt knows no Debian mirror here; name one in NRI_MIRROR"
    exit 77
fi

if command -v wget >/dev/null 2>&1 && ! wget -q --spider "$mirror/dists/$suite/Release"; then
    echo "mkroot.sh: the mirror $mirror cannot be reached, or has no suite $suite"
    exit 77
fi

# Suites younger than this machine's debootstrap have no script of their own; sid's fits them.
script=/usr/share/debootstrap/scripts/$suite
[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid

rm -rf "$dir".building.*
work=$dir.building.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

echo "mkroot.sh: making a Debian $suite root with containerd in $dir: downloads packages and takes a few minutes, once"
debootstrap --variant=minbase "$suite" "$work" "$mirror" "$script" >"$work.log" 2>&1 || {
    tail -n 20 "$work.log"
    rm -f "$work.log"
    exit 1
}
rm -f "$work.log"

# No daemon may start during the installation, and a development suite's Release may be past its date.
printf '#!/bin/sh\nexit 101\n' >"$work/usr/sbin/policy-rc.d"
chmod 755 "$work/usr/sbin/policy-rc.d"
{
    echo 'Acquire::Check-Valid-Until "false";'
    echo 'APT::Install-Recommends "false";'
    echo 'APT::Sandbox::User "root";'
    echo 'DPkg::Use-Pty "false";'
    echo 'DPkg::Options { "--force-unsafe-io"; };'
} >"$work/etc/apt/apt.conf.d/90nri-e2e"

inside() {
    DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$work" "$@"
}

inside apt-get -q -q update
# The last six are what a libnri plugin, and nrictl, built on an older Debian are linked with.
inside apt-get -q -q -y install \
    containerd runc busybox-static iproute2 \
    python3-grpcio python3-protobuf protobuf-compiler \
    libuv1 libprotobuf-c1 libyajl2 libyaml-0-2 libmicrohttpd12t64 libedit2 >/dev/null

# Only one file of the CRI API's package is wanted, so its (many) Go dependencies are not installed.
mkdir "$work/cri"
inside sh -c 'cd /cri && apt-get -q -q download golang-github-kubernetes-cri-api-dev'
dpkg-deb --fsys-tarfile "$work"/cri/golang-github-kubernetes-cri-api-dev_*.deb |
    tar -x -O ./usr/share/gocode/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto |
    grep -v gogoproto >"$work/cri/cri_api.proto"
rm -f "$work"/cri/*.deb
inside protoc --proto_path=/cri --python_out=/cri cri_api.proto

inside apt-get clean
rm -rf "$work"/var/lib/apt/lists/*
mkdir -p "$work/e2e" "$work/opt/nri/plugins" "$work/etc/nri/conf.d"
echo "$suite recipe $RECIPE" >"$work/$stamp"

rm -rf "$dir"
mv "$work" "$dir"
echo "mkroot.sh: $dir is ready"
