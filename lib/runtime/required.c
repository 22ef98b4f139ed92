/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/required.h"

#include <string.h>

struct reading {
    const char *at, *end, *start;
    int (*each)(void *user, const char *name, size_t length);
    void *user;
    struct nri_error *error;
};

static int wrong(const struct reading *reading, const char *what)
{
    return nri_error_set(reading->error, NRI_E_SYNTAX,
                         "%s at byte %zu: must be a list of plugin names, [\"a\", \"b\"] or a line "
                         "\"- a\" each",
                         what, (size_t)(reading->at - reading->start));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* And comments, of which an annotation may have as many as it has bytes. */
static void skip_blanks(struct reading *reading)
{
    bool comment = false;

    while (reading->at < reading->end) {
        const char c = *reading->at;
        comment = comment ? c != '\n' : c == '#';
        if (!comment && !is_blank(c))
            return;
        reading->at++;
    }
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_.+-", c) != NULL);
}

static int read_name(struct reading *reading)
{
    char quote = '\0';

    if (reading->at < reading->end && (*reading->at == '"' || *reading->at == '\''))
        quote = *reading->at++;
    const char *name = reading->at;
    while (reading->at < reading->end && is_name_character(*reading->at))
        reading->at++;
    const size_t length = (size_t)(reading->at - name);
    if (length == 0)
        return wrong(reading, "no plugin name");
    if (quote != '\0' && (reading->at == reading->end || *reading->at++ != quote))
        return wrong(reading, "an open quotation mark");
    return reading->each(reading->user, name, length);
}

/* Behind the "[". */
static int read_flow(struct reading *reading)
{
    for (;;) {
        skip_blanks(reading);
        if (reading->at < reading->end && *reading->at == ']')
            break;
        const int code = read_name(reading);
        if (code != 0)
            return code;
        skip_blanks(reading);
        if (reading->at < reading->end && *reading->at == ',')
            reading->at++;
        else if (reading->at == reading->end || *reading->at != ']')
            return wrong(reading, "neither \",\" nor \"]\"");
    }
    reading->at++;
    skip_blanks(reading);
    return reading->at == reading->end ? 0 : wrong(reading, "text behind the list");
}

static int read_block(struct reading *reading)
{
    while (reading->at < reading->end) {
        if (*reading->at != '-' || reading->at + 1 == reading->end || !is_blank(reading->at[1]))
            return wrong(reading, "no \"- \"");
        reading->at++;
        skip_blanks(reading);
        const int code = read_name(reading);
        if (code != 0)
            return code;
        skip_blanks(reading);
    }
    return 0;
}

int nri_required_read(const char *text, size_t length,
                      int (*each)(void *user, const char *name, size_t length), void *user,
                      struct nri_error *error)
{
    struct reading reading = {text, text + length, text, each, user, error};

    skip_blanks(&reading);
    if (reading.at < reading.end && *reading.at == '[') {
        reading.at++;
        return read_flow(&reading);
    }
    return read_block(&reading);
}
