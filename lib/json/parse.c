/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs yajl over a text. yajl keeps no stack of its own and reads each byte once. What it is lax
 * about (UTF-8, blanks, what stands behind the document) is checked here and in build.c.
 */
#include <setjmp.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "base/text.h"
#include "json/parser.h"

#define DEFAULT_DEPTH  64
#define DEFAULT_BYTES  (16u * 1024 * 1024)
#define DEFAULT_VALUES 1000000u

/*
 * yajl does not check what its allocator returns, so that the allocator must not return without
 * memory: it jumps out of yajl instead. Nothing is lost by that, because all blocks are in a list
 * here.
 */
struct block {
    _Alignas(max_align_t) struct block *next;
    struct block *previous;
};

struct run {
    struct nri_json_parser parser;
    yajl_handle yajl;
    bool finishing;      /* yajl was given all of the text */
    const char *reason;  /* yajl's, for stopping */
    struct block blocks; /* the head of the list */
    jmp_buf out_of_memory;
};

static void *link_block(struct run *run, struct block *block)
{
    if (block == NULL)
        longjmp(run->out_of_memory, 1);
    block->next = run->blocks.next;
    block->previous = &run->blocks;
    if (block->next != NULL)
        block->next->previous = block;
    run->blocks.next = block;
    return block + 1;
}

static void unlink_block(struct block *block)
{
    block->previous->next = block->next;
    if (block->next != NULL)
        block->next->previous = block->previous;
}

static void *yajl_allocate(void *context, size_t bytes)
{
    struct run *run = context;
    if (bytes > SIZE_MAX - sizeof(struct block))
        longjmp(run->out_of_memory, 1);
    return link_block(run, nri_alloc_raw(&run->parser.arena->alloc, sizeof(struct block) + bytes));
}

static void yajl_release(void *context, void *memory)
{
    struct run *run = context;
    if (memory == NULL)
        return;
    struct block *block = (struct block *)memory - 1;
    unlink_block(block);
    nri_alloc_release(&run->parser.arena->alloc, block);
}

static void *yajl_resize(void *context, void *memory, size_t bytes)
{
    struct run *run = context;
    if (memory == NULL)
        return yajl_allocate(context, bytes);
    if (bytes > SIZE_MAX - sizeof(struct block))
        longjmp(run->out_of_memory, 1);
    struct block *block = (struct block *)memory - 1;
    unlink_block(block);
    struct block *resized =
        nri_alloc_resize(&run->parser.arena->alloc, block, sizeof *block + bytes);
    if (resized == NULL)
        (void)link_block(run, block); /* the old one is still there, and must be found */
    return link_block(run, resized);
}

static void release_blocks(struct run *run)
{
    while (run->blocks.next != NULL)
        yajl_release(run, run->blocks.next + 1);
}

/* ---- yajl's events ---- */

/* Notes where the token ends. Only a number can be finished by the end of the text. */
static struct nri_json_parser *token(void *context)
{
    struct run *run = context;
    run->parser.token_end =
        run->finishing ? run->parser.length : yajl_get_bytes_consumed(run->yajl);
    return &run->parser;
}

static int on_null(void *context)
{
    return nri_json_on_null(token(context));
}

static int on_boolean(void *context, int value)
{
    return nri_json_on_bool(token(context), value != 0);
}

static int on_number(void *context, const char *text, size_t length)
{
    return nri_json_on_number(token(context), text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    return nri_json_on_string(token(context), (const char *)text, length);
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    return nri_json_on_key(token(context), (const char *)text, length);
}

static int on_begin_object(void *context)
{
    return nri_json_on_begin(token(context), NRI_JSON_OBJECT);
}

static int on_begin_array(void *context)
{
    return nri_json_on_begin(token(context), NRI_JSON_ARRAY);
}

static int on_end(void *context)
{
    return nri_json_on_end(token(context));
}

/* All numbers come as their text: with the number function set, yajl calls neither of the two in
 * front of it. */
static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_begin_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_begin_array,
    .yajl_end_array = on_end,
};

/* ---- the run ---- */

static bool run_yajl(struct run *run)
{
    yajl_alloc_funcs functions = {yajl_allocate, yajl_resize, yajl_release, run};
    const struct nri_json_parser *parser = &run->parser;
    if (setjmp(run->out_of_memory) != 0) {
        nri_json_fail(&run->parser, run->parser.offset, NRI_E_NOMEM, "out of memory");
        return false;
    }
    run->yajl = yajl_alloc(&callbacks, &functions, run);
    yajl_config(run->yajl, yajl_dont_validate_strings, 1); /* it takes surrogates for UTF-8 */
    if (yajl_parse(run->yajl, (const unsigned char *)parser->text, parser->length) ==
        yajl_status_ok) {
        run->finishing = true;
        if (yajl_complete_parse(run->yajl) == yajl_status_ok)
            return true;
    }
    if (run->parser.failure == 0)
        run->reason = (const char *)yajl_get_error(run->yajl, 0, NULL, 0);
    return false;
}

static int check_text(struct nri_json_parser *parser)
{
    size_t bad;
    if (parser->length > parser->limits.max_bytes)
        return parser->failure = nri_error_set(
                   parser->error, NRI_E_LIMIT, "%s: %zu bytes are more than the limit of %zu",
                   parser->name, parser->length, parser->limits.max_bytes);
    if (!nri_utf8_valid(parser->text, parser->length, &bad))
        return nri_json_fail(parser, bad, NRI_E_UTF8, "the byte 0x%02x is no UTF-8 here",
                             (unsigned)(unsigned char)parser->text[bad]);
    return 0;
}

static int parse(struct run *run)
{
    struct nri_json_parser *parser = &run->parser;
    int rc = check_text(parser);
    if (rc != 0)
        return rc;
    bool accepted = run_yajl(run);
    if (parser->failure != 0)
        return parser->failure;
    if (!accepted)
        return nri_json_explain(parser, run->reason == NULL ? "syntax error" : run->reason);
    /* yajl accepts the beginning of a token behind the document. */
    if (!nri_json_skip(parser, false))
        return parser->failure;
    if (parser->document == NULL || parser->offset != parser->length)
        return nri_json_explain(parser, "syntax error");
    return 0;
}

static void use_limits(struct nri_json_limits *to, const struct nri_json_limits *from)
{
    if (from != NULL)
        *to = *from;
    if (to->max_depth == 0)
        to->max_depth = DEFAULT_DEPTH;
    if (to->max_bytes == 0)
        to->max_bytes = DEFAULT_BYTES;
    if (to->max_values == 0)
        to->max_values = DEFAULT_VALUES;
    if (to->max_values > UINT32_MAX / 4) /* positions in lists are kept in 32 bits */
        to->max_values = UINT32_MAX / 4;
}

int nri_json_parse(struct nri_arena *arena, const char *text, size_t length,
                   const struct nri_json_limits *limits, const char *name,
                   struct nri_json **document, struct nri_error *error)
{
    struct run run = {
        .parser = {.arena = arena,
                   .name = name == NULL ? "JSON" : name,
                   .error = error,
                   .text = length == 0 ? "" : text,
                   .length = length,
                   .line = 1},
    };
    struct nri_json_parser *parser = &run.parser;
    use_limits(&parser->limits, limits);
    int rc = parse(&run);
    release_blocks(&run);
    nri_alloc_release(&arena->alloc, parser->pending);
    nri_alloc_release(&arena->alloc, parser->open);
    *document = rc == 0 ? parser->document : NULL;
    return rc;
}
