#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subproject.sh SOURCE: builds a small project that has libnri below subprojects/, and runs it.
set -euo pipefail
source=$1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r "$source/tests/consumer/subproject" "$dir/project"
cp "$source/tests/consumer/consumer.c" "$dir/project/"
mkdir "$dir/project/subprojects"
ln -s "$(realpath "$source")" "$dir/project/subprojects/libnri"

# A libnri that happens to be installed must not stand in for the subproject.
for library in both static; do
    build=$dir/$library
    meson setup "$build" "$dir/project" --force-fallback-for=nri --wrap-mode=nodownload \
        -Dwerror=true "-Dlibnri:default_library=$library" >"$dir/log" 2>&1 || {
        cat "$dir/log" >&2
        exit 1
    }
    meson test -C "$build" --print-errorlogs

    linked=$(readelf -d "$build/consumer" | grep -c 'NEEDED.*libnri' || true)
    if [ "$linked" != "$([ "$library" = both ] && echo 1 || echo 0)" ]; then
        echo "FAILED: with default_library=$library, the consumer needs $linked libnri.so" >&2
        exit 1
    fi

    # Only the library is built: no test, example or tool of libnri comes along.
    if extra=$(meson introspect --targets "$build" | tr ',' '\n' |
        grep -E '"name": "(test_|nri-)'); then
        echo "FAILED: the subproject also builds: $extra" >&2
        exit 1
    fi
done
