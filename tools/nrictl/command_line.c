/* SPDX-License-Identifier: Apache-2.0 */
#include "command_line.h"

#include <string.h>

#define MOST_WORDS 256

/* One word; the end of it in the text, or NULL for a quote that does not end. */
static const char *take_word(const char *at, char *word, size_t *length)
{
    char quote = '\0';
    *length = 0;
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\n", *at) == NULL); at++) {
        if (quote == '\0' && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else if (quote != '\0' && *at == quote) {
            quote = '\0';
        } else {
            if (*at == '\\' && quote != '\'' && at[1] != '\0')
                at++;
            word[(*length)++] = *at;
        }
    }
    return quote == '\0' ? at : NULL;
}

const char **command_line_split(struct nri_arena *arena, const char *text, const char **why)
{
    const char **words = nri_arena_array(arena, MOST_WORDS + 1, sizeof *words);
    char *word = nri_arena_alloc(arena, strlen(text) + 1);
    size_t count = 0, length;
    *why = "there is no memory";
    if (words == NULL || word == NULL)
        return NULL;
    for (const char *at = text + strspn(text, " \t\n"); *at != '\0'; at += strspn(at, " \t\n")) {
        if (count == MOST_WORDS) {
            *why = "it has more than 256 words";
            return NULL;
        }
        at = take_word(at, word, &length);
        if (at == NULL) {
            *why = "a quote does not end";
            return NULL;
        }
        words[count] = nri_arena_text(arena, word, length);
        if (words[count++] == NULL)
            return NULL;
    }
    *why = "it is empty";
    words[count] = NULL;
    return count == 0 ? NULL : words;
}

const char *command_line_replace(struct nri_arena *arena, const char *text, const char *what,
                                 const char *by)
{
    const size_t what_length = strlen(what), by_length = strlen(by);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += what_length)
        count++;
    char *made = nri_arena_zero(arena, strlen(text) + count * by_length + 1);
    if (made == NULL)
        return NULL;
    for (size_t length = 0; *text != '\0';) {
        if (strncmp(text, what, what_length) != 0) {
            made[length++] = *text++;
            continue;
        }
        for (size_t i = 0; i < by_length; i++)
            made[length++] = by[i];
        text += what_length;
    }
    return made;
}
