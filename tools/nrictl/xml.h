/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of another party in XML: what would be markup is escaped, and what XML 1.0 cannot hold is
 * written as U+FFFD.
 */
#ifndef NRICTL_XML_H
#define NRICTL_XML_H

#include <stddef.h>
#include <stdio.h>

/* Between tags; line breaks and tabs stay. */
void xml_text(FILE *out, const char *text, size_t length);
/* " NAME="VALUE"", in which line breaks and tabs are blanks. */
void xml_attribute(FILE *out, const char *name, const char *value);

#endif
