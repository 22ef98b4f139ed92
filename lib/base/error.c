/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name, *text;
    int grpc;
    unsigned traits;
} codes[] = {
#define ROW(code, text, grpc, traits) [-(code)] = {#code, text, grpc, traits},
    NRI_ERROR_CODES(ROW)
#undef ROW
};

#define CODE_COUNT ((int)(sizeof codes / sizeof codes[0]))

/* Handed out when there is no memory for an error. Never written to: nri_error_free() looks at
 * `owned` first. An error without the room behind its text, which every program would carry. */
static const struct bare_error {
    int code;
    bool owned;
    struct nri_alloc alloc;
    struct nri_error_place place;
    char text[sizeof "out of memory"];
} no_memory = {.code = NRI_E_NOMEM, .owned = false, .text = "out of memory"};

#define SAME_PLACE(member)                                                                         \
    _Static_assert(offsetof(struct bare_error, member) == offsetof(struct nri_error, member),      \
                   "a bare error begins as an error does")
SAME_PLACE(code);
SAME_PLACE(owned);
SAME_PLACE(alloc);
SAME_PLACE(place);
SAME_PLACE(text);

static bool is_known(int code)
{
    return code <= 0 && code > -CODE_COUNT;
}

const char *nri_strerror(int code)
{
    return is_known(code) ? codes[-code].text : "unknown error";
}

const char *nri_error_name(int code)
{
    return is_known(code) ? codes[-code].name : "NRI_E_?";
}

bool nri_error_is_code(int code)
{
    return is_known(code);
}

bool nri_error_is_fatal(int code)
{
    return is_known(code) && (codes[-code].traits & NRI_ERROR_FATAL) != 0;
}

bool nri_error_is_retriable(int code)
{
    return is_known(code) && (codes[-code].traits & NRI_ERROR_RETRIABLE) != 0;
}

int nri_error_grpc(int code)
{
    return is_known(code) ? codes[-code].grpc : NRI_GRPC_UNKNOWN;
}

int nri_error_from_grpc(int grpc)
{
    switch (grpc) {
    case NRI_GRPC_OK:
        return NRI_OK;
    case NRI_GRPC_DEADLINE_EXCEEDED:
        return NRI_E_TIMEOUT;
    case NRI_GRPC_RESOURCE_EXHAUSTED:
        return NRI_E_LIMIT;
    case NRI_GRPC_UNIMPLEMENTED:
        return NRI_E_UNSUPPORTED;
    default:
        return NRI_E_REJECTED;
    }
}

int nri_error_get_code(const nri_error *error)
{
    return error == NULL ? NRI_OK : error->code;
}

const char *nri_error_get_text(const nri_error *error)
{
    return error == NULL ? "" : error->text;
}

nri_error *nri_error_free(nri_error *error)
{
    if (error != NULL && error->owned) {
        /* The allocator is a member of what it releases. */
        struct nri_alloc alloc = error->alloc;
        nri_alloc_release(&alloc, error);
    }
    return NULL;
}

size_t nri_error_format(char text[NRI_ERROR_TEXT_SIZE], const char *format, va_list arguments)
{
    int wanted = vsnprintf(text, NRI_ERROR_TEXT_SIZE, format, arguments);
    size_t length = wanted < 0 ? 0 : (size_t)wanted;
    if (length >= NRI_ERROR_TEXT_SIZE)
        length = nri_utf8_cut(text, NRI_ERROR_TEXT_SIZE - 1);
    text[length] = '\0';
    nri_text_make_line(text, length);
    return length;
}

int nri_error_set(struct nri_error *error, int code, const char *format, ...)
{
    if (error == NULL)
        return code;
    /* Not straight into the error: its present text may be among the arguments. */
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    size_t length = nri_error_format(text, format, arguments);
    va_end(arguments);
    error->code = code;
    memcpy(error->text, text, length + 1);
    error->place = (struct nri_error_place){0};
    return code;
}

int nri_error_prefix(struct nri_error *error, const char *format, ...)
{
    if (error == NULL)
        return NRI_OK;
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    return nri_error_set(error, error->code, "%s: %s", text, error->text);
}

void nri_error_clear(struct nri_error *error)
{
    if (error == NULL)
        return;
    error->code = NRI_OK;
    error->text[0] = '\0';
    error->place = (struct nri_error_place){0};
}

void nri_error_copy(struct nri_error *to, const struct nri_error *from)
{
    if (to == NULL || to == from)
        return;
    if (from == NULL) {
        nri_error_clear(to);
        return;
    }
    to->code = from->code;
    to->place = from->place;
    memcpy(to->text, from->text, strlen(from->text) + 1);
}

void nri_error_export(const struct nri_error *error, const struct nri_alloc *alloc, nri_error **out)
{
    if (out == NULL)
        return;
    *out = NULL;
    if (error == NULL || error->code == NRI_OK)
        return;
    struct nri_error *copy = nri_alloc_zero(alloc, sizeof *copy);
    if (copy == NULL) {
        *out = (nri_error *)(uintptr_t)&no_memory;
        return;
    }
    nri_error_copy(copy, error);
    copy->owned = true;
    copy->alloc = *alloc;
    *out = copy;
}
