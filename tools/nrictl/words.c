/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <stdlib.h>
#include <string.h>

struct splitter {
    const char *at, *end;
    char *to;
    const char *error;
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

/* Behind the quotation mark that ends it. */
static void take_quoted(struct splitter *splitter)
{
    const char mark = *splitter->at++;
    while (splitter->at < splitter->end && *splitter->at != mark) {
        if (mark == '"' && *splitter->at == '\\' && splitter->at + 1 < splitter->end)
            splitter->at++;
        *splitter->to++ = *splitter->at++;
    }
    if (splitter->at == splitter->end)
        splitter->error = mark == '"' ? "a \" is not closed" : "a ' is not closed";
    else
        splitter->at++;
}

static void take_word(struct splitter *splitter)
{
    while (splitter->at < splitter->end && !is_blank(*splitter->at) && splitter->error == NULL) {
        if (*splitter->at == '\'' || *splitter->at == '"') {
            take_quoted(splitter);
            continue;
        }
        if (*splitter->at == '\\' && splitter->at + 1 < splitter->end)
            splitter->at++;
        *splitter->to++ = *splitter->at++;
    }
    *splitter->to++ = '\0';
}

void words_split(struct words *words, const char *line, size_t length)
{
    memset(words, 0, sizeof *words);
    words->open = length == 0 || is_blank(line[length - 1]);
    /* Each word is followed by a NUL where a blank was, but the last. */
    words->text = malloc(length + 2);
    if (words->text == NULL) {
        words->error = "out of memory";
        return;
    }
    struct splitter splitter = {line, line + length, words->text, NULL};
    for (;;) {
        while (splitter.at < splitter.end && is_blank(*splitter.at))
            splitter.at++;
        if (splitter.at == splitter.end || *splitter.at == '#')
            return;
        if (words->count == WORDS_MOST) {
            words->error = "there are more than 256 words";
            return;
        }
        words->at[words->count++] = splitter.to;
        take_word(&splitter);
        if ((words->error = splitter.error) != NULL)
            return;
    }
}

void words_free(struct words *words)
{
    free(words->text);
    words->text = NULL;
    words->count = 0;
    words->at[0] = NULL;
}
