#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libnri in every way that is tested, runs all suites, and ends with "N passed, N failed".
#
#   tools/test.sh [--no-install] [--quick] [--require-all] [--only STAGE[,STAGE]...]
#
#   --no-install   do not install missing packages (see tools/setup.sh)
#   --quick        one build and its fast suites
#   --require-all  a skipped test counts as failed
#   --only         some stages: gcc clang asan tsan valgrind format tidy shell e2e
#
# Builds and logs are below build/ (NRI_BUILD_ROOT), downloads in build/cache (NRI_CACHE_DIR).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

install=1
quick=0
require_all=0
only=
stages='shell format gcc e2e clang tidy asan tsan valgrind'
usage() {
    sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}
while [ $# -gt 0 ]; do
    case $1 in
    --no-install) install=0 ;;
    --quick) quick=1 ;;
    --require-all) require_all=1 ;;
    --only)
        only=${2:-}
        for stage in ${only//,/ }; do
            if [[ " $stages " != *" $stage "* ]]; then
                echo "test.sh: '$stage' is no stage; there are: $stages" >&2
                exit 2
            fi
        done
        if [ -z "$only" ]; then
            echo "test.sh: --only needs stages, of: $stages" >&2
            exit 2
        fi
        shift
        ;;
    --help)
        usage
        exit 0
        ;;
    *)
        echo "test.sh: '$1' is no option" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

out=${NRI_BUILD_ROOT:-$root/build}
mkdir -p "$out/logs"
out=$(cd "$out" && pwd)
export NRI_CACHE_DIR=${NRI_CACHE_DIR:-$out/cache}
jobs=$(nproc)

passed=0
failed=0
skipped=0
began=$SECONDS

say() {
    printf '[%4ds] %s\n' "$((SECONDS - began))" "$*"
}

wanted() { # STAGE
    [ -z "$only" ] || [[ ,$only, == *,$1,* ]]
}

# One result that no test program counts: a build, a checker.
verdict() { # STATUS NAME LOG
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAILED $2, see $3:"
        grep -E '(error|warning): |FAILED|ERROR|undefined reference' "$3" | head -20 ||
            tail -20 "$3"
    fi
}

run_logged() { # NAME COMMAND...
    local name=$1 log=$out/logs/$1.log status=0
    shift
    "$@" >"$log" 2>&1 || status=$?
    verdict "$status" "$name" "$log"
    return "$status"
}

# Stages may share a build: it is made once, and when it failed they are not run.
declare -A built=()
build() { # NAME MESON_OPTION...
    local name=$1
    shift
    if [ -n "${built[$name]:-}" ]; then
        return "${built[$name]}"
    fi
    built[$name]=1
    say "build $name"
    if [ -e "$out/$name/build.ninja" ]; then
        set -- --reconfigure "$@"
    fi
    run_logged "$name-configure" meson setup "$out/$name" "$@" || return 1
    run_logged "$name-build" ninja -C "$out/$name" -j "$jobs" -k 0 || return 1
    built[$name]=0
}

# Runs suites of a build and adds up what the programs inside say.
suites() { # BUILD LOGBASE MESON_TEST_ARGUMENT...
    local build=$1 name=$2 status=0 numbers p f s
    shift 2
    say "test $name"
    # A time-out is for what hangs: a busy machine must not look like it. A setup has its own.
    [[ " $* " == *' --setup '* ]] || set -- --timeout-multiplier 10 "$@"
    "${as_root[@]}" meson test -C "$out/$build" --no-rebuild --num-processes "$jobs" \
        --logbase "$name" "$@" >"$out/logs/$name.log" 2>&1 || status=$?
    # With --setup, meson adds the name of the setup to the name of the log.
    local json
    for json in "$out/$build/meson-logs/$name"*.json; do
        [ -e "$json" ] || continue
        numbers=$(python3 tools/count-tests.py "$json" 2>"$out/logs/$name.problems")
        sed 's/^/        /' "$out/logs/$name.problems"
        read -r p f s <<<"$numbers"
        say "$name: $p passed, $f failed, $s skipped"
        passed=$((passed + p))
        failed=$((failed + f))
        skipped=$((skipped + s))
        if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
            verdict "$status" "$name" "$out/logs/$name.log"
        elif [ "$f" -ne 0 ]; then
            echo "        see ${json%.json}.txt"
        fi
        return
    done
    verdict 1 "$name" "$out/logs/$name.log"
}

# A fresh start for the logs that are counted: an old one must never be taken for a new one.
rm -f "$out"/*/meson-logs/*.json

if [ "$install" -eq 1 ]; then
    if [ "$quick" -eq 1 ]; then tools/setup.sh --build; else tools/setup.sh; fi
fi

# A test of numbers wants a locale with a comma; few machines have one.
if [ ! -e "$NRI_CACHE_DIR/locale/de_DE.UTF-8" ] && command -v localedef >/dev/null; then
    mkdir -p "$NRI_CACHE_DIR/locale"
    localedef -i de_DE -f UTF-8 "$NRI_CACHE_DIR/locale/de_DE.UTF-8" 2>/dev/null ||
        say 'no locale de_DE could be made (Debian: locales)'
fi
export LOCPATH=$NRI_CACHE_DIR/locale

as_root=()
warn=(-Dwerror=true)
inside=(--suite unit --suite model --suite session --suite runtime --suite fault --suite io --suite app --suite metrics
    --suite fuzz --suite examples)

gcc_build() {
    CC=gcc build gcc "${warn[@]}"
}

clang_build() {
    CC=clang build clang "${warn[@]}"
}

gcc_stage() {
    gcc_build || return 0
    if [ "$quick" -eq 1 ]; then
        suites gcc gcc --no-suite e2e --no-suite oci --no-suite interop --no-suite subprojects --no-suite consumer
    else
        suites gcc gcc --no-suite e2e --no-suite oci
    fi
}

e2e_stage() {
    gcc_build || return 0
    # Containers need root; everything else is better off without.
    if [ "$(id -u)" -ne 0 ] && sudo -n true 2>/dev/null; then
        as_root=(sudo --preserve-env=NRI_CACHE_DIR)
    fi
    suites gcc e2e --suite e2e --suite oci
    as_root=()
}

clang_stage() {
    clang_build || return 0
    suites clang clang "${inside[@]}" --suite abi
}

asan_stage() {
    CC=gcc build asan "${warn[@]}" -Db_sanitize=address,undefined -Db_lundef=false \
        -Ddocs=disabled || return 0
    # T46 asks for a million mutations; every other build makes do with fewer.
    LSAN_OPTIONS=suppressions=$root/tools/lsan.supp:print_suppressions=0 NRI_TEST_MUTATIONS=1000000 \
        suites asan asan "${inside[@]}"
}

tsan_stage() {
    CC=gcc build tsan "${warn[@]}" -Db_sanitize=thread -Db_lundef=false -Ddocs=disabled || return 0
    suites tsan tsan --suite unit --suite session --suite runtime --suite io --suite app --suite metrics \
        --no-suite captures
    # Races show when threads meet: once is not enough.
    suites tsan threads-again --repeat 10 threads rpc_threads
}

valgrind_stage() {
    gcc_build || return 0
    suites gcc valgrind --setup valgrind --suite unit --suite model --suite session --suite runtime \
        --no-suite captures
}

sources() { # FIND_ARGUMENT...
    find include lib examples tools tests "$@" | sort
}

format_stage() {
    say 'format'
    sources -name '*.[ch]' -o -name '*.cpp' >"$out/logs/format.files"
    run_logged format xargs -a "$out/logs/format.files" clang-format --dry-run -Werror || true
}

shell_stage() {
    say 'shell scripts'
    sources -name '*.sh' >"$out/logs/shell.files"
    echo .ci/run >>"$out/logs/shell.files"
    run_logged shell xargs -a "$out/logs/shell.files" shellcheck --severity=warning || true
}

tidy_stage() {
    clang_build || return 0
    say 'clang-tidy'
    # What ships is checked, a file at a time: clang-tidy 14 mixes up va_lists of several files.
    # So it would with a file that is compiled twice, hence a command for each.
    sources -path tests -prune -o -name '*.c' -print >"$out/logs/tidy.files"
    mkdir -p "$out/tidy"
    python3 -c 'import json, sys
commands = json.load(open(sys.argv[1]))
json.dump(list({command["file"]: command for command in commands}.values()), open(sys.argv[2], "w"))
' "$out/clang/compile_commands.json" "$out/tidy/compile_commands.json"
    run_logged tidy xargs -a "$out/logs/tidy.files" -P "$jobs" -n 1 \
        clang-tidy --quiet -p "$out/tidy" || true
}

if [ "$quick" -eq 1 ] && [ -z "$only" ]; then
    only=gcc
fi
for stage in $stages; do
    if wanted "$stage"; then
        "${stage}_stage"
    fi
done

if [ "$require_all" -eq 1 ]; then
    failed=$((failed + skipped))
elif [ "$skipped" -ne 0 ]; then
    say "$skipped skipped"
fi
if [ "$((passed + failed))" -eq 0 ]; then
    say 'nothing was run'
    exit 2
fi
say "logs in $out/logs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
