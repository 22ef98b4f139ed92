#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# null.sh UPDATE_SYMBOLS TEST_NULL_C...: every exported function with a handle is called in one of the
# test programs.
set -euo pipefail

# These take no handle: numbers, events, versions, texts.
without='nri_strerror nri_error_name nri_error_is_fatal nri_error_is_retriable nri_event_bit
    nri_event_name nri_event_mask_parse nri_event_mask_format nri_feature_name nri_field_name
    nri_version nri_version_events nri_version_infer
    nri_version_supports nri_log_level_name nri_text_length nri_cpu_milli_to_shares
    nri_cpu_shares_to_milli nri_cpu_milli_to_quota nri_cpu_quota_to_milli nri_cpu_shares_to_weight
    nri_cpu_weight_to_shares'

missing=0
update_symbols=$1
shift
while read -r name; do
    if ! grep -qw "$name" "$@" && ! grep -qw "$name" <<<"$without"; then
        echo "$name is not called with NULL" >&2
        missing=1
    fi
done < <("$update_symbols" --list)
exit "$missing"
