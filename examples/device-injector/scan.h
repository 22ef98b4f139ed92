/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of a text, before it is loaded: what is too much is refused where it begins. */
#ifndef INJECTOR_SCAN_H
#define INJECTOR_SCAN_H

#include "values.h"

/* Whether a text is one document of YAML, or none, within the bounds of values.h, and no scalar of
 * it contains a NUL. What is wrong is in `values`. */
bool scan(struct values *values, const char *text, size_t length);
/* Says why a parser of `text` failed. */
void scan_failed(struct values *values, const yaml_parser_t *parser, const char *text);

#endif
