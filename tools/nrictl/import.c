/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "file.h"
#include "memory.h"
#include "recording_file.h"
#include "json/json.h"

#define MOST_BYTES ((size_t)1 << 30)
#define SUFFIX     ".jsonl"

struct import {
    struct nrictl *ctl;
    const char *path;
    uint32_t number;
    import_sink sink;
    void *user;
    char *lines, *bytes[2]; /* by direction - 1 */
    size_t length, sizes[2];
    size_t line;    /* from 1 */
    uint64_t epoch; /* ns since 1970 of the capture's 0 */
    uint64_t time;  /* of the last line */
    bool opened;
};

static int wrong(const struct import *import, const char *what)
{
    return nrictl_fail(import->ctl, NRICTL_USAGE, "%s:%zu: %s", import->path, import->line, what);
}

static int give(const struct import *import, enum recording_kind kind,
                enum recording_direction direction, const void *data, size_t size)
{
    struct recording_record record = {
        .time = import->time, .kind = kind, .direction = direction, .connection = import->number};
    int code = NRICTL_OK;
    do {
        record.data = data;
        record.size = size < RECORDING_MOST_DATA ? (uint32_t)size : RECORDING_MOST_DATA;
        code = import->sink(import->user, &record);
        size -= record.size;
        data = record.size > 0 ? (const uint8_t *)data + record.size : data;
    } while (code == NRICTL_OK && size > 0);
    return code;
}

/* ---- a line ---- */

/* Seconds as nanoseconds; false for what is no time. */
static bool take_time(const struct nri_json *line, const char *key, uint64_t *nanoseconds)
{
    double seconds;
    if (nri_json_double(nri_json_get(line, key), &seconds) != 0 || !(seconds >= 0) || seconds > 9e9)
        return false;
    *nanoseconds = (uint64_t)(seconds * 1e6 + 0.5) * 1000;
    return true;
}

static int take_piece(const struct import *import, const struct nri_json *line,
                      enum recording_direction direction)
{
    const size_t size = import->sizes[direction - 1];
    uint64_t offset, length;
    if (nri_json_uint64(nri_json_get(line, "off"), &offset) != 0 ||
        nri_json_uint64(nri_json_get(line, "len"), &length) != 0)
        return wrong(import, "\"off\" and \"len\" are to be whole numbers");
    if (offset > size || length > size - offset)
        return wrong(import, "the piece is not in the .bin file, which is too short");
    return give(import, RECORDING_BYTES, direction, import->bytes[direction - 1] + offset,
                (size_t)length);
}

static int take_line(struct import *import, const struct nri_json *line)
{
    static const char note[] = "{\"origin\":\"imported\"}";
    const char *what = nri_json_string(nri_json_get(line, "dir"), NULL);
    uint64_t at;
    if (!take_time(line, "t", &at))
        return wrong(import, "\"t\" is to be the seconds since the beginning");
    if (strcmp(what, "open") == 0) {
        if (import->opened || !take_time(line, "wall", &import->epoch))
            return wrong(import, "\"open\" is to be the first line, with the time as \"wall\"");
        import->opened = true;
        import->time = import->epoch;
        return give(import, RECORDING_OPEN, RECORDING_NO_DIRECTION, note, sizeof note - 1);
    }
    if (!import->opened)
        return wrong(import, "the first line is to be of \"dir\": \"open\"");
    import->time = import->epoch + at;
    if (strcmp(what, "p2r") == 0)
        return take_piece(import, line, RECORDING_TO_RUNTIME);
    if (strcmp(what, "r2p") == 0)
        return take_piece(import, line, RECORDING_TO_PLUGIN);
    if (strcmp(what, "eof-p") == 0)
        return give(import, RECORDING_CLOSED, RECORDING_TO_RUNTIME, NULL, 0);
    if (strcmp(what, "eof-r") == 0)
        return give(import, RECORDING_CLOSED, RECORDING_TO_PLUGIN, NULL, 0);
    return wrong(import, "\"dir\" is one of open, p2r, r2p, eof-p and eof-r");
}

static int parse_line(struct import *import, struct nri_arena *arena, const char *text,
                      size_t length)
{
    const struct nri_json_limits limits = {.max_depth = 4, .max_bytes = 65536};
    struct nri_json *line;
    struct nri_error error;
    nri_arena_reset(arena);
    if (nri_json_parse(arena, text, length, &limits, import->path, &line, &error) != 0)
        return wrong(import, error.text);
    if (nri_json_type(line) != NRI_JSON_OBJECT)
        return wrong(import, "a line is to be a JSON object");
    return take_line(import, line);
}

static int take_lines(struct import *import)
{
    const char *at = import->lines, *const end = import->lines + import->length;
    struct nri_arena arena;
    int code = NRICTL_OK;
    memory_arena(&arena, (size_t)16 << 20);
    while (code == NRICTL_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop != NULL ? stop : end) - at);
        import->line++;
        if (length > 0)
            code = parse_line(import, &arena, at, length);
        at += length + 1;
    }
    nri_arena_fini(&arena);
    if (code == NRICTL_OK && !import->opened)
        code = wrong(import, "there is no line of \"dir\": \"open\"");
    return code == NRICTL_OK ? give(import, RECORDING_END, RECORDING_NO_DIRECTION, NULL, 0) : code;
}

/* ---- the files ---- */

static int read_bytes(struct import *import, const char *suffix, size_t index)
{
    char *path = NULL;
    const size_t stem = strlen(import->path) - strlen(SUFFIX);
    if (asprintf(&path, "%.*s%s", (int)stem, import->path, suffix) < 0)
        return nrictl_fail(import->ctl, NRICTL_ENVIRONMENT, "no memory");
    const int code =
        file_read(import->ctl, path, MOST_BYTES, &import->bytes[index], &import->sizes[index]);
    free(path);
    return code;
}

int import_capture(struct nrictl *ctl, const char *path, uint32_t number, import_sink sink,
                   void *user)
{
    struct import import = {.ctl = ctl, .path = path, .number = number, .sink = sink, .user = user};
    const size_t length = strlen(path);
    if (length < sizeof SUFFIX || length > 4096 ||
        strcmp(path + length - strlen(SUFFIX), SUFFIX) != 0)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "%s: a capture is named by its index, NAME" SUFFIX
                           " (unpacked, with the two .bin files beside it)",
                           path);
    int code = file_read(ctl, path, MOST_BYTES, &import.lines, &import.length);
    if (code == NRICTL_OK)
        code = read_bytes(&import, ".p2r.bin", 0);
    if (code == NRICTL_OK)
        code = read_bytes(&import, ".r2p.bin", 1);
    if (code == NRICTL_OK)
        code = take_lines(&import);
    free(import.lines);
    free(import.bytes[0]);
    free(import.bytes[1]);
    return code;
}

/* ---- into a recording ---- */

struct target {
    struct nrictl *ctl;
    uv_loop_t loop;
    struct recording_file *file;
    bool failed;
};

static int put(void *user, const struct recording_record *record)
{
    struct target *target = user;
    recording_file_put_record(target->file, record);
    /* A capture waits for the disk, other than a session. */
    while (recording_file_waiting(target->file) > (size_t)8 << 20 && !target->failed)
        (void)uv_run(&target->loop, UV_RUN_ONCE);
    return target->failed ? NRICTL_ENVIRONMENT : NRICTL_OK;
}

static void trouble(void *user, const char *what)
{
    struct target *target = user;
    target->failed = true;
    (void)nrictl_fail(target->ctl, 0, "%s", what);
}

static void nothing(void *user)
{
    (void)user;
}

int import_to_file(struct nrictl *ctl, const char *const *captures, size_t count, const char *path)
{
    static const char note[] = "{\"origin\":\"imported\"}";
    struct target target = {.ctl = ctl};
    const struct recording_file_options options = {
        .path = path, .trouble = trouble, .user = &target};
    struct nri_error error;
    if (uv_loop_init(&target.loop) != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no loop");
    const int opened = recording_file_open(&target.file, &target.loop, &options, &error);
    int code = NRICTL_OK;
    if (opened != 0) {
        code = nrictl_fail(ctl, opened == NRI_E_NOMEM ? NRICTL_ENVIRONMENT : NRICTL_USAGE, "%s",
                           error.text);
    } else {
        recording_file_put(target.file, RECORDING_START, RECORDING_NO_DIRECTION, 0, note,
                           sizeof note - 1);
        for (size_t i = 0; i < count && code == NRICTL_OK; i++)
            code = import_capture(ctl, captures[i], (uint32_t)i + 1, put, &target);
        recording_file_close(target.file, nothing, NULL);
        (void)uv_run(&target.loop, UV_RUN_DEFAULT);
    }
    (void)uv_loop_close(&target.loop);
    return code == NRICTL_OK && target.failed ? NRICTL_ENVIRONMENT : code;
}
