#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing libnri needs and this machine lacks, by apt-get (as root, or
# with sudo). Says what it does; does nothing when all is there.
#
#   tools/setup.sh           everything tools/test.sh needs
#   tools/setup.sh --build   what building the library and running its unit tests needs
#   tools/setup.sh --demo    what tools/demo.sh needs
#   tools/setup.sh --containerd  what tools/demo.sh --containerd needs
#   tools/setup.sh --list    print the packages and do nothing
set -euo pipefail

build_packages=(
    gcc g++ make patch meson ninja-build pkg-config python3
    libprotobuf-c-dev protobuf-c-compiler libuv1-dev libyajl-dev uthash-dev libcmocka-dev libyaml-dev
    libmicrohttpd-dev libedit-dev
)
# nrictl and the examples that are daemons; no unit tests.
demo_packages=(
    gcc meson ninja-build pkg-config python3
    libprotobuf-c-dev protobuf-c-compiler libuv1-dev libyajl-dev uthash-dev libyaml-dev libmicrohttpd-dev
)
# Debian roots.
root_packages=(debootstrap ca-certificates util-linux iproute2)
test_packages=(
    # the second compiler and the checkers
    clang clang-format clang-tidy valgrind shellcheck doxygen abigail-tools locales
    # source tarballs for the subprojects, and Debian roots for the end-to-end tests
    dpkg-dev "${root_packages[@]}"
    # what runs adjusted bundles
    runc crun
    # a terminal that can be looked at
    tmux
    # a reader of OpenMetrics that is not ours
    python3-prometheus-client
    # a judge of the published JSON Schema that is not ours
    python3-jsonschema
)
# The interoperability tests need Go; from 1.21 on Go fetches the release it is asked for by itself.
go_minor=21

with_go=0
case ${1:-} in
--build) packages=("${build_packages[@]}") ;;
--demo) packages=("${demo_packages[@]}") ;;
--containerd) packages=("${build_packages[@]}" "${root_packages[@]}") ;;
--list)
    printf '%s\n' "${build_packages[@]}" "${test_packages[@]}" golang-go
    exit 0
    ;;
'')
    packages=("${build_packages[@]}" "${test_packages[@]}")
    with_go=1
    ;;
*)
    sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: no apt-get here; install the equivalents of: ${packages[*]}" >&2
    exit 1
fi

missing=()
for package in "${packages[@]}"; do
    # shellcheck disable=SC2016 # ${db:Status-Status} is for dpkg-query
    status=$(dpkg-query -W -f ' ${db:Status-Status} ' "$package" 2>/dev/null || true)
    case $status in
    *' installed '*) ;;
    *) missing+=("$package") ;;
    esac
done

# The second number of a Go version, or 0.
minor() { # TEXT
    local number
    number=$(sed -nE '1s/^[^0-9]*([0-9]+:)?1\.([0-9]+).*/\2/p' <<<"$1")
    echo "${number:-0}"
}
if [ "$with_go" -eq 1 ] && command -v go >/dev/null &&
    [ "$(minor "$(GOTOOLCHAIN=local go env GOVERSION)")" -ge "$go_minor" ]; then
    with_go=0
fi
if [ "${#missing[@]}" -eq 0 ] && [ "$with_go" -eq 0 ]; then
    echo 'setup: nothing to install'
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: neither root nor sudo; as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

echo 'setup: apt-get update'
apt_get update
candidate() {
    apt-cache policy "$1" | sed -n 's/^  Candidate: //p'
}
backports=0
if [ "$with_go" -eq 1 ]; then
    if [ "$(minor "$(candidate golang-go)")" -ge "$go_minor" ]; then
        missing+=(golang-go)
    else
        backports=1
    fi
fi
if [ "${#missing[@]}" -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    apt_get --no-install-recommends install "${missing[@]}"
fi

# Debian 12's own Go is too old. The backports are read from lists of their own, so that the
# machine's choice of archives stays as it is.
if [ "$backports" -eq 1 ]; then
    echo 'setup: installing golang-go from the backports of this release'
    lists=$(mktemp -d)
    trap '"${as_root[@]}" rm -rf "$lists"' EXIT
    mkdir -p "$lists/state/partial"
    # shellcheck disable=SC2016 # $(REPO_URI) is for apt
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Identifier: Packages' 'Origin: Debian' | awk '$2 !~ /-/ && $3 == "main" && !seen[$0]++ {
            print "deb", $0
            print "deb", $1, $2 "-backports", $3
        }' >"$lists/sources.list"
    release=$(awk '$3 ~ /-backports$/ { print $3; exit }' "$lists/sources.list")
    if [ -z "$release" ]; then
        echo 'setup: apt knows no Debian archive to take a newer Go from' >&2
        exit 1
    fi
    options=(
        -o "Dir::Etc::sourcelist=$lists/sources.list"
        -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$lists/state"
        -o APT::Sandbox::User=root
    )
    apt_get "${options[@]}" update
    apt_get "${options[@]}" --no-install-recommends -t "$release" install golang-go
fi
