/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/parts.h"

#include <string.h>

#include "model/model.h"
#include "wire/message.h"
#include "wire/varint.h"

/* Tags of SynchronizeRequest: fields 1 and 2 are messages, 3 is a bool. */
#define TAG_POD       0x0a
#define TAG_CONTAINER 0x12
#define TAG_MORE      0x18
#define MORE_SIZE     2u
#define HEAD_SIZE     (1u + 10u) /* a tag and the longest length */

struct nri_parts *nri_parts_new(const struct nri_alloc *alloc, size_t max_part, size_t max_bytes,
                                struct nri_error *error)
{
    struct nri_parts *parts = nri_alloc_zero(alloc, sizeof *parts);

    if (parts == NULL)
        return NULL;
    parts->alloc = *alloc;
    parts->references = 1;
    parts->max_part = max_part;
    parts->max_bytes = max_bytes;
    parts->error = error;
    return parts;
}

struct nri_parts *nri_parts_unref(struct nri_parts *parts)
{
    if (parts == NULL || --parts->references > 0)
        return NULL;
    const struct nri_alloc alloc = parts->alloc;
    for (size_t i = 0; i < parts->count; i++)
        nri_buf_fini(&parts->parts[i]);
    nri_alloc_release(&alloc, parts->parts);
    nri_alloc_release(&alloc, parts);
    return NULL;
}

/* ---- filling ---- */

static int fail(struct nri_parts *parts, int code, const char *text)
{
    if (parts->error->code == 0)
        nri_error_set(parts->error, code, "%s", text);
    return code;
}

static struct nri_buf *add_part(struct nri_parts *parts)
{
    if (parts->count == parts->room) {
        const size_t room = parts->room == 0 ? 4 : 2 * parts->room;
        struct nri_buf *grown = nri_alloc_resize(&parts->alloc, parts->parts, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        parts->parts = grown;
        parts->room = room;
    }
    struct nri_buf *part = &parts->parts[parts->count++];
    nri_buf_init(part, &parts->alloc, parts->max_part);
    return part;
}

/* The part that `size` bytes more fit into. */
static struct nri_buf *part_for(struct nri_parts *parts, size_t size)
{
    if (parts->count > 0) {
        struct nri_buf *last = &parts->parts[parts->count - 1];
        if (nri_buf_size(last) + size + MORE_SIZE <= parts->max_part)
            return last;
    }
    return add_part(parts);
}

static int check_size(struct nri_parts *parts, const char *what, const char *id, size_t size)
{
    if (size + MORE_SIZE > parts->max_part) {
        if (parts->error->code == 0)
            nri_error_set(parts->error, NRI_E_LIMIT,
                          "Synchronize: %s %.64s has %zu bytes, and a message has room for %zu",
                          what, id, size, parts->max_part - MORE_SIZE);
        return NRI_E_LIMIT;
    }
    if (size > parts->max_bytes - parts->bytes) {
        if (parts->error->code == 0)
            nri_error_set(parts->error, NRI_E_LIMIT,
                          "Synchronize: %s %.64s exceeds max_sync_bytes, %zu", what, id,
                          parts->max_bytes);
        return NRI_E_LIMIT;
    }
    return 0;
}

static int add(struct nri_parts *parts, uint8_t tag, const char *id,
               const ProtobufCMessage *message)
{
    uint8_t head[HEAD_SIZE] = {tag};
    uint8_t *room;
    size_t size;

    int code = nri_message_size(message, &size, parts->error);
    if (code != 0)
        return code;
    const size_t head_size = (size_t)(nri_varint_write(head + 1, size) - head);
    code = check_size(parts, tag == TAG_POD ? "pod sandbox" : "container", id, head_size + size);
    if (code != 0)
        return code;
    struct nri_buf *part = part_for(parts, head_size + size);
    if (part == NULL || nri_buf_reserve(part, head_size + size, &room) != 0)
        return fail(parts, NRI_E_NOMEM, "out of memory for Synchronize");
    memcpy(room, head, head_size);
    nri_message_encode(message, room + head_size);
    nri_buf_commit(part, head_size + size);
    parts->bytes += head_size + size;
    return 0;
}

int nri_enumeration_add_pod(nri_enumeration *list, const nri_pod *pod)
{
    struct nri_parts *parts = (struct nri_parts *)list;

    if (list == NULL || pod == NULL)
        return NRI_E_INVALID;
    const int code = add(parts, TAG_POD, nri_pod_id(pod), (const ProtobufCMessage *)pod);
    parts->pods += code == 0 ? 1 : 0;
    return code;
}

int nri_enumeration_add_container(nri_enumeration *list, const nri_container *container)
{
    struct nri_parts *parts = (struct nri_parts *)list;

    if (list == NULL || container == NULL)
        return NRI_E_INVALID;
    const int code =
        add(parts, TAG_CONTAINER, nri_container_id(container), (const ProtobufCMessage *)container);
    parts->containers += code == 0 ? 1 : 0;
    return code;
}

int nri_parts_finish(struct nri_parts *parts)
{
    static const uint8_t more[MORE_SIZE] = {TAG_MORE, 1};

    if (parts->count == 0 && add_part(parts) == NULL)
        return fail(parts, NRI_E_NOMEM, "out of memory for Synchronize");
    for (size_t i = 0; i + 1 < parts->count; i++) {
        if (nri_buf_append(&parts->parts[i], more, sizeof more) != 0)
            return fail(parts, NRI_E_NOMEM, "out of memory for Synchronize");
    }
    return 0;
}

/* ---- reading ---- */

size_t nri_parts_count(const struct nri_parts *parts)
{
    return parts->count;
}

void nri_parts_get(const struct nri_parts *parts, size_t index, const uint8_t **bytes,
                   size_t *count)
{
    const struct nri_buf *part = &parts->parts[index];

    *count = nri_buf_size(part);
    *bytes = *count == 0 ? (const uint8_t *)"" : part->data + part->start;
}
