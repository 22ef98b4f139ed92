/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"

#include <string.h>

#include "base/text.h"
#include "memory.h"

const char *print_colour(const struct nrictl *ctl, enum print_colour colour)
{
    static const char *const sequences[] = {
        [PRINT_PLAIN] = "\033[0m",   [PRINT_RED] = "\033[31m",  [PRINT_GREEN] = "\033[32m",
        [PRINT_YELLOW] = "\033[33m", [PRINT_BLUE] = "\033[34m", [PRINT_BOLD] = "\033[1m",
        [PRINT_DIM] = "\033[2m"};
    return ctl->colour ? sequences[colour] : "";
}

void print_text(FILE *out, const char *text, size_t length)
{
    const bool clean = nri_utf8_valid(text, length, NULL);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        /* C1 controls are 0xc2 0x80 to 0xc2 0x9f in UTF-8. */
        const bool c1 = byte == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0;
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !clean) || c1) {
            (void)fprintf(out, "\\x%02x", byte);
            if (c1)
                (void)fprintf(out, "\\x%02x", (unsigned char)text[++i]);
        } else {
            (void)fputc(byte, out);
        }
    }
}

void print_text_line(FILE *out, const char *text)
{
    print_text(out, text, strlen(text));
    (void)fputc('\n', out);
}

/* ---- JSON ---- */

/* They can only stand within strings, where an escape says the same. */
void print_document(FILE *out, const char *text, size_t length)
{
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool c1 = byte == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0;
        if (byte != 0x7f && !c1)
            continue;
        (void)fwrite(text + done, 1, i - done, out);
        i += c1;
        (void)fprintf(out, "\\u00%02x", (unsigned char)text[i]);
        done = i + 1;
    }
    (void)fwrite(text + done, 1, length - done, out);
}

void print_json_begin(struct print_json *json, unsigned indent)
{
    memory_buf(&json->buf, SIZE_MAX);
    nri_json_writer_init(&json->writer, &json->buf, indent);
}

int print_json_end(struct nrictl *ctl, struct print_json *json)
{
    const int failure = nri_json_writer_end(&json->writer);
    if (failure == 0) {
        print_document(ctl->out, memory_text(&json->buf), nri_buf_size(&json->buf));
        (void)fputc('\n', ctl->out);
    }
    nri_buf_fini(&json->buf);
    if (failure != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no JSON: %s", nri_strerror(failure));
    return NRICTL_OK;
}

void print_json_key(struct print_json *json, const char *key)
{
    nri_json_write_key(&json->writer, key, strlen(key));
}

void print_json_text(struct print_json *json, const char *key, const char *value)
{
    print_json_key(json, key);
    if (value == NULL)
        nri_json_write_null(&json->writer);
    else
        nri_json_write_string(&json->writer, value, strlen(value));
}

void print_json_number(struct print_json *json, const char *key, uint64_t value)
{
    print_json_key(json, key);
    nri_json_write_uint64(&json->writer, value);
}

void print_json_bool(struct print_json *json, const char *key, bool value)
{
    print_json_key(json, key);
    nri_json_write_bool(&json->writer, value);
}

static void put_members(struct print_json *json, const struct nri_json *value)
{
    const bool list = nri_json_type(value) == NRI_JSON_ARRAY;
    if (list)
        nri_json_begin_array(&json->writer);
    else
        nri_json_begin_object(&json->writer);
    for (size_t i = 0; i < nri_json_count(value); i++) {
        const char *key;
        size_t length;
        if (list) {
            print_json_value(json, nri_json_at(value, i));
        } else {
            const struct nri_json *member = nri_json_member_at(value, i, &key, &length);
            nri_json_write_key(&json->writer, key, length);
            print_json_value(json, member);
        }
    }
    if (list)
        nri_json_end_array(&json->writer);
    else
        nri_json_end_object(&json->writer);
}

/* A document is as deep as its parser allowed, so the recursion ends. */
void print_json_value(struct print_json *json, const struct nri_json *value)
{
    int64_t number;
    uint64_t large = 0;
    size_t length;
    const char *text;
    switch (nri_json_type(value)) {
    case NRI_JSON_ARRAY:
    case NRI_JSON_OBJECT:
        put_members(json, value);
        break;
    case NRI_JSON_STRING:
        text = nri_json_string(value, &length);
        nri_json_write_string(&json->writer, text, length);
        break;
    case NRI_JSON_NUMBER:
        if (nri_json_int64(value, &number) == 0)
            nri_json_write_int64(&json->writer, number);
        else if (nri_json_uint64(value, &large) == 0)
            nri_json_write_uint64(&json->writer, large);
        else
            nri_json_write_null(&json->writer);
        break;
    case NRI_JSON_BOOL:
        nri_json_write_bool(&json->writer, nri_json_bool(value));
        break;
    default:
        nri_json_write_null(&json->writer);
        break;
    }
}
