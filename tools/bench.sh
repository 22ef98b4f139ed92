#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/bench.sh [--json FILE]: builds libnri as it is released and prints what one
# CreateContainer, a large Synchronize and a million events cost a plugin.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

build=${NRI_BENCH_BUILD:-build/bench}
if [ ! -f "$build/build.ninja" ]; then
    echo "== configuring $build"
    meson setup "$build" -Doptimization=2 -Ddebug=false -Db_ndebug=true >/dev/null
fi
echo "== building"
ninja -C "$build" bench >/dev/null
python3 tests/bench/bench.py "$build" tests/data/captures/containerd-2.1.9/simple.r2p.bin "$@"
exec python3 tests/bench/chain.py "$build" tests/data/captures/containerd-2.1.9/simple.r2p.bin
