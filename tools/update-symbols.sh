#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites lib/libnri.map and lib/app/libnri-app.map from the NRI_API declarations in include/nri/.
#
#   tools/update-symbols.sh                rewrite the version scripts
#   tools/update-symbols.sh --list [NAME]  print the exported functions of a library, one a line
#   tools/update-symbols.sh --check        fail when a version script is out of date
#
# NAME is nri (the default) or nri-app, which has nri/app.h.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
node=LIBNRI_0.1

# Without the directives the preprocessor only removes comments. What follows NRI_API up to the
# first parenthesis then ends with the function's name, whatever its type.
list() { # NAME
    local header
    for header in "$root"/include/nri/*.h "$root"/include/nri/*.h.in; do
        if [ "$1" = nri-app ] && [ "${header##*/}" != app.h ]; then continue; fi
        if [ "$1" = nri ] && [ "${header##*/}" = app.h ]; then continue; fi
        sed '/^[[:space:]]*#/d' "$header" | "${CC:-cc}" -std=c11 -x c -E -P -
        echo ';'
    done | tr '\n' ' ' |
        { grep -o '\bNRI_API\b[^;{(]*(' || true; } |
        sed -E 's/[[:space:]]*\($//; s/^.*[^A-Za-z0-9_]//' | sort -u
}

render() { # NAME
    echo '/* SPDX-License-Identifier: Apache-2.0 */'
    echo '/* Written by tools/update-symbols.sh from the NRI_API declarations in include/nri/. */'
    echo "$node {"
    echo 'global:'
    list "$1" | sed 's/.*/    &;/'
    echo 'local:'
    echo '    *;'
    echo '};'
}

map() { # NAME
    case $1 in
    nri) echo "$root/lib/libnri.map" ;;
    nri-app) echo "$root/lib/app/libnri-app.map" ;;
    esac
}

case ${1:-} in
--list)
    list "${2:-nri}"
    ;;
--check)
    for name in nri nri-app; do
        if ! render "$name" | diff -u "$(map "$name")" -; then
            echo "$(map "$name") does not match the headers: run tools/update-symbols.sh" >&2
            exit 1
        fi
    done
    ;;
'')
    for name in nri nri-app; do
        text=$(render "$name")
        printf '%s\n' "$text" >"$(map "$name")"
    done
    ;;
*)
    sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
