#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY UPDATE_SYMBOLS NAME: the headers, the version script and the dynamic symbols of the
# library must name the same functions.
set -euo pipefail
export LC_ALL=C
library=$1
update_symbols=$2
name=$3

"$update_symbols" --check

# Sanitizers add symbols of their own, which the version script keeps inside.
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u)
declared=$("$update_symbols" --list "$name")
if [ -z "$declared" ]; then
    echo 'no NRI_API declaration found' >&2
    exit 1
fi
if ! diff <(echo "$declared") <(echo "$exported"); then
    echo "< declared with NRI_API, > exported by $library" >&2
    exit 1
fi

# Every symbol carries the version node.
if nm -D --defined-only "$library" | awk '$2 != "A"' | grep -v '@@LIBNRI_'; then
    echo 'the symbols above have no version' >&2
    exit 1
fi
echo "$(echo "$declared" | wc -l) symbols"
