/* SPDX-License-Identifier: Apache-2.0 */
#include "openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* One line: a copy that is cut into pieces in place. */
struct line {
    char text[OPENMETRICS_MOST_LINE + 1];
    char *at;
    struct openmetrics_sample sample;
};

const char *openmetrics_label(const struct openmetrics_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->label_count; i++) {
        if (strcmp(sample->labels[i].name, name) == 0)
            return sample->labels[i].value;
    }
    return NULL;
}

static bool is_name(char byte, bool first)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte == ':' || (!first && byte >= '0' && byte <= '9');
}

/* Its end is where a NUL has to be put, once what stands there was looked at. */
static char *take_name(struct line *line)
{
    char *begin = line->at;
    while (is_name(*line->at, line->at == begin))
        line->at++;
    return line->at == begin ? NULL : begin;
}

/* What stands between quotes, without escapes, ended by a NUL. */
static char *take_value(struct line *line)
{
    char *begin = line->at, *out = begin;
    for (; *line->at != '"'; line->at++) {
        char byte = *line->at;
        if (byte == '\0')
            return NULL;
        if (byte == '\\') {
            byte = *++line->at;
            if (byte != 'n' && byte != '\\' && byte != '"')
                return NULL;
            byte = byte == 'n' ? '\n' : byte;
        }
        *out++ = byte;
    }
    line->at++;
    *out = '\0';
    return begin;
}

static void skip_blanks(struct line *line)
{
    while (*line->at == ' ' || *line->at == '\t')
        line->at++;
}

/* One name="value"; the byte behind the name is '=' and makes room for its NUL. */
static const char *take_label(struct line *line)
{
    struct openmetrics_sample *sample = &line->sample;
    if (sample->label_count == OPENMETRICS_MOST_LABELS)
        return "there are more than 32 labels";
    char *name = take_name(line);
    char *end = line->at;
    skip_blanks(line);
    if (name == NULL || *line->at != '=')
        return "a label has no name";
    line->at++;
    skip_blanks(line);
    if (*line->at++ != '"')
        return "a label's value is not quoted";
    const char *value = take_value(line);
    if (value == NULL)
        return "a label's value does not end, or has an escape that is none";
    *end = '\0';
    sample->labels[sample->label_count++] = (struct openmetrics_label){name, value};
    return NULL;
}

static const char *take_labels(struct line *line)
{
    const char *why = NULL;
    skip_blanks(line);
    while (*line->at != '}' && why == NULL) {
        why = take_label(line);
        skip_blanks(line);
        if (why == NULL && *line->at == ',')
            line->at++;
        else if (why == NULL && *line->at != '}')
            why = "labels do not end with }";
        skip_blanks(line);
    }
    line->at += why == NULL ? 1 : 0;
    return why;
}

/* strtod() reads the locale's point; nrictl never leaves the C locale. */
static bool take_number(struct line *line)
{
    char *end = NULL;
    line->sample.value = strtod(line->at, &end);
    const bool good = end != line->at && (*end == '\0' || *end == ' ' || *end == '\t');
    line->at = end;
    return good;
}

/* NAME{LABELS} NUMBER [TIME] [# EXEMPLAR]: what follows the number does not count. */
static const char *read_sample(struct line *line)
{
    const char *why = NULL;
    line->at = line->text;
    line->sample.label_count = 0;
    line->sample.name = take_name(line);
    if (line->sample.name == NULL)
        return "it is no metric";
    char *end = line->at;
    skip_blanks(line);
    const bool labels = *line->at == '{';
    if (labels) {
        line->at++;
        why = take_labels(line);
    } else if (end == line->at) {
        return "a metric has no number";
    }
    if (why != NULL)
        return why;
    skip_blanks(line);
    if (!take_number(line))
        return "a metric has no number";
    *end = '\0';
    return NULL;
}

/* One line of the text; blank ones and comments are fine. */
static const char *read_line(struct line *line, const char *text, size_t length, bool *sample)
{
    *sample = false;
    if (length > OPENMETRICS_MOST_LINE)
        return "it is longer than 16 KiB";
    if (length == 0 || text[0] == '#')
        return NULL;
    if (memchr(text, '\0', length) != NULL || !nri_utf8_valid(text, length, NULL))
        return "it is no text";
    memcpy(line->text, text, length);
    line->text[length] = '\0';
    *sample = true;
    return read_sample(line);
}

int openmetrics_read(const char *text, size_t length,
                     int (*take)(void *user, const struct openmetrics_sample *sample), void *user,
                     struct nri_error *error)
{
    size_t number = 0, samples = 0;
    int code = 0;
    struct line *line = malloc(sizeof *line);
    if (line == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "no memory for metrics");
    for (size_t at = 0; code == 0 && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t whole = end != NULL ? (size_t)(end - text) - at : length - at;
        const bool cr = whole > 0 && text[at + whole - 1] == '\r';
        bool sample;
        const char *why = read_line(line, text + at, whole - (cr ? 1 : 0), &sample);
        number++;
        at += whole + 1;
        if (why != NULL)
            code = nri_error_set(error, NRI_E_PROTOCOL, "no metrics: line %zu: %s", number, why);
        else if (sample && ++samples > OPENMETRICS_MOST_SAMPLES)
            code =
                nri_error_set(error, NRI_E_LIMIT, "more than %d metrics", OPENMETRICS_MOST_SAMPLES);
        else if (sample)
            code = take(user, &line->sample);
    }
    free(line);
    return code;
}
