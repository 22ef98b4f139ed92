/* SPDX-License-Identifier: Apache-2.0 */
#include "model/decimal.h"

void nri_decimal_out_init(struct nri_decimal_out *out, char *text, size_t size)
{
    out->text = text;
    out->size = text != NULL ? size : 0;
    out->length = 0;
}

void nri_decimal_out_char(struct nri_decimal_out *out, char c)
{
    if (out->length < out->size)
        out->text[out->length] = c;
    out->length++;
}

void nri_decimal_out_number(struct nri_decimal_out *out, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        nri_decimal_out_char(out, digits[--count]);
}

size_t nri_decimal_out_end(struct nri_decimal_out *out)
{
    if (out->size > 0)
        out->text[out->length < out->size ? out->length : out->size - 1] = '\0';
    return out->length;
}
