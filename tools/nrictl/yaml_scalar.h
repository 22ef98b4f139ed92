/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plain scalar of YAML is by the core schema of YAML 1.2.
 */
#ifndef NRICTL_YAML_SCALAR_H
#define NRICTL_YAML_SCALAR_H

#include "json/json.h"

/* The type, and for a number its text in JSON (at most `room` bytes with the NUL) in `number`; a
 * boolean in *boolean. NRI_E_RANGE: a number that JSON cannot say, with *why. */
int yaml_scalar(const char *text, size_t length, enum nri_json_type *type, bool *boolean,
                char *number, size_t room, const char **why);

#endif
