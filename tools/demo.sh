#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows libnri at work: installs what is missing, builds, starts a real containerd in a Debian root,
# lets nri-logger adjust a container, and prints that container's environment. Needs root (or sudo).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${NRI_BUILD_ROOT:-$root/build}
export NRI_CACHE_DIR=${NRI_CACHE_DIR:-$out/cache}

if [ $# -ne 0 ]; then
    sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"
    [ "$1" = --help ] && exit 0
    exit 2
fi

tools/setup.sh --demo
if [ ! -e "$out/gcc/build.ninja" ]; then
    echo 'demo: configuring'
    CC=gcc meson setup "$out/gcc" >/dev/null
fi
echo 'demo: building libnri and its examples'
ninja -C "$out/gcc" examples/nri-logger examples/nri-template >"$out/demo-build.log" 2>&1 || {
    cat "$out/demo-build.log" >&2
    exit 1
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo --preserve-env=NRI_CACHE_DIR)
fi
"${as_root[@]}" tests/e2e/run.sh demo --plugin-dir "$out/gcc"
