#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plugin.sh DIRECTORY [VERSION [PACKAGE]]
#
# Build the plugin of plugin/ with the Go NRI module's own stub as DIRECTORY/go-plugin, statically, so that it runs in any
# root. DIRECTORY also has Go's build cache. VERSION is one of versions/; without one it is go.mod's. With PACKAGE it is the
# plugin of that directory, as DIRECTORY/go-PACKAGE-VERSION.
#
# Exit: 0 made, 77 with a reason when there is no Go or its modules cannot be had.

set -eu

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
    echo "usage: plugin.sh DIRECTORY [VERSION [PACKAGE]]" >&2
    exit 2
fi
if ! command -v go >/dev/null 2>&1; then
    echo "plugin.sh: there is no go program on this machine"
    exit 77
fi
mkdir -p "$1"
work=$(realpath "$1")
cd "$(dirname "$(realpath "$0")")"
. ./versions.sh
modfile=$(version_modfile "${2:-}")
tags=$(version_tags "${2:-}")
package=${3:-plugin}
program=go-$package${3:+-$2}
export GOCACHE="$work/gocache" GOTOOLCHAIN=auto GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0
if ! reason=$(go mod download -modfile="$modfile" 2>&1); then
    echo "plugin.sh: the Go modules cannot be had: $reason" | tail -n 3
    exit 77
fi
exec 9>"$work/lock"
flock 9
exec go build -modfile="$modfile" -tags "$tags" -o "$work/$program" "./$package"
