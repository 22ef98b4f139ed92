# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# . versions.sh: version_tags VERSION prints the build tags that leave out what a version of the Go NRI module does not
# have yet (see version_*.go and plugins/), version_modfile VERSION the module file, both for use in this directory.

version_tags() {
    case $1 in
    0.6.*) echo nri_no_wasm,nri_before_0_12,nri_before_0_11,nri_before_0_10,nri_before_0_7 ;;
    0.[789].*) echo nri_no_wasm,nri_before_0_12,nri_before_0_11,nri_before_0_10 ;;
    0.10.*) echo nri_no_wasm,nri_before_0_12,nri_before_0_11 ;;
    0.11.*) echo nri_no_wasm,nri_before_0_12 ;;
    *) echo nri_no_wasm ;;
    esac
}

version_modfile() {
    if [ -f "versions/$1.mod" ]; then
        echo "$PWD/versions/$1.mod"
    else
        echo "$PWD/go.mod"
    fi
}
