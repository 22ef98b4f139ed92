#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subprojects.sh SOURCE BUILD: builds libnri with its dependencies as subprojects, from the wraps
# and meson files in subprojects/ and the distribution's source tarballs, without a network, and
# runs the unit tests, which link all of them. The tarballs are kept in $NRI_CACHE_DIR (default
# BUILD/cache).
set -euo pipefail
source=$1
cache=${NRI_CACHE_DIR:-$2/cache}/sources
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

"$here/fetch.sh" "$cache" yajl cmocka protobuf-c libuv1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tree=$dir/libnri
mkdir -p "$tree/subprojects/packagecache"
for part in meson.build meson_options.txt COPYING include lib tools examples tests doc; do
    if [ -e "$source/$part" ]; then
        cp -r "$source/$part" "$tree/"
    fi
done
cp -r "$source"/subprojects/*.wrap "$source/subprojects/packagefiles" "$tree/subprojects/"
cp "$cache"/*.tar.* "$tree/subprojects/packagecache/"

# Debian removes files from libuv's release, so that this one tarball has another name and hash
# than upstream's. The hashes of the others are checked as they stand in the wraps.
libuv=$(cd "$cache" && ls libuv1-*.tar.*)
hash=$(sha256sum "$cache/$libuv" | cut -d' ' -f1)
sed -i -e "s|^directory = .*|directory = ${libuv%.tar.*}|" \
    -e "s|^source_filename = .*|source_filename = $libuv|" \
    -e "s|^source_hash = .*|source_hash = $hash|" "$tree/subprojects/libuv.wrap"
# Whatever is not in the cache must fail rather than be fetched.
sed -i 's|^source_url = .*|source_url = file:///nonexistent|' "$tree"/subprojects/*.wrap

if ! meson setup "$dir/build" "$tree" --wrap-mode=forcefallback -Dbuildtype=debug -Ddocs=disabled -Dnrictl=disabled \
    >"$dir/log" 2>&1; then
    cat "$dir/log" >&2
    exit 1
fi
for project in cmocka libuv protobuf-c yajl; do
    if ! grep -q "Subproject $project finished" "$dir/log"; then
        echo "FAILED: $project was not built as a subproject" >&2
        exit 1
    fi
done

ninja -C "$dir/build" >"$dir/ninja.log" 2>&1 || {
    grep -A20 FAILED "$dir/ninja.log" >&2
    exit 1
}
# They end up inside: no shared library of theirs is needed, and no symbol of theirs gets out.
if readelf -d "$dir/build/lib/libnri.so" | grep -E 'NEEDED.*(yajl|protobuf|libuv)'; then
    echo 'FAILED: libnri.so still needs the libraries above' >&2
    exit 1
fi
if nm -D --defined-only "$dir/build/lib/libnri.so" | grep -E ' (yajl|protobuf|uv)_'; then
    echo 'FAILED: libnri.so exports the symbols above' >&2
    exit 1
fi
meson test -C "$dir/build" --no-rebuild --suite unit --print-errorlogs
