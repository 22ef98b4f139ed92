/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <string.h>

#include "base/text.h"
#include "memory.h"
#include "print.h"

struct nri_json *document_bytes(struct nri_arena *arena, const char *text, size_t length)
{
    struct nri_json *value = nri_json_new_string(arena, text, length);
    char *copy;
    if (value != NULL || (copy = nri_arena_alloc(arena, length + 1)) == NULL)
        return value;
    for (size_t i = 0; i < length; i++)
        copy[i] = (unsigned char)text[i] < 0x80 && text[i] != '\0' ? text[i] : '?';
    return nri_json_new_string(arena, copy, length);
}

bool document_set(struct nri_arena *arena, struct nri_json *object, const char *key,
                  const struct nri_json *value)
{
    /* It is only read from there. */
    return object != NULL && value != NULL &&
           nri_json_set(arena, object, key, (struct nri_json *)(uintptr_t)value) == 0;
}

bool document_set_text(struct nri_arena *arena, struct nri_json *object, const char *key,
                       const char *text)
{
    return document_set(arena, object, key, document_bytes(arena, text, strlen(text)));
}

bool document_set_number(struct nri_arena *arena, struct nri_json *object, const char *key,
                         uint64_t number)
{
    return document_set(arena, object, key, nri_json_new_uint64(arena, number));
}

bool document_append(struct nri_arena *arena, struct nri_json *array, struct nri_json *value)
{
    return array != NULL && value != NULL && nri_json_append(arena, array, value) == 0;
}

int document_print(struct nrictl *ctl, const struct nri_json *document)
{
    struct nri_buf text;
    memory_buf(&text, SIZE_MAX);
    const int code = document != NULL ? nri_json_write(document, 2, &text) : NRI_E_NOMEM;
    if (code == 0) {
        print_document(ctl->out, memory_text(&text), nri_buf_size(&text));
        (void)fputc('\n', ctl->out);
    }
    nri_buf_fini(&text);
    return code == 0 ? NRICTL_OK
                     : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no JSON: %s", nri_strerror(code));
}
