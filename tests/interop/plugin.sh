#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plugin.sh DIRECTORY [VERSION]
#
# Build the plugin of plugin/ with the Go NRI module's own stub as DIRECTORY/go-plugin, statically, so that it runs in any
# root. DIRECTORY also has Go's build cache. VERSION is one of versions/; without one it is go.mod's.
#
# Exit: 0 made, 77 with a reason when there is no Go or its modules cannot be had.

set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: plugin.sh DIRECTORY [VERSION]" >&2
    exit 2
fi
if ! command -v go >/dev/null 2>&1; then
    echo "plugin.sh: there is no go program on this machine"
    exit 77
fi
mkdir -p "$1"
work=$(realpath "$1")
cd "$(dirname "$(realpath "$0")")"
modfile=$PWD/${2:+versions/$2.mod}
[ $# -eq 2 ] || modfile=$PWD/go.mod
export GOCACHE="$work/gocache" GOTOOLCHAIN=auto GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0
if ! reason=$(go mod download -modfile="$modfile" 2>&1); then
    echo "plugin.sh: the Go modules cannot be had: $reason" | tail -n 3
    exit 77
fi
exec 9>"$work/lock"
flock 9
exec go build -modfile="$modfile" -tags nri_no_wasm -o "$work/go-plugin" ./plugin
