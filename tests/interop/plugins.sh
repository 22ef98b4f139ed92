#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plugins.sh HOST PLUGIN WORK [SCENARIO...]
#
# Build the plugin of events/ with the Go stub in several versions, and have them on HOST, interop-host, beside PLUGIN, the
# test plugin e2e-plugin. WORK is a directory for the programs and Go's build cache.
#
# Exit: 0 all passed, 1 something failed, 77 with a reason when there is no Go or its modules cannot be had.

set -eu

here=$(dirname "$(realpath "$0")")
if [ $# -lt 3 ]; then
    echo "usage: plugins.sh HOST PLUGIN WORK [SCENARIO...]" >&2
    exit 2
fi
for version in 0.6.1 0.8.0 0.10.0 0.12.5; do
    "$here/plugin.sh" "$3" "$version" events
done
exec python3 "$here/plugins.py" "$@"
