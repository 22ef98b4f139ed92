/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line of a shell as words: blanks separate, '...' keeps all, "..." and \ keep blanks, # begins a
 * comment.
 */
#ifndef NRICTL_WORDS_H
#define NRICTL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_MOST 256

struct words {
    char *text;               /* of all; owned */
    char *at[WORDS_MOST + 1]; /* ends with NULL */
    size_t count;
    const char *error; /* why it is none: a static text; NULL */
    bool open;         /* the line ends in a blank, or with nothing: the next word has not begun */
};

/* words_free() in any case. With an error there are the words before it. */
void words_split(struct words *words, const char *line, size_t length);
void words_free(struct words *words);

#endif
