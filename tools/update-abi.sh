#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes tests/abi/libnri.abi, the baseline of the ABI test, from a shared library that gcc built
# with debugging information and without sanitizers. To be run whenever the interface changes on
# purpose.
#
#   tools/update-abi.sh LIBRARY            rewrite the baseline
#   tools/update-abi.sh --print LIBRARY    print the description of a library and write nothing
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
baseline=$root/tests/abi/libnri.abi

# The types of the public headers alone, and nothing of where the library was built.
describe() { # LIBRARY
    abidw --headers-dir "$root/include/nri" --drop-private-types --exported-interfaces-only \
        --no-show-locs --no-corpus-path --no-comp-dir-path --no-architecture --no-elf-needed \
        --no-parameter-names "$1" |
        sed -E "s|path='[^']*/lib/|path='lib/|"
}

case $# in
1)
    describe "$1" >"$baseline.new"
    if grep -nF "$root" "$baseline.new"; then
        echo 'update-abi: the lines above name a directory of this machine' >&2
        exit 1
    fi
    mv "$baseline.new" "$baseline"
    echo "update-abi: $(grep -c '<elf-symbol ' "$baseline") symbols in $baseline"
    ;;
2)
    [ "$1" = --print ] || exit 2
    describe "$2"
    ;;
*)
    sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
