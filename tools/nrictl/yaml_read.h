/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as a document of lib/json, through libyaml: one document, the core schema of YAML 1.2, and
 * every value with its line and column (in bytes), as if it had been JSON.
 *
 * Refused, with line and column: what JSON cannot say (anchors and aliases, merge keys, tags but
 * !!str, keys that are no scalars, infinities), keys given twice, NULs, a second document, and what
 * is beyond a limit. Without aliases a document is never larger than its text.
 */
#ifndef NRICTL_YAML_READ_H
#define NRICTL_YAML_READ_H

#include "json/json.h"

/* As nri_json_parse(): `name` is of the source in errors. 0, NRI_E_SYNTAX, NRI_E_UTF8, NRI_E_RANGE,
 * NRI_E_LIMIT, NRI_E_NOMEM. */
int yaml_read(struct nri_arena *arena, const char *text, size_t length,
              const struct nri_json_limits *limits, const char *name, struct nri_json **document,
              struct nri_error *error);

#endif
