#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing libnri needs and this machine lacks, by apt-get (as root, or
# with sudo). Says what it does; does nothing when all is there.
#
#   tools/setup.sh           everything tools/test.sh needs
#   tools/setup.sh --build   what building the library and running its unit tests needs
#   tools/setup.sh --demo    what tools/demo.sh needs
#   tools/setup.sh --list    print the packages and do nothing
set -euo pipefail

build_packages=(
    gcc g++ make patch meson ninja-build pkg-config python3
    libprotobuf-c-dev protobuf-c-compiler libuv1-dev libyajl-dev uthash-dev libcmocka-dev
)
demo_packages=(debootstrap ca-certificates util-linux iproute2)
test_packages=(
    # the second compiler, the sanitizers of both, and the checkers
    clang libclang-rt-14-dev clang-format clang-tidy valgrind shellcheck doxygen
    # source tarballs for the subprojects, and Debian roots for the end-to-end tests
    dpkg-dev "${demo_packages[@]}"
    # the other end of the interoperability tests
    golang-go
)

case ${1:-} in
--build) packages=("${build_packages[@]}") ;;
--demo) packages=("${build_packages[@]}" "${demo_packages[@]}") ;;
--list)
    printf '%s\n' "${build_packages[@]}" "${test_packages[@]}"
    exit 0
    ;;
'') packages=("${build_packages[@]}" "${test_packages[@]}") ;;
*)
    sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: no apt-get here; install the equivalents of: ${packages[*]}" >&2
    exit 1
fi

# A Go of one's own is as good as the package, and may be newer.
if command -v go >/dev/null; then
    packages=("${packages[@]/golang-go/}")
fi

missing=()
for package in "${packages[@]}"; do
    [ -n "$package" ] || continue
    # shellcheck disable=SC2016 # ${db:Status-Status} is for dpkg-query
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    case $status in
    *installed*) ;;
    *) missing+=("$package") ;;
    esac
done
if [ "${#missing[@]}" -eq 0 ]; then
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

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get -q update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${missing[@]}"
