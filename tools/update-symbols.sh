#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites lib/libnri.map from the NRI_API declarations in include/nri/.
#
#   tools/update-symbols.sh          rewrite the version script
#   tools/update-symbols.sh --list   print the exported functions, one a line
#   tools/update-symbols.sh --check  fail when the version script is out of date
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
map=$root/lib/libnri.map
node=LIBNRI_0.1

# Without the directives the preprocessor only removes comments. What follows NRI_API up to the
# first parenthesis then ends with the function's name, whatever its type.
list() {
    local header
    for header in "$root"/include/nri/*.h "$root"/include/nri/*.h.in; do
        sed '/^[[:space:]]*#/d' "$header" | "${CC:-cc}" -std=c11 -x c -E -P -
        echo ';'
    done | tr '\n' ' ' |
        { grep -o '\bNRI_API\b[^;{(]*(' || true; } |
        sed -E 's/[[:space:]]*\($//; s/^.*[^A-Za-z0-9_]//' | sort -u
}

render() {
    echo '/* SPDX-License-Identifier: Apache-2.0 */'
    echo '/* Written by tools/update-symbols.sh from the NRI_API declarations in include/nri/. */'
    echo "$node {"
    echo 'global:'
    list | sed 's/.*/    &;/'
    echo 'local:'
    echo '    *;'
    echo '};'
}

case ${1:-} in
--list)
    list
    ;;
--check)
    if ! render | diff -u "$map" -; then
        echo "$map does not match the headers: run tools/update-symbols.sh" >&2
        exit 1
    fi
    ;;
'')
    text=$(render)
    printf '%s\n' "$text" >"$map"
    ;;
*)
    sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
