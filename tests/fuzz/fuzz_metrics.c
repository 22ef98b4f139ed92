/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a /metrics peer says: any bytes, in any cut, are the same answer or the same refusal, and
 * any body is rows of a meter or a line that says why not. The first byte: whether the input is an
 * answer of HTTP or only its body; and the size of the pieces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "memory.h"
#include "openmetrics.h"
#include "response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static int take(void *user, const struct openmetrics_sample *sample)
{
    size_t *samples = user;
    CHECK(sample->name[0] != '\0' && sample->label_count <= OPENMETRICS_MOST_LABELS);
    for (size_t i = 0; i < sample->label_count; i++) {
        const struct openmetrics_label *label = &sample->labels[i];
        CHECK(label->name[0] != '\0' && nri_utf8_valid(label->value, strlen(label->value), NULL));
        CHECK(openmetrics_label(sample, label->name) != NULL);
    }
    ++*samples;
    return 0;
}

static void read_body(const char *text, size_t size)
{
    size_t samples = 0;
    struct nri_error error;
    nri_error_clear(&error);
    const int code = openmetrics_read(text, size, take, &samples, &error);
    CHECK(code == error.code && samples <= OPENMETRICS_MOST_SAMPLES);
    CHECK(code == 0 || code == NRI_E_PROTOCOL || code == NRI_E_LIMIT);
}

/* What a response came to; its end counts only where it was not whole before. */
static int read_answer(struct response *response, const uint8_t *data, size_t size, size_t piece)
{
    struct nri_error error;
    int code = 0;
    nri_error_clear(&error);
    response_init(response);
    for (size_t at = 0; at < size && code == 0 && !response_is_whole(response); at += piece)
        code = response_feed(response, data + at, size - at < piece ? size - at : piece, &error);
    if (code == 0)
        code = response_end(response, &error);
    CHECK(code == error.code);
    return code;
}

static void check_cuts(const uint8_t *data, size_t size, size_t piece)
{
    struct response whole, pieces;
    const int first = read_answer(&whole, data, size, size);
    const int second = read_answer(&pieces, data, size, piece);
    CHECK(first == second);
    if (first == 0) {
        const size_t length = nri_buf_size(&whole.body);
        CHECK(whole.status == pieces.status && length == nri_buf_size(&pieces.body));
        CHECK(length == 0 ||
              memcmp(memory_text(&whole.body), memory_text(&pieces.body), length) == 0);
        read_body(length > 0 ? memory_text(&whole.body) : "", length);
    }
    response_fini(&whole);
    response_fini(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > (1 << 20))
        return 0;
    if (data[0] % 2 == 0)
        check_cuts(data + 1, size - 1, 1 + data[0] / 2);
    else
        read_body((const char *)data + 1, size - 1);
    return 0;
}
