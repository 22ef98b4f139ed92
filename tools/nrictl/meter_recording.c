/* SPDX-License-Identifier: Apache-2.0 */
#include "meter_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nri/event.h>

#include "proto/nri.pb-c.h"
#include "session.h"

#define PIECE         ((size_t)256 * 1024)
#define PIECES        16 /* of one call */
#define MOST_WAITING  65536
#define MOST_IDENTITY 160
#define WAYS          4096 /* of the table of what waits; a power of two */

/* A request without its answer. */
struct waiting {
    struct waiting *next;
    uint32_t connection;
    uint64_t number;
    int64_t timeout; /* ns; 0: none */
    char *event;
};

struct peer {
    struct peer *next;
    uint32_t connection;
    char identity[MOST_IDENTITY];
};

struct meter_recording {
    struct meter *meter;
    struct meter_source *source;
    int fd;
    struct recording_reader reader;
    struct session *session;
    struct waiting *waiting[WAYS];
    size_t waiting_count;
    struct peer *peers;
    bool failed; /* no memory */
    char piece[PIECE];
};

/* ---- who is who ---- */

static struct peer *find_peer(const struct meter_recording *recording, uint32_t connection)
{
    struct peer *peer = recording->peers;
    while (peer != NULL && peer->connection != connection)
        peer = peer->next;
    return peer;
}

static const char *name_of(struct meter_recording *recording, uint32_t connection, char text[32])
{
    const struct peer *peer = find_peer(recording, connection);
    if (peer != NULL)
        return peer->identity;
    (void)snprintf(text, 32, "connection %u", connection);
    return text;
}

static void on_register(struct meter_recording *recording, const struct session_message *message)
{
    Nri__Pkg__Api__V1alpha1__RegisterPluginRequest *request =
        nri__pkg__api__v1alpha1__register_plugin_request__unpack(NULL, message->size,
                                                                 message->payload);
    if (request == NULL)
        return;
    struct peer *peer = find_peer(recording, message->connection);
    if (peer == NULL && (peer = calloc(1, sizeof *peer)) != NULL) {
        peer->connection = message->connection;
        peer->next = recording->peers;
        recording->peers = peer;
    }
    if (peer != NULL)
        (void)snprintf(peer->identity, sizeof peer->identity, "%s-%s", request->plugin_idx,
                       request->plugin_name);
    nri__pkg__api__v1alpha1__register_plugin_request__free_unpacked(request, NULL);
}

/* ---- requests and answers ---- */

struct rows {
    struct meter_row *row[2]; /* the sum's and the event's */
};

static bool find_rows(struct meter_recording *recording, uint32_t connection, const char *event,
                      struct rows *rows)
{
    char text[32];
    const char *plugin = name_of(recording, connection, text);
    rows->row[0] = meter_row(recording->meter, recording->source, plugin, METER_ALL);
    rows->row[1] = meter_row(recording->meter, recording->source, plugin, event);
    return rows->row[0] != NULL && rows->row[1] != NULL;
}

static void count(const struct rows *rows, enum meter_count which, uint64_t by)
{
    for (size_t i = 0; i < 2; i++)
        meter_add(rows->row[i], which, by);
}

static void change_pending(const struct rows *rows, bool more)
{
    for (size_t i = 0; i < 2; i++) {
        struct meter_row *row = rows->row[i];
        row->pending_known = true;
        row->pending = more ? row->pending + 1 : row->pending - (row->pending > 0 ? 1 : 0);
    }
}

static struct waiting **way_of(struct meter_recording *recording, uint32_t connection,
                               uint64_t number)
{
    const uint64_t hash = (number * UINT64_C(0x9e3779b97f4a7c15)) ^ connection;
    return &recording->waiting[(hash >> 20) % WAYS];
}

static void on_request(struct meter_recording *recording, const struct session_message *message,
                       const char *event)
{
    struct waiting **way = way_of(recording, message->connection, message->number);
    struct rows rows;
    if (!find_rows(recording, message->connection, event, &rows))
        return;
    count(&rows, METER_EVENTS, 1);
    for (int which = METER_ERRORS; which <= METER_LATE; which++)
        count(&rows, (enum meter_count)which, 0);
    if (recording->waiting_count == MOST_WAITING)
        return;
    struct waiting *waiting = calloc(1, sizeof *waiting);
    char *copy = strdup(event);
    if (waiting == NULL || copy == NULL) {
        free(waiting);
        free(copy);
        recording->failed = true;
        return;
    }
    *waiting = (struct waiting){*way, message->connection, message->number, message->timeout, copy};
    *way = waiting;
    recording->waiting_count++;
    change_pending(&rows, true);
}

static void forget(struct meter_recording *recording, struct waiting **at)
{
    struct waiting *waiting = *at;
    *at = waiting->next;
    recording->waiting_count--;
    free(waiting->event);
    free(waiting);
}

static void on_response(struct meter_recording *recording, const struct session_message *message)
{
    struct waiting **at = way_of(recording, message->connection, message->request);
    struct rows rows;
    while (*at != NULL &&
           ((*at)->connection != message->connection || (*at)->number != message->request))
        at = &(*at)->next;
    if (*at == NULL)
        return;
    const uint64_t taken =
        message->time > message->request_time ? message->time - message->request_time : 0;
    if (find_rows(recording, message->connection, (*at)->event, &rows)) {
        change_pending(&rows, false);
        if (message->status != 0)
            count(&rows, METER_REFUSED, 1);
        if ((*at)->timeout > 0 && taken > (uint64_t)(*at)->timeout)
            count(&rows, METER_LATE, 1);
        if (!meter_add_time(rows.row[0], taken) || !meter_add_time(rows.row[1], taken))
            recording->failed = true;
    }
    forget(recording, at);
}

/* The event of StateChange is in it, of all others the method's name. */
static void event_of(const struct session_message *message, char name[64])
{
    const size_t length = message->method.length < 63 ? message->method.length : 63;
    memcpy(name, message->method.text, length);
    name[length] = '\0';
    if (strcmp(name, "StateChange") != 0)
        return;
    Nri__Pkg__Api__V1alpha1__StateChangeEvent *change =
        nri__pkg__api__v1alpha1__state_change_event__unpack(NULL, message->size, message->payload);
    if (change != NULL && change->event >= 1 &&
        (int)change->event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        (void)snprintf(name, 64, "%s", nri_event_name((enum nri_event)change->event));
    nri__pkg__api__v1alpha1__state_change_event__free_unpacked(change, NULL);
}

static void on_message(void *user, const struct session_message *message)
{
    struct meter_recording *recording = user;
    char event[64];
    if (message->mux == 2 && !message->response && message->method.length == 14 &&
        memcmp(message->method.text, "RegisterPlugin", 14) == 0) {
        on_register(recording, message);
    } else if (message->mux == 1 && message->response && message->matched) {
        on_response(recording, message);
    } else if (message->mux == 1 && !message->response) {
        event_of(message, event);
        on_request(recording, message, event);
    }
}

/* What has no answer by then gets none. */
static void on_ended(void *user, const struct session_connection *connection)
{
    struct meter_recording *recording = user;
    for (size_t way = 0; way < WAYS; way++) {
        for (struct waiting **at = &recording->waiting[way]; *at != NULL;) {
            struct rows rows;
            if ((*at)->connection != connection->connection) {
                at = &(*at)->next;
                continue;
            }
            if (find_rows(recording, connection->connection, (*at)->event, &rows)) {
                change_pending(&rows, false);
                count(&rows, METER_ERRORS, 1);
            }
            forget(recording, at);
        }
    }
    for (struct peer **at = &recording->peers; *at != NULL; at = &(*at)->next) {
        if ((*at)->connection != connection->connection)
            continue;
        struct peer *peer = *at;
        *at = peer->next;
        free(peer);
        break;
    }
}

/* ---- the file ---- */

int meter_recording_open(struct nrictl *ctl, struct meter_recording **out, struct meter *meter,
                         struct meter_source *source, const char *path)
{
    static const struct session_watch watch = {.message = on_message, .ended = on_ended};
    struct meter_recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    recording->meter = meter;
    recording->source = source;
    recording_reader_init(&recording->reader);
    recording->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = NRICTL_OK;
    if (recording->fd < 0)
        code = nrictl_fail(ctl,
                           errno == ENOENT || errno == ENOTDIR ? NRICTL_USAGE : NRICTL_ENVIRONMENT,
                           "%s: %s", path, strerror(errno));
    else if (session_new(&recording->session, &watch, recording) != 0)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    if (code != NRICTL_OK) {
        meter_recording_close(recording);
        return code;
    }
    *out = recording;
    return NRICTL_OK;
}

void meter_recording_close(struct meter_recording *recording)
{
    if (recording == NULL)
        return;
    session_free(recording->session);
    recording_reader_fini(&recording->reader);
    for (size_t way = 0; way < WAYS; way++) {
        while (recording->waiting[way] != NULL)
            forget(recording, &recording->waiting[way]);
    }
    while (recording->peers != NULL) {
        struct peer *peer = recording->peers;
        recording->peers = peer->next;
        free(peer);
    }
    if (recording->fd >= 0)
        (void)close(recording->fd);
    free(recording);
}

/* All records that are whole by now; what is damaged is passed over. */
static int take_records(struct meter_recording *recording, struct nri_error *error)
{
    struct recording_record record;
    struct recording_damage damage;
    enum recording_read got = RECORDING_RECORD;
    int code = 0;
    while (code == 0 && got != RECORDING_MORE) {
        code = recording_next(&recording->reader, &got, &record, &damage, error);
        if (code == 0 && got == RECORDING_RECORD &&
            (code = session_take(recording->session, &record)) != 0)
            (void)nri_error_set(error, code, "no memory");
    }
    return code;
}

bool meter_recording_read(struct meter_recording *recording, bool *end)
{
    struct nri_error error = {0};
    int code = 0;
    *end = false;
    for (int i = 0; i < PIECES && code == 0 && !*end; i++) {
        const ssize_t got = read(recording->fd, recording->piece, sizeof recording->piece);
        if (got < 0 && errno == EINTR)
            continue;
        *end = got == 0 || (got < 0 && errno == EAGAIN);
        if (got < 0 && !*end)
            code = nri_error_set(&error, NRI_E_IO, "%s", strerror(errno));
        else if (got > 0 &&
                 (code = recording_feed(&recording->reader, recording->piece, (size_t)got)) != 0)
            (void)nri_error_set(&error, code, "no memory");
        else if (got > 0)
            code = take_records(recording, &error);
    }
    if (code == 0 && recording->failed)
        code = nri_error_set(&error, NRI_E_NOMEM, "no memory");
    if (code != 0)
        meter_fail(recording->meter, recording->source, error.text);
    return code == 0;
}
