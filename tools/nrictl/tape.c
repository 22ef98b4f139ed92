/* SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payload.h"

/* ---- messages ---- */

static void copy_text(char *to, size_t room, struct session_text text)
{
    const size_t length = text.length < room - 1 ? text.length : room - 1;
    memcpy(to, text.text, length);
    to[length] = '\0';
}

static bool has_room(struct tape *tape, size_t bytes)
{
    if (bytes > TAPE_MOST_BYTES - tape->bytes)
        return false;
    if (tape->count < tape->capacity)
        return true;
    const size_t capacity = tape->capacity == 0 ? 64 : 2 * tape->capacity;
    struct tape_message *list = reallocarray(tape->messages, capacity, sizeof *list);
    if (list == NULL)
        return false;
    tape->messages = list;
    tape->capacity = capacity;
    return true;
}

/* The first registration says which connection it is, if that was not said, and who the plugin is.
 */
static void note_plugin(struct tape *tape, const struct session_message *message)
{
    struct payload payload;
    if (message->response || message->type == NULL ||
        strcmp(message->type->short_name, "RegisterPluginRequest") != 0 || tape->name[0] != '\0' ||
        (tape->connection != 0 && tape->connection != message->connection))
        return;
    tape->connection = message->connection;
    payload_init(&payload);
    if (payload_decode(&payload, message) == 0) {
        (void)snprintf(tape->name, sizeof tape->name, "%s",
                       nri_json_string(nri_json_get(payload.json, "plugin_name"), NULL));
        (void)snprintf(tape->index, sizeof tape->index, "%s",
                       nri_json_string(nri_json_get(payload.json, "plugin_idx"), NULL));
    }
    payload_fini(&payload);
}

void tape_add(struct tape *tape, const struct session_message *message)
{
    note_plugin(tape, message);
    if (tape->connection == 0 || message->connection != tape->connection || tape->failed)
        return;
    uint8_t *envelope =
        has_room(tape, message->envelope_size) ? malloc(message->envelope_size + 1) : NULL;
    if (envelope == NULL) {
        tape->failed = true;
        return;
    }
    memcpy(envelope, message->envelope, message->envelope_size);
    tape->bytes += message->envelope_size;
    struct tape_message *kept = &tape->messages[tape->count++];
    *kept = (struct tape_message){.time = message->time,
                                  .number = message->number,
                                  .request = message->request,
                                  .direction = message->direction,
                                  .mux = message->mux,
                                  .stream = message->stream,
                                  .response = message->response,
                                  .matched = message->matched,
                                  .type = message->type,
                                  .envelope = envelope,
                                  .envelope_size = message->envelope_size,
                                  .payload = envelope,
                                  .size = message->size,
                                  .status = message->status};
    if (message->size > 0)
        kept->payload = envelope + (message->payload - message->envelope);
    copy_text(kept->method, sizeof kept->method, message->method);
    copy_text(kept->status_text, sizeof kept->status_text, message->status_text);
}

void tape_free(struct tape *tape)
{
    for (size_t i = 0; i < tape->count; i++)
        free(tape->messages[i].envelope);
    free(tape->messages);
}

/* ---- from a file ---- */

static void take_message(void *user, const struct session_message *message)
{
    tape_add(user, message);
}

static int take_records(struct nrictl *ctl, struct recording_reader *reader,
                        struct session *session, const char *path)
{
    struct recording_record record;
    struct recording_damage damage;
    struct nri_error error;
    enum recording_read got;
    for (;;) {
        if (recording_next(reader, &got, &record, &damage, &error) != 0)
            return nrictl_fail(ctl, NRICTL_USAGE, "%s: %s", path, error.text);
        if (got == RECORDING_MORE)
            return NRICTL_OK;
        if (got == RECORDING_DAMAGED)
            (void)nrictl_fail(ctl, 0, "%s: %s: what it held is not replayed", path, damage.what);
        else if (session_take(session, &record) != 0)
            return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    }
}

static int read_records(struct nrictl *ctl, struct session *session, int fd, const char *path)
{
    struct recording_reader reader;
    uint8_t bytes[65536];
    int code = NRICTL_OK;
    ssize_t n = 1;
    recording_reader_init(&reader);
    while (code == NRICTL_OK && n > 0) {
        n = read(fd, bytes, sizeof bytes);
        if (n < 0)
            code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: %s", path, strerror(errno));
        else if (n == 0)
            recording_finish(&reader);
        else if (recording_feed(&reader, bytes, (size_t)n) != 0)
            code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
        if (code == NRICTL_OK)
            code = take_records(ctl, &reader, session, path);
    }
    recording_reader_fini(&reader);
    return code;
}

static int read_file(struct nrictl *ctl, void (*take)(void *, const struct session_message *),
                     void *user, const char *path)
{
    const struct session_watch watch = {.message = take};
    struct session *session;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return nrictl_fail(ctl, errno == ENOENT ? NRICTL_USAGE : NRICTL_ENVIRONMENT, "%s: %s", path,
                           strerror(errno));
    const int code = session_new(&session, &watch, user) == 0
                         ? read_records(ctl, session, fd, path)
                         : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    session_free(session);
    (void)close(fd);
    return code;
}

static int no_room(struct nrictl *ctl, const char *path)
{
    return nrictl_fail(ctl, NRICTL_ENVIRONMENT,
                       "%s: no room for all messages: at most %zu bytes of %u connections", path,
                       TAPE_MOST_BYTES, TAPE_MOST);
}

static int no_plugin(struct nrictl *ctl, const char *path)
{
    return nrictl_fail(ctl, NRICTL_USAGE, "%s: there is no such connection with a plugin", path);
}

int tape_read(struct nrictl *ctl, struct tape *tape, const char *path)
{
    const int code = read_file(ctl, take_message, tape, path);
    if (code == NRICTL_OK && tape->failed)
        return no_room(ctl, path);
    return code == NRICTL_OK && tape->count == 0 ? no_plugin(ctl, path) : code;
}

/* ---- all connections ---- */

static struct tape *tape_of(struct tape_list *list, uint32_t connection)
{
    for (size_t i = list->count; i > 0; i--) {
        if (list->tapes[i - 1].connection == connection)
            return &list->tapes[i - 1];
    }
    struct tape *tapes =
        list->count < TAPE_MOST ? reallocarray(list->tapes, list->count + 1, sizeof *tapes) : NULL;
    if (tapes == NULL)
        return NULL;
    list->tapes = tapes;
    tapes[list->count] = (struct tape){.connection = connection};
    return &tapes[list->count++];
}

static void take_of_all(void *user, const struct session_message *message)
{
    struct tape_list *list = user;
    if (list->failed || (list->connection != 0 && message->connection != list->connection))
        return;
    struct tape *tape = tape_of(list, message->connection);
    if (tape == NULL || message->envelope_size > TAPE_MOST_BYTES - list->bytes) {
        list->failed = true;
        return;
    }
    tape_add(tape, message);
    list->bytes += message->envelope_size;
    list->failed = tape->failed;
}

static void leave_out_nameless(struct tape_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->tapes[i].name[0] != '\0')
            list->tapes[kept++] = list->tapes[i];
        else
            tape_free(&list->tapes[i]);
    }
    list->count = kept;
}

int tape_read_all(struct nrictl *ctl, struct tape_list *list, const char *path)
{
    const int code = read_file(ctl, take_of_all, list, path);
    if (code != NRICTL_OK)
        return code;
    if (list->failed)
        return no_room(ctl, path);
    leave_out_nameless(list);
    return list->count == 0 ? no_plugin(ctl, path) : NRICTL_OK;
}

void tape_list_free(struct tape_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        tape_free(&list->tapes[i]);
    free(list->tapes);
}

/* ---- what differs by nature ---- */

/* The length of what stands at the beginning and is a time, "2026-11-30T10:21:54.01Z"; else 0. */
static size_t time_length(const char *at, size_t length)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    size_t used = sizeof form - 1;
    if (length < used)
        return 0;
    for (size_t i = 0; i < used; i++) {
        if (form[i] == 'd' ? !isdigit((unsigned char)at[i]) : at[i] != form[i])
            return 0;
    }
    while (used < length && (isdigit((unsigned char)at[used]) || at[used] == '.'))
        used++;
    if (used < length && at[used] == 'Z')
        used++;
    else if (length - used >= 6 && (at[used] == '+' || at[used] == '-') && at[used + 3] == ':')
        used += 6;
    return used;
}

/* Whether digits that begin at `at` are a process's number. */
static bool is_process(const char *text, size_t at)
{
    static const char proc[] = "/proc/";
    const size_t length = sizeof proc - 1;
    if (at >= length && memcmp(text + at - length, proc, length) == 0)
        return true;
    for (size_t gap = 0; gap <= 2 && at >= gap + 3; gap++) {
        const char *word = text + at - gap - 3;
        if (tolower((unsigned char)word[0]) == 'p' && tolower((unsigned char)word[1]) == 'i' &&
            tolower((unsigned char)word[2]) == 'd')
            return true;
        if (gap < 2 && isalnum((unsigned char)text[at - gap - 1]))
            return false;
    }
    return false;
}

size_t tape_level(char *text, size_t length)
{
    static const char time_word[] = "<time>";
    size_t to = 0;
    for (size_t at = 0; at < length;) {
        const size_t time = time_length(text + at, length - at);
        if (time > 0) {
            memcpy(text + to, time_word, sizeof time_word - 1);
            to += sizeof time_word - 1;
            at += time;
        } else if (isdigit((unsigned char)text[at]) && is_process(text, to)) {
            text[to++] = '#'; /* one for all digits: it never gets longer */
            while (at < length && isdigit((unsigned char)text[at]))
                at++;
        } else {
            text[to++] = text[at++];
        }
    }
    return to;
}
