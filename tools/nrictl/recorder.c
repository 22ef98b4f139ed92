/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <string.h>

#include <nri/version.h>

#include "base/text.h"
#include "memory.h"
#include "print.h"

/* ---- notes: the JSON of records that are no bytes ---- */

static void put_note(struct recorder *recorder, enum recording_kind kind, uint32_t connection,
                     struct print_json *note)
{
    /* Without memory the record is there, and says nothing. */
    const bool made = nri_json_writer_end(&note->writer) == 0;
    recording_file_put(recorder->file, kind, RECORDING_NO_DIRECTION, connection,
                       made ? memory_text(&note->buf) : NULL, made ? nri_buf_size(&note->buf) : 0);
    nri_buf_fini(&note->buf);
}

/* A program's path may be any bytes, JSON takes UTF-8. */
static void note_peer(struct print_json *note, const char *key, const struct proxy_peer *peer)
{
    print_json_key(note, key);
    nri_json_begin_object(&note->writer);
    if (peer->pid >= 0) {
        print_json_number(note, "pid", (uint64_t)peer->pid);
        print_json_number(note, "uid", (uint64_t)peer->uid);
    }
    if (peer->program[0] != '\0' && nri_utf8_valid(peer->program, strlen(peer->program), NULL))
        print_json_text(note, "program", peer->program);
    nri_json_end_object(&note->writer);
}

static void note_path(struct print_json *note, const char *key, const char *path)
{
    if (path != NULL && nri_utf8_valid(path, strlen(path), NULL))
        print_json_text(note, key, path);
}

/* ---- the proxy's watch ---- */

static void opened(void *user, const struct proxy_connection *connection)
{
    struct recorder *recorder = user;
    struct print_json note;
    recorder->connections++;
    print_json_begin(&note, 0);
    nri_json_begin_object(&note.writer);
    print_json_text(&note, "origin", connection->origin);
    note_peer(&note, "plugin", &connection->plugin);
    note_peer(&note, "runtime", &connection->runtime);
    nri_json_end_object(&note.writer);
    put_note(recorder, RECORDING_OPEN, connection->number, &note);
}

static void bytes(void *user, uint32_t connection, enum recording_direction direction,
                  const uint8_t *data, size_t count)
{
    struct recorder *recorder = user;
    *(direction == RECORDING_TO_RUNTIME ? &recorder->to_runtime : &recorder->to_plugin) += count;
    recording_file_put(recorder->file, RECORDING_BYTES, direction, connection, data, count);
}

static void closed(void *user, uint32_t connection, enum recording_direction direction)
{
    struct recorder *recorder = user;
    recording_file_put(recorder->file, RECORDING_CLOSED, direction, connection, NULL, 0);
}

static void ended(void *user, uint32_t connection, const char *why)
{
    struct recorder *recorder = user;
    struct print_json note;
    print_json_begin(&note, 0);
    nri_json_begin_object(&note.writer);
    if (why[0] != '\0')
        print_json_text(&note, "why", why);
    nri_json_end_object(&note.writer);
    put_note(recorder, RECORDING_END, connection, &note);
    if (recorder->ended != NULL)
        recorder->ended(recorder->user);
}

static void refused(void *user, const char *why)
{
    struct recorder *recorder = user;
    if (recorder->refused++ == 0)
        (void)nrictl_fail(recorder->ctl, 0, "a plugin came and was sent away: %s", why);
}

/* ---- its life ---- */

static void put_start(struct recorder *recorder, const struct proxy_options *proxy)
{
    struct print_json note;
    print_json_begin(&note, 0);
    nri_json_begin_object(&note.writer);
    print_json_text(&note, "nrictl", nri_version());
    note_path(&note, "listen", proxy->listen);
    note_path(&note, "connect", proxy->connect);
    nri_json_end_object(&note.writer);
    put_note(recorder, RECORDING_START, 0, &note);
}

static void nothing(void *user)
{
    (void)user;
}

int recorder_open(struct recorder *recorder, const struct proxy_options *proxy,
                  const struct recording_file_options *file)
{
    static const struct proxy_watch watch = {opened, bytes, closed, ended, refused};
    struct nri_error error;
    int code = recording_file_open(&recorder->file, recorder->loop, file, &error);
    if (code != 0)
        return nrictl_fail(recorder->ctl,
                           code == NRI_E_PROTOCOL || code == NRI_E_NOT_FOUND ? NRICTL_USAGE
                                                                             : NRICTL_ENVIRONMENT,
                           "%s", error.text);
    code = proxy_new(&recorder->proxy, recorder->loop, proxy, &watch, recorder, &error);
    if (code != 0) {
        recording_file_close(recorder->file, nothing, NULL);
        return nrictl_fail(recorder->ctl,
                           code == NRI_E_PATH_TOO_LONG || code == NRI_E_NOT_SOCKET
                               ? NRICTL_USAGE
                               : NRICTL_ENVIRONMENT,
                           "%s", error.text);
    }
    put_start(recorder, proxy);
    return NRICTL_OK;
}

static void proxy_closed(void *user)
{
    struct recorder *recorder = user;
    recorder->proxy = NULL;
    recording_file_close(recorder->file, recorder->closed, recorder->closed_user);
}

void recorder_close(struct recorder *recorder, void (*done)(void *user), void *user)
{
    recorder->closed = done;
    recorder->closed_user = user;
    proxy_close(recorder->proxy, proxy_closed, recorder);
}
