#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh SUITE|all|demo [--plugin-dir BUILD] [SCENARIO...]
#
# Play the scenarios on the containerd of a Debian SUITE (forky: 2.x, trixie: 1.7), on both side by side (all), or show a
# container that nri-logger adjusts (demo). BUILD is the build directory; its default is build/ at the top of the tree.
# Roots are kept in $NRI_CACHE_DIR (default BUILD/cache). The last line is "N passed, N failed".
#
# Exit: 0 all passed, 1 something failed, 77 with a reason when this machine cannot play them.

set -eu

here=$(dirname "$(realpath "$0")")
usage() {
    echo "usage: run.sh SUITE|all|demo [--plugin-dir BUILD] [SCENARIO...]" >&2
    exit 2
}

[ $# -ge 1 ] || usage
what=$1
shift
build=$here/../../build
if [ "${1-}" = --plugin-dir ]; then
    [ $# -ge 2 ] || usage
    build=$2
    shift 2
fi
if [ ! -d "$build" ]; then
    echo "run.sh: no build directory $build; name it with --plugin-dir" >&2
    exit 2
fi
build=$(realpath "$build")
cache=${NRI_CACHE_DIR:-$build/cache}

# Before anything is downloaded.
"$here/enter.sh" --check || exit $?

# play SUITE SCRIPT [ARGUMENT...]: in a view of the suite's root that has the scripts as /e2e, those
# that they share with other tests as /examples, and the build as /build. The
# libraries are found there as in the build directory, since meson's run paths are relative.
play() {
    suite=$1
    shift
    "$here/mkroot.sh" "$suite" "$cache/$suite" || exit $?
    exec "$here/enter.sh" -b "$here:/e2e" -b "$build:/build" -b "$here/../examples:/examples" "$cache/$suite" \
        env PYTHONPATH=/examples python3 "$@"
}

case $what in
demo)
    play forky /e2e/demo.py --examples /build/examples
    ;;
all)
    # Both at once: they share neither namespaces nor cgroups. Their reports are shown one after the other.
    reports=$(mktemp -d)
    trap 'rm -rf "$reports"' EXIT
    "$0" trixie --plugin-dir "$build" "$@" >"$reports/trixie" 2>&1 &
    pid=$!
    forky=0
    "$0" forky --plugin-dir "$build" "$@" >"$reports/forky" 2>&1 || forky=$?
    trixie=0
    wait "$pid" || trixie=$?
    # The sum of both ends it; their own sums are told apart from it by the name in front.
    sed 's/^[0-9]* passed, /forky: &/' "$reports/forky"
    sed 's/^[0-9]* passed, /trixie: &/' "$reports/trixie"
    sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$reports/forky" "$reports/trixie" |
        awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed }'
    for status in "$forky" "$trixie"; do
        [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit 1
    done
    [ "$forky" -eq 0 ] && [ "$trixie" -eq 0 ] || exit 77
    ;;
-*)
    usage
    ;;
*)
    # To be set beside; without it that part is left out, and said so.
    "$here/../interop/plugin.sh" "$build/tests/interop" || echo "run.sh: no plugin with the Go stub"
    play "$what" /e2e/driver.py --program /build/tests/e2e/e2e-plugin --examples /build/examples "$@"
    ;;
esac
