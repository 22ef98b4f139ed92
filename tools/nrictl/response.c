/* SPDX-License-Identifier: Apache-2.0 */
#include "response.h"

#include <string.h>
#include <strings.h>

#include "memory.h"

void response_init(struct response *response)
{
    memset(response, 0, sizeof *response);
    memory_buf(&response->bytes, SIZE_MAX);
    memory_buf(&response->body, RESPONSE_MOST_BODY);
}

void response_fini(struct response *response)
{
    nri_buf_fini(&response->bytes);
    nri_buf_fini(&response->body);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* A line's length without its end; *whole: with it. False: it is not there yet. */
static bool find_line(const char *text, size_t size, size_t *length, size_t *whole)
{
    const char *end = memchr(text, '\n', size);
    if (end == NULL)
        return false;
    *whole = (size_t)(end - text) + 1;
    *length = *whole - 1;
    if (*length > 0 && text[*length - 1] == '\r')
        (*length)--;
    return true;
}

/* ---- the head ---- */

/* "HTTP/1.1 200 OK" */
static bool read_status(struct response *response, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ' || !is_digit(line[9]) ||
        !is_digit(line[10]) || !is_digit(line[11]) || (length > 12 && line[12] != ' '))
        return false;
    response->status = (unsigned)(100 * (line[9] - '0') + 10 * (line[10] - '0') + (line[11] - '0'));
    return response->status >= 100;
}

/* The value of a header of that name. */
static const char *header_value(const char *line, size_t length, const char *name, size_t *size)
{
    const size_t count = strlen(name);
    if (length <= count || strncasecmp(line, name, count) != 0 || line[count] != ':')
        return NULL;
    const char *value = line + count + 1, *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *size = (size_t)(end - value);
    return value;
}

/* Digits and nothing but; at most 15, which no limit here reaches. */
static bool read_number(const char *text, size_t length, unsigned base, uint64_t *number)
{
    *number = 0;
    if (length == 0 || length > 15)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char byte = text[i];
        unsigned digit = base;
        if (is_digit(byte))
            digit = (unsigned)(byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
            digit = (unsigned)((byte | 0x20) - 'a') + 10;
        if (digit >= base)
            return false;
        *number = *number * base + digit;
    }
    return true;
}

static int read_header(struct response *response, const char *line, size_t length,
                       struct nri_error *error)
{
    size_t size;
    const char *value = header_value(line, length, "Content-Length", &size);
    if (value != NULL) {
        uint64_t left;
        if (!read_number(value, size, 10, &left) ||
            (response->has_length && response->left != left))
            return nri_error_set(error, NRI_E_PROTOCOL, "its Content-Length is no length");
        if (left > RESPONSE_MOST_BODY)
            return nri_error_set(error, NRI_E_LIMIT, "its body is larger than 8 MiB");
        response->has_length = true;
        response->left = left;
    }
    value = header_value(line, length, "Transfer-Encoding", &size);
    if (value != NULL) {
        if (size != 7 || strncasecmp(value, "chunked", 7) != 0)
            return nri_error_set(error, NRI_E_PROTOCOL, "its Transfer-Encoding is not known");
        response->phase = RESPONSE_CHUNK_LINE;
    }
    return 0;
}

/* All its lines; 100 Continue and the like are followed by the answer that counts. */
static int read_head(struct response *response, const char *text, size_t size,
                     struct nri_error *error)
{
    size_t at = 0, length = 0, whole = 0;
    response->phase = RESPONSE_BODY;
    response->has_length = false;
    for (bool first = true; at < size && find_line(text + at, size - at, &length, &whole);
         first = false) {
        const char *line = text + at;
        at += whole;
        if (first && !read_status(response, line, length))
            return nri_error_set(error, NRI_E_PROTOCOL, "what answers there speaks no HTTP/1");
        if (first)
            continue;
        const int code = read_header(response, line, length, error);
        if (code != 0)
            return code;
    }
    if (response->status < 200)
        response->phase = RESPONSE_HEAD;
    else if (response->status == 204 || response->status == 304 ||
             (response->phase == RESPONSE_BODY && response->has_length && response->left == 0))
        response->phase = RESPONSE_WHOLE;
    return 0;
}

/* How long the head is with its empty line; 0: it is not all there. */
static size_t head_size(const char *text, size_t size)
{
    size_t at = 0, length = 0, whole = 0;
    while (find_line(text + at, size - at, &length, &whole)) {
        at += whole;
        if (length == 0)
            return at;
    }
    return 0;
}

/* ---- steps: each uses bytes and goes on, or *more is set ---- */

static int need_more(const struct response *response, bool *more, struct nri_error *error)
{
    *more = true;
    return nri_buf_size(&response->bytes) > RESPONSE_MOST_HEAD
               ? nri_error_set(error, NRI_E_LIMIT, "its headers are longer than 16 KiB")
               : 0;
}

static int step_head(struct response *response, bool *more, struct nri_error *error)
{
    const size_t size = head_size(memory_text(&response->bytes), nri_buf_size(&response->bytes));
    if (size == 0)
        return need_more(response, more, error);
    if (size > RESPONSE_MOST_HEAD)
        return nri_error_set(error, NRI_E_LIMIT, "its headers are longer than 16 KiB");
    const int code = read_head(response, memory_text(&response->bytes), size, error);
    nri_buf_consume(&response->bytes, size);
    return code;
}

static int step_body(struct response *response, bool *more, struct nri_error *error)
{
    size_t count = nri_buf_size(&response->bytes);
    const bool counted = response->has_length || response->phase == RESPONSE_CHUNK;
    if (counted && count > response->left)
        count = (size_t)response->left;
    if (nri_buf_append(&response->body, memory_text(&response->bytes), count) != 0)
        return nri_error_set(error, NRI_E_LIMIT, "its body is larger than 8 MiB");
    nri_buf_consume(&response->bytes, count);
    if (counted && (response->left -= count) == 0)
        response->phase = response->phase == RESPONSE_CHUNK ? RESPONSE_CHUNK_END : RESPONSE_WHOLE;
    else
        *more = true;
    return 0;
}

/* A chunk's size, perhaps with extensions behind a semicolon; or what is between two chunks. */
static int step_line(struct response *response, bool *more, struct nri_error *error)
{
    const char *line = memory_text(&response->bytes);
    size_t length, whole;
    if (!find_line(line, nri_buf_size(&response->bytes), &length, &whole))
        return need_more(response, more, error);
    bool good = true;
    if (response->phase == RESPONSE_CHUNK_LINE) {
        const char *end = memchr(line, ';', length);
        good = read_number(line, end != NULL ? (size_t)(end - line) : length, 16, &response->left);
        response->phase = response->left == 0 ? RESPONSE_TRAILER : RESPONSE_CHUNK;
    } else if (response->phase == RESPONSE_CHUNK_END) {
        good = length == 0;
        response->phase = RESPONSE_CHUNK_LINE;
    } else if (length == 0) {
        response->phase = RESPONSE_WHOLE;
    }
    nri_buf_consume(&response->bytes, whole);
    return good ? 0 : nri_error_set(error, NRI_E_PROTOCOL, "its chunks are none");
}

int response_feed(struct response *response, const void *bytes, size_t count,
                  struct nri_error *error)
{
    bool more = false;
    int code = nri_buf_append(&response->bytes, bytes, count);
    if (code != 0)
        return nri_error_set(error, code, "no memory for what it answers");
    while (code == 0 && !more && response->phase != RESPONSE_WHOLE) {
        if (response->phase == RESPONSE_HEAD)
            code = step_head(response, &more, error);
        else if (response->phase == RESPONSE_BODY || response->phase == RESPONSE_CHUNK)
            code = step_body(response, &more, error);
        else
            code = step_line(response, &more, error);
    }
    return code;
}

int response_end(struct response *response, struct nri_error *error)
{
    if (response->phase == RESPONSE_BODY && !response->has_length)
        response->phase = RESPONSE_WHOLE;
    if (response->phase == RESPONSE_WHOLE)
        return 0;
    return nri_error_set(error, NRI_E_PROTOCOL,
                         response->phase == RESPONSE_HEAD
                             ? "it ended the connection without an answer"
                             : "it ended the connection within its answer");
}
