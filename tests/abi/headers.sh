#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh SOURCE_INCLUDE BUILD_INCLUDE (case U08): every public header compiles alone, first and
# without a warning, in C and C++ of several standards, with each compiler at hand.
set -euo pipefail
source_include=$1
build_include=$2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
compiled=0

check() { # COMPILER STD LANGUAGE
    local compiler=$1 std=$2 language=$3 header name unit
    for header in "$source_include"/nri/*.h "$build_include"/nri/*.h; do
        name=$(basename "$header")
        unit=$dir/unit.$language
        # Twice, because a second inclusion must be harmless.
        printf '#include <nri/%s>\n#include <nri/%s>\n%s\n' "$name" "$name" \
            'int main(void) { return 0; }' >"$unit"
        if ! "$compiler" "-std=$std" -Wall -Wextra -pedantic -Wshadow -Werror -fsyntax-only \
            "-I$source_include" "-I$build_include" "$unit"; then
            echo "FAILED: $compiler -std=$std <nri/$name>" >&2
            failed=$((failed + 1))
        fi
        compiled=$((compiled + 1))
    done
}

for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for std in c99 gnu17; do
        check "$compiler" "$std" c
    done
done
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for std in c++11 c++20; do
        check "$compiler" "$std" cpp
    done
done

if [ "$compiled" -eq 0 ]; then
    echo 'SKIP: neither gcc nor clang found'
    exit 77
fi
echo "$compiled compilations, $failed failed"
[ "$failed" -eq 0 ]
