/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller's text as error texts show it: in double quotes, cut when it is long, always printable
 * UTF-8, whatever the bytes are. An error text travels to the runtime in a protobuf string, so it
 * must not carry a caller's broken bytes on.
 */
#ifndef NRI_MODEL_QUOTE_H
#define NRI_MODEL_QUOTE_H

#include <stddef.h>

#define NRI_QUOTE_LENGTH 80 /* bytes between the quotes, before "..." */

struct nri_quote {
    char text[NRI_QUOTE_LENGTH + 8];
};

/* Returns quote->text, such as "a\x01b" with its quotes. NULL is written as NULL, without quotes.
 */
const char *nri_quote(struct nri_quote *quote, const char *text);

#endif
