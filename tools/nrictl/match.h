/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a value is as it has to be.
 */
#ifndef NRICTL_MATCH_H
#define NRICTL_MATCH_H

#include "json/json.h"

/* The same value: numbers by what they say, members in any order. */
bool match_equal(const struct nri_json *a, const struct nri_json *b);
/*
 * `expected` is an object of form match_form, or the value itself (null: absent). `seen` NULL: it
 * is absent.
 */
bool match_value(const struct nri_json *expected, const struct nri_json *seen);

#endif
