/* SPDX-License-Identifier: Apache-2.0 */
/* Writing numbers to a caller's buffer of which only the start may fit, as snprintf() does. */
#ifndef NRI_MODEL_DECIMAL_H
#define NRI_MODEL_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

struct nri_decimal_out {
    char *text;
    size_t size, length;
};

/* `text` may be NULL: then only the length is counted. */
void nri_decimal_out_init(struct nri_decimal_out *out, char *text, size_t size);
void nri_decimal_out_char(struct nri_decimal_out *out, char c);
void nri_decimal_out_number(struct nri_decimal_out *out, uint64_t number);
/* Ends the text with a NUL, if there is any room; returns the length of the whole text. */
size_t nri_decimal_out_end(struct nri_decimal_out *out);

#endif
