#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows libnri at work: installs what is missing, builds, runs two plugins on a simulated node, and
# prints which of them set what of a container. Needs root (or sudo) only when packages are missing.
#
#   tools/demo.sh                 nrictl with nri-device-injector and nri-cpu-pinner
#   tools/demo.sh --containerd    nri-logger under a real containerd in a Debian root, as root
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${NRI_BUILD_ROOT:-$root/build}
export NRI_CACHE_DIR=${NRI_CACHE_DIR:-$out/cache}

way=nrictl
case ${1:-} in
--containerd) way=containerd ;;
'') ;;
*)
    sed -n '3,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    [ "$1" = --help ] && exit 0
    exit 2
    ;;
esac
if [ $# -gt 1 ]; then
    echo 'demo: one option at a time; see tools/demo.sh --help' >&2
    exit 2
fi

build() { # TARGET...
    if [ ! -e "$out/gcc/build.ninja" ]; then
        echo 'demo: configuring'
        CC=gcc meson setup "$out/gcc" >/dev/null
    fi
    echo 'demo: building'
    ninja -C "$out/gcc" "$@" >"$out/demo-build.log" 2>&1 || {
        cat "$out/demo-build.log" >&2
        exit 1
    }
}

if [ "$way" = containerd ]; then
    tools/setup.sh --containerd
    build examples/nri-logger examples/nri-template
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo --preserve-env=NRI_CACHE_DIR)
    fi
    "${as_root[@]}" tests/e2e/run.sh demo --plugin-dir "$out/gcc"
    exit
fi

tools/setup.sh --demo
build tools/nrictl/nrictl examples/nri-device-injector examples/nri-cpu-pinner

# A machine with 8 CPUs for nri-cpu-pinner, whatever runs this: what it reads below /sys.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for cpu in 0 1 2 3 4 5 6 7; do
    mkdir -p "$place/sys/devices/system/cpu/cpu$cpu/topology"
    echo "$cpu" >"$place/sys/devices/system/cpu/cpu$cpu/topology/core_cpus_list"
done
mkdir -p "$place/sys/devices/system/node/node0"
echo 0-7 >"$place/sys/devices/system/cpu/online"
echo 0 >"$place/sys/devices/system/node/online"
echo 0-7 >"$place/sys/devices/system/node/node0/cpulist"
cp tools/demo.yaml "$place/demo.yaml"

PATH=$out/gcc/tools/nrictl:$out/gcc/examples:$PATH
# All of what it prints says of each container what the table says of one: its end is enough here.
echo 'demo: nrictl sim tools/demo.yaml'
nrictl sim "$place/demo.yaml" >"$place/sim.txt" 2>"$place/plugins.log" || {
    cat "$place/plugins.log" "$place/sim.txt" >&2
    exit 1
}
sed -n '/^plugins$/,$p' "$place/sim.txt"
echo
echo 'demo: nrictl explain --container db tools/demo.yaml'
nrictl explain --container db "$place/demo.yaml"
