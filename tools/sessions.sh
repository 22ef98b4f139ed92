#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `nrictl sim --shell` and `nrictl top` in a terminal, tmux's, types what a person would, and
# writes what then stands there: sim-shell.txt and top.txt, which doc/sessions has.
#
#   tools/sessions.sh [--programs DIRECTORY] [--out DIRECTORY]
#
# --programs has nrictl/nrictl and examples/ as a build has them below tools/ and itself (the gcc
# build below build/, or $NRI_BUILD_ROOT); --out is where the files go (doc/sessions).
set -euo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NRI_BUILD_ROOT:-$root/build}/gcc
out=$root/doc/sessions
while [ $# -gt 0 ]; do
    case $1 in
    --programs) build=${2:?--programs needs a directory} ;;
    --out) out=${2:?--out needs a directory} ;;
    *)
        sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        [ "$1" = --help ] && exit 0
        exit 2
        ;;
    esac
    shift 2
done
build=$(cd "$build" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
for program in "$build/tools/nrictl/nrictl" "$build/examples/nri-logger" "$build/examples/nri-template"; do
    [ -x "$program" ] || { echo "sessions: $program is not there; build it, or see --help" >&2; exit 3; }
done
command -v tmux >/dev/null || { echo 'sessions: no tmux' >&2; exit 3; }

place=$(mktemp -d)
started=()
end() {
    tmux -S "$place/tmux" kill-server 2>/dev/null || true
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$place"
}
trap end EXIT
cd "$place"
export PATH="$build/tools/nrictl:$build/examples:$PATH" XDG_STATE_HOME="$place/state"

terminal() { tmux -S "$place/tmux" -f /dev/null "$@"; }

# What stands in a window, without the blank lines at its end.
seen() { # WINDOW
    terminal capture-pane -p -S - -t "$1" | sed -e 's/[[:space:]]*$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

# A terminal tells of no change: it is looked at until there is a line that fits.
await() { # WINDOW PATTERN
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        if seen "$1" | grep -qE -- "$2"; then return; fi
        sleep 0.1
    done
    echo "sessions: '$2' does not come; there is:" >&2
    seen "$1" >&2
    exit 1
}

type_in() { # WINDOW KEY...
    local window=$1
    shift
    terminal send-keys -t "$window" "$@"
}

# A command of the shell, until it is done and the next one may be typed.
command_in() { # TEXT ANSWER
    type_in shell -l "$1"
    type_in shell Enter
    await shell "$2"
    prompt
}
prompt() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        if [ "$(seen shell | tail -n 1)" = 'nrictl>' ]; then return; fi
        sleep 0.1
    done
    echo 'sessions: the prompt does not come back; there is:' >&2
    seen shell >&2
    exit 1
}

frame() { # TITLE
    printf '# %s\n' "$1"
    seen table
    echo
}

window() { # NAME COMMAND: in a bash without anybody's settings
    local shell=(env "PS1=\$ " HISTFILE= TERM=screen bash --norc --noprofile)
    if terminal has-session 2>/dev/null; then
        terminal new-window -d -n "$1" "${shell[@]}"
    else
        terminal new-session -d -x 130 -y 50 -n "$1" "${shell[@]}"
    fi
    await "$1" '^\$'
    type_in "$1" -l "$2"
    type_in "$1" Enter
}

# ---- a runtime, two plugins, and a recorder between them ----

window shell 'nrictl sim --shell --socket runtime.sock'
await shell '^nrictl>'
nrictl record --listen nri.sock --connect runtime.sock --output-file session.rec >record.log 2>&1 &
started+=($!)
for ((tries = 0; tries < 600; tries++)); do
    if [ -S nri.sock ]; then break; fi
    sleep 0.1
done
nri-logger --socket nri.sock --idx 10 --name logger >logger.log 2>&1 &
started+=($!)
await shell '^\+ plugin 10-logger'
nri-template --socket nri.sock --idx 20 --name template >template.log 2>&1 &
started+=($!)
await shell '^\+ plugin 20-template'
prompt

# ---- the table while things happen ----

window table 'nrictl top --recording session.rec --interval 500ms'
await table '20-template +\(all\) +2 .* 0$'
{
    frame 'nrictl top --recording session.rec, before anything happens'
    command_in 'run web label.app=shop' '^run web: done'
    await table '20-template +\(all\) +3 .* 0$'
    frame 'a pod sandbox runs'
    type_in shell -l 'cre'
    type_in shell Tab
    await shell '^nrictl> create$'
    command_in 'web server memory=64M arg=httpd' '^create web server: done'
    command_in 'start server' '^start server: done'
    command_in 'create web side' '^create web side: done'
    await table '20-template +\(all\) +11 .* 0$'
    frame 'two containers were created, and one started'
} >"$out/top.txt"
type_in shell -l 'st'
type_in shell Tab
await shell '^start  stop$'
command_in 'art side' '^start side: done'
command_in 'update server cpu-shares=512' '^update server: done'
command_in 'start server' 'server is running, not created'
command_in 'exit server 3' '^exit server 3: done'
command_in 'containers' '^side '
command_in 'remove web' '^remove web: done'
type_in shell Up
await shell '^nrictl> remove web$'
type_in shell Enter
await shell 'there is no container web'
prompt
type_in shell C-d
await shell '^\$ *$'
seen shell | sed -e '$d' >"$out/sim-shell.txt"
type_in table q
await table '^\$ *$'
