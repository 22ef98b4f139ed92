#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# globals.sh ARCHIVE: the library has no mutable global or static object: nothing lies in .data or
# .bss. (.data.rel.ro is constant once the program is loaded.)
set -euo pipefail
archive=$1

mutable() { # ARCHIVE_OR_OBJECT
    objdump -t "$1" | awk '
        /^[^ ]+:     file format/ { unit = $1 }
        # VALUE FLAGS SECTION SIZE NAME; flags hold blanks, so count from the end; O is an object.
        / O / && $(NF - 2) ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $(NF - 2) !~ /^\.data\.rel\.ro/ {
            print unit " " $NF " in " $(NF - 2)
        }'
}

# The check must be able to see one of each kind.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '%s\n' 'int counter;' 'static int next = 1;' 'const char *const names[] = {"a"};' \
    'int f(void) { static int calls; return counter + next++ + calls++ + names[0][0]; }' \
    >"$dir/bad.c"
# shellcheck disable=SC2086 # CC may hold several words
${CC:-cc} -fPIC -fdata-sections -c -o "$dir/bad.o" "$dir/bad.c"
if [ "$(mutable "$dir/bad.o" | wc -l)" -ne 3 ]; then
    echo 'FAILED: the check does not see the three mutable objects of its own example' >&2
    mutable "$dir/bad.o" >&2
    exit 1
fi

found=$(mutable "$archive")
if [ -n "$found" ]; then
    echo 'FAILED: mutable global state:' >&2
    echo "$found" >&2
    exit 1
fi
echo "$(objdump -t "$archive" | grep -c ' O ') objects, none mutable"
