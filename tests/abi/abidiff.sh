#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# abidiff.sh LIBRARY BASELINE UPDATE_ABI: a program that was linked to the library of the baseline
# runs with this one. New functions are no change; anything else that abidiff finds is one, and
# either the library has to change, or the baseline, by UPDATE_ABI.
#
# Both sides are descriptions, and not the library itself: abidiff would look into the structures
# that the public headers only name.
set -euo pipefail
library=$1
baseline=$2
update_abi=$3

if ! command -v abidiff >/dev/null || ! command -v abidw >/dev/null; then
    echo 'SKIP: no abidiff here (package abigail-tools)'
    exit 77
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$update_abi" --print "$library" >"$dir/now.abi"

# The comparison compares something.
symbols=$(grep -c '<elf-symbol ' "$baseline")
if [ "$symbols" -lt 100 ]; then
    echo "$baseline has $symbols symbols only" >&2
    exit 1
fi

status=0
abidiff --no-show-locs --no-added-syms --no-architecture "$baseline" "$dir/now.abi" || status=$?
if [ "$status" -ne 0 ]; then
    echo "abidiff: status $status: the interface is another than that of $baseline" >&2
    exit 1
fi
echo "$symbols symbols as they were"
