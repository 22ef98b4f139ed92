/* SPDX-License-Identifier: Apache-2.0 */
/* The writer without a document. Bit n of its masks belongs to the container that n others enclose.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json/document.h"

#define DEEPEST 64 /* bits in a mask */

void nri_json_writer_init(struct nri_json_writer *writer, struct nri_buf *out, unsigned indent)
{
    *writer = (struct nri_json_writer){.out = out, .indent = indent};
}

static void append(struct nri_json_writer *writer, const char *text, size_t length)
{
    if (writer->failure == 0)
        writer->failure = nri_buf_append(writer->out, text, length);
}

static void misused(struct nri_json_writer *writer)
{
    if (writer->failure == 0)
        writer->failure = NRI_E_STATE;
}

static uint64_t innermost(const struct nri_json_writer *writer)
{
    return UINT64_C(1) << (writer->depth - 1);
}

static bool in_object(const struct nri_json_writer *writer)
{
    return writer->depth != 0 && (writer->object & innermost(writer)) != 0;
}

/* What stands in front of an element or a key: a comma, and a new line. */
static void separate(struct nri_json_writer *writer)
{
    if ((writer->started & innermost(writer)) != 0)
        append(writer, ",", 1);
    writer->started |= innermost(writer);
    if (writer->failure == 0)
        writer->failure = nri_json_break_line(writer->out, writer->indent, writer->depth);
}

/* To be called in front of each value. */
static void begin_value(struct nri_json_writer *writer)
{
    if (writer->depth == 0) {
        if (writer->done)
            misused(writer); /* a second document */
        writer->done = true;
    } else if (in_object(writer)) {
        if (!writer->key)
            misused(writer);
        writer->key = false;
    } else {
        separate(writer);
    }
}

static void begin(struct nri_json_writer *writer, bool object)
{
    begin_value(writer);
    if (writer->failure != 0)
        return;
    if (writer->depth == DEEPEST) {
        writer->failure = NRI_E_LIMIT;
        return;
    }
    writer->depth++;
    writer->started &= ~innermost(writer);
    if (object)
        writer->object |= innermost(writer);
    else
        writer->object &= ~innermost(writer);
    append(writer, object ? "{" : "[", 1);
}

static void end(struct nri_json_writer *writer, bool object)
{
    if (writer->depth == 0 || in_object(writer) != object || writer->key)
        misused(writer);
    if (writer->failure != 0)
        return;
    bool empty = (writer->started & innermost(writer)) == 0;
    writer->depth--;
    if (!empty)
        writer->failure = nri_json_break_line(writer->out, writer->indent, writer->depth);
    append(writer, object ? "}" : "]", 1);
}

void nri_json_begin_object(struct nri_json_writer *writer)
{
    begin(writer, true);
}

void nri_json_end_object(struct nri_json_writer *writer)
{
    end(writer, true);
}

void nri_json_begin_array(struct nri_json_writer *writer)
{
    begin(writer, false);
}

void nri_json_end_array(struct nri_json_writer *writer)
{
    end(writer, false);
}

static void quote(struct nri_json_writer *writer, const char *text, size_t length)
{
    if (writer->failure == 0)
        writer->failure = nri_json_quote(writer->out, text, length);
}

void nri_json_write_key(struct nri_json_writer *writer, const char *key, size_t length)
{
    if (!in_object(writer) || writer->key)
        misused(writer);
    if (writer->failure != 0)
        return;
    separate(writer);
    quote(writer, key, length);
    append(writer, ": ", writer->indent == 0 ? 1 : 2);
    writer->key = true;
}

void nri_json_write_string(struct nri_json_writer *writer, const char *text, size_t length)
{
    begin_value(writer);
    quote(writer, text, length);
}

void nri_json_write_int64(struct nri_json_writer *writer, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, number);
    begin_value(writer);
    append(writer, text, (size_t)length);
}

void nri_json_write_uint64(struct nri_json_writer *writer, uint64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRIu64, number);
    begin_value(writer);
    append(writer, text, (size_t)length);
}

void nri_json_write_bool(struct nri_json_writer *writer, bool value)
{
    begin_value(writer);
    append(writer, value ? "true" : "false", value ? 4 : 5);
}

void nri_json_write_null(struct nri_json_writer *writer)
{
    begin_value(writer);
    append(writer, "null", 4);
}

int nri_json_writer_end(struct nri_json_writer *writer)
{
    if (writer->depth != 0 || !writer->done)
        misused(writer);
    return writer->failure;
}
