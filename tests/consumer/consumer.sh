#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# consumer.sh LINKING SOURCE BUILD PREFIX: installs the build into a DESTDIR of its own, and builds and runs
# plugins and container managers in C and C++ with plain gcc and g++ and what pkg-config says, nothing else. LINKING:
#   shared      pkg-config nri
#   archive     pkg-config nri-static: libnri.a, with the system's shared libraries below it
#   static      -static with pkg-config --static nri
set -euo pipefail
linking=$1
source=$2
build=$3
prefix=$4

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir/dest meson install -C "$build" --no-rebuild --quiet

# What is installed is what the source has: no header more, none less.
diff <(cd "$source/include/nri" && for header in *.h version.h; do echo "$header"; done | sort) \
    <(cd "$dir/dest$prefix/include/nri" && for header in *.h; do echo "$header"; done | sort) || {
    echo 'FAILED: the headers above are not installed, or installed and not in the source' >&2
    exit 1
}

pc=$(find "$dir/dest" -name nri.pc)
pc_dir=$(dirname "$pc")
ask() { # PKG_CONFIG_ARGUMENT...
    PKG_CONFIG_PATH=$pc_dir pkg-config "--define-variable=prefix=$dir/dest$prefix" "$@"
}

libdir=$(ask --variable=libdir nri)
case $linking in
shared)
    flags=$(ask --cflags --libs nri)
    export LD_LIBRARY_PATH=$libdir
    ;;
archive)
    flags=$(ask --cflags --libs nri-static)
    ;;
static)
    flags="-static $(ask --static --cflags --libs nri)"
    ;;
*)
    echo "unknown way of linking: $linking" >&2
    exit 2
    ;;
esac
echo "flags: $flags"

# The dynamic section must agree with the way of linking.
inspect() { # PROGRAM
    local needed
    needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    case $linking in
    shared) grep -qx 'libnri\.so\.0' <<<"$needed" ;;
    archive) grep -qx 'libc\.so\.[0-9]*' <<<"$needed" && ! grep -q libnri <<<"$needed" ;;
    static) [ -z "$needed" ] ;;
    esac
}

try() { # NAME COMPILER ARGUMENT...: builds and runs a program
    local name=$1 compiler=$2 program=$dir/$1
    shift 2
    "$compiler" -Wall -Wextra -Werror -o "$program" "$@"
    if ! inspect "$program"; then
        echo "FAILED: $name is not linked as asked for ($linking):" >&2
        readelf -d "$program" >&2
        exit 1
    fi
    "$program" "$dir/no-such.sock"
    echo "$name: $linking, $(strip -o "$program.stripped" "$program" &&
        stat -c %s "$program.stripped") bytes stripped"
}

cd "$source/tests/consumer"
# shellcheck disable=SC2086 # flags are words
{
    try plugin-c gcc consumer.c $flags
    try plugin-c++ g++ consumer.cpp $flags
    try runtime-c gcc -std=c99 -pedantic runtime.c $flags
    try runtime-c++ g++ -std=c++17 -pedantic -pthread runtime.cpp $flags
}
# A program with a loop of libuv names that itself; it must be the one that libnri links.
if ! ask --print-requires-private nri | grep -q '^libuv'; then
    echo 'runtime-libuv: not tried, libnri was not built with the libuv of the system'
    exit 0
fi
[ "$linking" = static ] || flags="$flags $(pkg-config --cflags --libs libuv)"
# shellcheck disable=SC2086 # flags are words
try runtime-libuv gcc -std=c99 -pedantic -D_GNU_SOURCE -DCONSUMER_UV runtime.c $flags
