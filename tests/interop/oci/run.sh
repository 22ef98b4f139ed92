#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh OCI-DIFF WORK
#
# Apply 10 000 random adjustments to random documents with libnri, go_compatible, and with the Go NRI module's own
# generator, and compare. WORK is a directory for files, the Go program and Go's build cache.
#
# Exit: 0 all agree, 1 something does not, 77 with a reason when there is no Go or its modules cannot be had.

set -eu

here=$(dirname "$(realpath "$0")")
diff=$(realpath "$1")
work=$2/oci
gocache=$2/gocache
modfile=$here/../versions/0.12.5-oci.mod

if ! command -v go >/dev/null 2>&1; then
    echo "oci: there is no go program on this machine"
    exit 77
fi
mkdir -p "$work" "$gocache"
export GOCACHE="$gocache" GOTOOLCHAIN=auto GOFLAGS=-mod=readonly GOWORK=off
if ! reason=$(cd "$here/.." && go mod download -modfile="$modfile" 2>&1); then
    echo "oci: the Go modules cannot be had: $reason" | tail -n 3
    exit 77
fi
(
    # One build at a time: see ../run.sh.
    exec 9>"$work/../lock"
    flock 9
    cd "$here/.."
    go build -modfile="$modfile" -tags nri_no_wasm -o "$work/generator" ./oci/generator
)

python3 "$here/cases.py" 10000 >"$work/cases"
"$diff" <"$work/cases" >"$work/results"
"$work/generator" <"$work/results"
# What libnri makes by itself is not what Go does: a comparison that does not see it sees nothing.
"$diff" own <"$work/cases" >"$work/own"
if "$work/generator" <"$work/own" >"$work/own.log"; then
    echo "libnri's own results pass for Go's"
    exit 1
fi
echo "libnri's own: $(tail -n 1 "$work/own.log")"
