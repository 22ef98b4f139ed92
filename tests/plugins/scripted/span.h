/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a value within the document that it was read from: libnri's functions that take JSON
 * want text, not values. */
#ifndef SCRIPTED_SPAN_H
#define SCRIPTED_SPAN_H

#include <nri/document.h>

struct span {
    size_t begin, end; /* offsets in bytes */
};

/* Where a value of the document with this text is. */
struct span span_of(const char *text, const nri_value *value);
/* Where the member that an object has it under begins: its key's quote. */
size_t span_of_key(const char *text, struct span value);
/* A copy of the text up to the span's end with blanks in front of it, so that what is wrong in it
 * has the place of the whole text. NULL: no memory. */
char *span_in_place(const char *text, struct span span);
/* A copy of the span alone. NULL: no memory. */
char *span_copy(const char *text, struct span span);

#endif
