#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh VERSION PLUGIN WORK [SCENARIO...]
#
# Build the Go NRI module's runtime side in VERSION (as in versions/ or go.mod) and hold it against PLUGIN, the test plugin
# e2e-plugin. WORK is a directory for the program and Go's build cache.
#
# Exit: 0 all passed, 1 something failed, 77 with a reason when there is no Go or its modules cannot be had.

set -eu

here=$(dirname "$(realpath "$0")")
if [ $# -lt 3 ]; then
    echo "usage: run.sh VERSION PLUGIN WORK [SCENARIO...]" >&2
    exit 2
fi
version=$1
plugin=$(realpath "$2")
work=$3
shift 3

cd "$here"
. ./versions.sh
tags=$(version_tags "$version")
modfile=$(version_modfile "$version")

if ! command -v go >/dev/null 2>&1; then
    echo "interop: there is no go program on this machine"
    exit 77
fi
mkdir -p "$work"
export GOCACHE="$work/gocache" GOTOOLCHAIN=auto GOFLAGS=-mod=readonly GOWORK=off
if ! reason=$(go mod download -modfile="$modfile" 2>&1); then
    echo "interop: the Go modules cannot be had: $reason" | tail -n 3
    exit 77
fi
# One build at a time: the versions share most of their packages through the cache.
exec 9>"$work/lock"
flock 9
go build -modfile="$modfile" -tags "$tags" -o "$work/interop-$version" .
flock -u 9
exec "$work/interop-$version" --plugin "$plugin" "$@"
