#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # $(REPO_URI) is for apt
# fetch.sh DIRECTORY PACKAGE...: puts the upstream tarballs of Debian source packages into
# DIRECTORY, as NAME-VERSION.tar.*, with apt's own configuration. The machine's package lists stay
# as they are: everything happens with lists and a cache below DIRECTORY.
set -euo pipefail
directory=$1
shift

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
complete=1
for package; do
    compgen -G "$directory/$package-[0-9]*.tar.*" >/dev/null || complete=0
done
if [ "$complete" = 1 ]; then
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo 'SKIP: no apt-get, so no source tarballs of the distribution'
    exit 77
fi

work=$directory/apt
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
# The sources that go with the binaries this machine installs from. The plain release is enough:
# security and other updates change Debian's patches, not the upstream tarball.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Identifier: Packages' 'Origin: Debian' | awk '$3 !~ /-/ && !seen[$0]++' >"$work/sources.list"
if ! [ -s "$work/sources.list" ]; then
    echo 'SKIP: apt knows no Debian archive (run apt-get update)'
    exit 77
fi

options=(
    -qq
    -o "Dir::Etc::sourcelist=$work/sources.list"
    -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache"
    -o APT::Sandbox::User=root
)
apt-get "${options[@]}" update
cd "$work"
apt-get "${options[@]}" source --download-only "$@"

# Upstream's name for the file, which the wraps use; the content is the same.
for package; do
    for tarball in "$package"_*.orig.tar.*; do
        case $tarball in *.asc) continue ;; esac
        name=${tarball/_/-}
        cp "$tarball" "$directory/${name/.orig/}"
    done
done
