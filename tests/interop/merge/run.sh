#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh MERGE-DIFF WORK FAULT-COMMAND...
#
# Merge 10 000 random sequences of plugins' replies with libnri, go_compatible, and with the Go NRI module's own runtime
# side, and compare what comes of each: the response, the owners, the error text, what each plugin saw. WORK is a
# directory for files, the Go program and Go's build cache. FAULT-COMMAND builds MERGE-DIFF from a faulty file of lib/runtime in
# the place of the word FAULTY (see faults.py). Each planted fault must be seen.
#
# What may differ is this, and nothing else:
#   map order   Go walks maps in an order that changes from run to run: which of two conflicts in one map is found first,
#               and what of a map was claimed before a conflict. What differs is run by Go 500 times, and libnri's
#               outcome must be among Go's.
#   also sorted before the comparison: maps, the namespaces a plugin sees, the removals of mounts in one reply.
#   nil entry   Go's response to UpdateContainer has a nil entry for a requested container that no plugin touched.
#
# Exit: 0 all agree and every fault is seen, 1 something does not, 77 with a reason when there is no Go or its modules cannot be
# had.

set -eu

here=$(dirname "$(realpath "$0")")
diff=$(realpath "$1")
work=$2/merge
gocache=$2/gocache
shift 2
modfile=$here/../versions/0.12.5.mod

if ! command -v go >/dev/null 2>&1; then
    echo "merge: there is no go program on this machine"
    exit 77
fi
mkdir -p "$work" "$gocache"
export GOCACHE="$gocache" GOTOOLCHAIN=auto GOFLAGS=-mod=readonly GOWORK=off
if ! reason=$(cd "$here/.." && go mod download -modfile="$modfile" 2>&1); then
    echo "merge: the Go modules cannot be had: $reason" | tail -n 3
    exit 77
fi
(
    # One build at a time: see ../run.sh.
    exec 9>"$work/../lock"
    flock 9
    cd "$here/.."
    go build -modfile="$modfile" -tags nri_no_wasm -o "$work/adaptation" ./merge/adaptation
)

"$diff" generate "$work/scenarios" 10000
"$work/adaptation" "$work/scenarios" "$work/results" 2>"$work/go.log"
code=0
"$diff" compare "$work/scenarios" "$work/results" >"$work/unlike" || code=$?
if [ "$code" -gt 1 ]; then
    exit 1
fi
unlike=$(wc -l <"$work/unlike")
echo "$unlike of 10000 differ from one run of Go"
if [ "$unlike" -gt 500 ]; then
    "$diff" explain "$work/scenarios" "$work/results" | head -n 60
    exit 1
fi
if [ "$unlike" -gt 0 ]; then
    # shellcheck disable=SC2046 # numbers, one a word
    "$work/adaptation" "$work/scenarios" "$work/again" 500 $(cat "$work/unlike") 2>>"$work/go.log"
    if ! "$diff" explain "$work/scenarios" "$work/again"; then
        echo "these differ from all of Go's outcomes"
        exit 1
    fi
    echo "all $unlike are among what Go comes to, by map order"
fi
exec python3 "$here/faults.py" "$here/../../../lib/runtime" "$work/faulty" "$work/scenarios" "$work/results" \
    "$work/unlike" -- "$@"
