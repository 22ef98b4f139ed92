#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layout.sh SOURCE_INCLUDE BUILD_INCLUDE: every structure that the public headers define starts with
# its size, has no padding, and is a multiple of 8 bytes, so that it can grow at its end. The rows of
# nri-app's tables have their size in the options, and what nri-app fills in itself never grows.
set -euo pipefail
source_include=$1
build_include=$2
compiler=${CC:-cc}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

structs=$(sed -n -E 's/^(typedef )?struct (nri_[a-z0-9_]+) \{.*/\2/p' "$source_include"/nri/*.h |
    sort -u)
if [ -z "$structs" ]; then
    echo 'no structure definition found in the headers' >&2
    exit 1
fi

rows=' nri_app_field nri_app_flag nri_app_texts '
{
    echo '#include <nri/nri.h>'
    echo '#include <nri/app.h>'
    for name in $structs; do
        [[ $rows != *" $name "* ]] || continue
        echo "_Static_assert(sizeof(struct $name) % 8 == 0, \"$name: size\");"
        echo "_Static_assert(offsetof(struct $name, size) == 0, \"$name: size comes first\");"
        echo "_Static_assert(sizeof(((struct $name *)0)->size) == sizeof(size_t), \"$name\");"
    done
    # Without a function a translation unit is pedantically empty.
    echo 'int main(void) { return 0; }'
} >"$dir/layout.c"
# shellcheck disable=SC2086 # CC may hold several words
$compiler -std=c11 -Wpadded -Werror -fsyntax-only "-I$source_include" "-I$build_include" \
    "$dir/layout.c"

# A 32-bit ABI too: nobody's size_t and pointers may open a hole. Headers alone need no C library.
if command -v clang >/dev/null; then
    clang --target=armv7-linux-gnueabihf -ffreestanding -std=c11 -Wpadded -Werror -fsyntax-only \
        "-I$source_include" "-I$build_include" "$dir/layout.c"
fi

# The check itself must be able to see padding.
printf 'struct hole { char a; long b; };\nint main(void) { struct hole h = {0, 0}; return h.a; }\n' \
    >"$dir/hole.c"
# shellcheck disable=SC2086
if $compiler -std=c11 -Wpadded -Werror -fsyntax-only "$dir/hole.c" 2>/dev/null; then
    echo "$compiler -Wpadded does not see padding" >&2
    exit 1
fi
echo "$(echo "$structs" | wc -w) structures"
