#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# app.sh SOURCE BUILD PREFIX: installs the build into a DESTDIR of its own, builds a plugin of nri-app as C
# and as C++ with plain gcc and g++ and what "pkg-config nri-app" says, nothing else, and runs it.
set -euo pipefail
source=$1
build=$2
prefix=$3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir/dest meson install -C "$build" --no-rebuild --quiet

fail() { # TEXT
    echo "FAILED: $1" >&2
    exit 1
}

pc=$(find "$dir/dest" -name nri-app.pc)
pc_dir=$(dirname "$pc")
ask() { # PKG_CONFIG_ARGUMENT...
    PKG_CONFIG_PATH=$pc_dir pkg-config "--define-variable=prefix=$dir/dest$prefix" "$@" nri-app
}
libdir=$(ask --variable=libdir)
flags=$(ask --cflags --libs)
echo "flags: $flags"
[ "$(ask --modversion)" = "$(PKG_CONFIG_PATH=$pc_dir pkg-config --modversion nri)" ] ||
    fail 'nri-app and nri are of two versions'
# What the library itself needs is named for static linking, and must be there.
ask --static --libs | grep -q microhttpd || fail 'nri-app.pc does not name libmicrohttpd'

needed() { # FILE
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}
# libnri links none of what nri-app needs.
if needed "$libdir/libnri.so" | grep -E 'microhttpd|yaml'; then
    fail 'libnri.so needs the above'
fi

export LD_LIBRARY_PATH=$libdir
ended() { # STATUS COMMAND...: its output, of both kinds
    local status=0 wanted=$1 out
    shift
    out=$("$@" 2>&1) || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status instead of $wanted: $*: $out"
    echo "$out"
}
version=$(ask --modversion)
for language in c c++; do
    program=$dir/program-$language
    compiler=gcc
    [ "$language" = c ] || compiler=g++
    # shellcheck disable=SC2086 # flags are words
    "$compiler" -Wall -Wextra -Werror -x "$language" -o "$program" "$source/tests/consumer/app.c" \
        -x none $flags
    for library in libnri-app.so.0 libnri.so.0; do
        needed "$program" | grep -qx "$library" || fail "$language: $library is not linked"
    done
    if needed "$program" | grep -E 'microhttpd|yaml|libuv'; then
        fail "$language: the program links the above itself"
    fi
    [ "$(ended 0 "$program" --version)" = "program-$language $version" ] || fail "$language: --version"
    ended 0 "$program" --print-config | grep -qx 'greeting: "hello"' || fail "$language: --print-config"
    ended 2 "$program" --no-such-option >/dev/null
    printf 'greeting: moin\n' >"$dir/config.yaml"
    out=$(ended 1 "$program" --config "$dir/config.yaml" --no-reconnect --socket "$dir/no-such.sock")
    grep -qx '10-consumer: moin' <<<"$out" || fail "$language: not started: $out"
    grep -q "$dir/no-such.sock" <<<"$out" || fail "$language: no word of the socket: $out"
    echo "$language: $(strip -o "$program.stripped" "$program" && stat -c %s "$program.stripped") bytes stripped"
done
