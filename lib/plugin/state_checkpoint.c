/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/state_checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

#define MAGIC       "nri-state "
#define NOTES       "notes"
#define HEADER_SIZE 40u /* with the newline */
#define HEADER_ROOM 64u /* of one with any length, which then is none */
#define HEADER      MAGIC "%u %010" PRIu64 " %016" PRIx64 "\n"

/* The first line of what has `count` bytes behind it. */
static void make_header(char header[HEADER_ROOM], const uint8_t *body, size_t count)
{
    static const uint64_t key[2] = {0, 0};
    (void)snprintf(header, HEADER_ROOM, HEADER, NRI_STATE_CHECKPOINT_VERSION, (uint64_t)count,
                   nri_hash(key, body, count));
}

/* ---- writing ---- */

void nri_state_checkpoint_begin(struct nri_state_checkpoint *checkpoint, struct nri_buf *out)
{
    uint8_t *room;
    checkpoint->out = out;
    checkpoint->failure = nri_buf_reserve(out, HEADER_SIZE, &room);
    if (checkpoint->failure == 0) {
        memset(room, ' ', HEADER_SIZE);
        nri_buf_commit(out, HEADER_SIZE);
    }
    nri_json_writer_init(&checkpoint->json, out, 0);
    nri_json_begin_object(&checkpoint->json);
    nri_json_write_key(&checkpoint->json, NOTES, strlen(NOTES));
    nri_json_begin_object(&checkpoint->json);
}

void nri_state_checkpoint_note(struct nri_state_checkpoint *checkpoint, const char *id,
                               size_t id_length, const char *note, size_t length)
{
    nri_json_write_key(&checkpoint->json, id, id_length);
    nri_json_write_string(&checkpoint->json, note, length);
}

int nri_state_checkpoint_end(struct nri_state_checkpoint *checkpoint)
{
    struct nri_buf *out = checkpoint->out;
    char header[HEADER_ROOM];
    nri_json_end_object(&checkpoint->json);
    nri_json_end_object(&checkpoint->json);
    const int written = nri_json_writer_end(&checkpoint->json);
    if (checkpoint->failure == 0)
        checkpoint->failure = written;
    if (checkpoint->failure == 0)
        checkpoint->failure = nri_buf_append(out, "\n", 1);
    if (checkpoint->failure != 0)
        return checkpoint->failure;
    uint8_t *bytes = out->data + out->start;
    make_header(header, bytes + HEADER_SIZE, nri_buf_size(out) - HEADER_SIZE);
    memcpy(bytes, header, HEADER_SIZE);
    return 0;
}

/* ---- reading ---- */

static int damaged(struct nri_error *error, const char *how)
{
    return nri_error_set(error, NRI_E_SYNTAX, "%s", how);
}

/* The version in front of the first blank behind the magic; 0 for none that could be one. */
static uint64_t read_version(const uint8_t *bytes, size_t count)
{
    uint64_t version = 0;
    for (size_t i = 0; i < count && bytes[i] >= '0' && bytes[i] <= '9' && version < UINT32_MAX; i++)
        version = version * 10 + (uint64_t)(bytes[i] - '0');
    return version;
}

static int check_header(const uint8_t *bytes, size_t count, struct nri_error *error)
{
    const size_t magic = strlen(MAGIC);
    char header[HEADER_ROOM];
    if (count < magic || memcmp(bytes, MAGIC, magic) != 0)
        return damaged(error, "it does not begin with \"" MAGIC "\"");
    const uint64_t version = read_version(bytes + magic, count - magic);
    if (version > NRI_STATE_CHECKPOINT_VERSION)
        return nri_error_set(error, NRI_E_UNSUPPORTED,
                             "it has version %" PRIu64 "; this libnri knows %u", version,
                             NRI_STATE_CHECKPOINT_VERSION);
    if (count < HEADER_SIZE)
        return damaged(error, "it is cut off in its first line");
    make_header(header, bytes + HEADER_SIZE, count - HEADER_SIZE);
    if (memcmp(bytes, header, HEADER_SIZE) != 0)
        return damaged(error, "its length or checksum is not what its first line says");
    return 0;
}

/* The object of notes, if the document is what was written. */
static const struct nri_json *notes_of(const struct nri_json *document)
{
    const struct nri_json *notes = nri_json_get(document, NOTES);
    if (nri_json_type(notes) != NRI_JSON_OBJECT || nri_json_count(document) != 1)
        return NULL;
    for (size_t i = 0; i < nri_json_count(notes); i++) {
        const char *key;
        size_t length;
        if (nri_json_type(nri_json_member_at(notes, i, &key, &length)) != NRI_JSON_STRING ||
            length == 0)
            return NULL;
    }
    return notes;
}

int nri_state_checkpoint_read(const uint8_t *bytes, size_t count, const struct nri_alloc *alloc,
                              const uint64_t seed[2],
                              int (*note)(void *user, const char *id, size_t id_length,
                                          const char *note, size_t length),
                              void *user, struct nri_error *error)
{
    struct nri_arena arena;
    struct nri_json *document = NULL;
    int code = check_header(bytes, count, error);
    if (code != 0)
        return code;
    /* No value is shorter than a byte; the file's size bounds them all. */
    const struct nri_json_limits limits = {
        .max_bytes = count, .max_values = count, .seed = {seed[0], seed[1]}};
    nri_arena_init(&arena, alloc, 0, SIZE_MAX);
    code = nri_json_parse(&arena, (const char *)bytes + HEADER_SIZE, count - HEADER_SIZE, &limits,
                          "checkpoint", &document, error);
    if (code != 0 && code != NRI_E_NOMEM)
        code = damaged(error, error != NULL ? error->text : ""); /* whatever JSON calls it */
    const struct nri_json *notes = code == 0 ? notes_of(document) : NULL;
    if (code == 0 && notes == NULL)
        code = damaged(error, "it has no object of notes, or one that holds something else");
    for (size_t i = 0; code == 0 && i < nri_json_count(notes); i++) {
        const char *id;
        size_t id_length, length;
        const struct nri_json *value = nri_json_member_at(notes, i, &id, &id_length);
        const char *text = nri_json_string(value, &length);
        code = note(user, id, id_length, text, length);
    }
    nri_arena_fini(&arena);
    return code;
}
