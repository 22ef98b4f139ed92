/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_asked(const struct tape_message *message)
{
    return !message->response && message->direction == RECORDING_TO_PLUGIN;
}

static bool is_own(const struct tape_message *message)
{
    return !message->response && message->direction == RECORDING_TO_RUNTIME;
}

/* START_CONTAINER of a StateChange is StartContainer. */
static void plain_event(char *to, size_t room, const char *name)
{
    size_t used = 0;
    for (; *name != '\0' && used + 1 < room; name++) {
        if (*name != '_')
            to[used++] = (char)tolower((unsigned char)*name);
    }
    to[used] = '\0';
}

char *part_like(const struct roster *roster, const char *method, const struct payload *payload)
{
    char event[64], *like = NULL;
    const struct nri_json *container = nri_json_get(payload->json, "container");
    char *pod = roster_pod(roster, nri_json_get(payload->json, "pod"));
    plain_event(event, sizeof event, payload->event[0] != '\0' ? payload->event : method);
    if (pod != NULL && asprintf(&like, "%s|%s|%s", event, pod,
                                nri_json_string(nri_json_get(container, "name"), NULL)) < 0)
        like = NULL;
    free(pod);
    return like;
}

/* A part of a Synchronize that is not the last is answered by rule, and never waited for. */
static bool note_request(struct part *part, size_t index, struct roster *recorded)
{
    struct tape_message *message = &part->tape.messages[index];
    struct payload payload;
    char about[200];
    bool good = true;
    payload_init(&payload);
    if (message->type != NULL)
        good = payload_decode_bytes(&payload, message->type, message->payload, message->size) == 0;
    good = good && roster_note(recorded, payload.json);
    if (good && nri_json_bool(nri_json_get(payload.json, "more"))) {
        message->seen = true;
    } else if (good) {
        payload_subject(&payload, about, sizeof about);
        part->likes[index] = part_like(recorded, message->method, &payload);
        part->about[index] = strdup(about);
        good = part->likes[index] != NULL && part->about[index] != NULL;
    }
    payload_fini(&payload);
    return good;
}

bool part_init(struct part *part, struct tape *tape, struct roster *recorded)
{
    *part = (struct part){.tape = *tape};
    *tape = (struct tape){.messages = NULL};
    (void)snprintf(part->plugin, sizeof part->plugin, "%s-%s", part->tape.index, part->tape.name);
    part->likes = calloc(part->tape.count, sizeof *part->likes);
    part->about = calloc(part->tape.count, sizeof *part->about);
    bool good = part->likes != NULL && part->about != NULL;
    for (size_t i = 0; i < part->tape.count && good; i++) {
        if (is_asked(&part->tape.messages[i]))
            good = note_request(part, i, recorded);
    }
    return good;
}

void part_fini(struct part *part)
{
    for (size_t i = 0; i < part->tape.count; i++) {
        if (part->likes != NULL)
            free(part->likes[i]);
        if (part->about != NULL)
            free(part->about[i]);
    }
    free(part->likes);
    free(part->about);
    tape_free(&part->tape);
}

const struct tape_message *part_take(struct part *part, const char *like)
{
    const struct tape *tape = &part->tape;
    while (part->first < tape->count &&
           (part->likes[part->first] == NULL || tape->messages[part->first].seen))
        part->first++;
    for (size_t i = part->first; i < tape->count; i++) {
        if (part->likes[i] == NULL || tape->messages[i].seen || strcmp(part->likes[i], like) != 0)
            continue;
        tape->messages[i].seen = true;
        return &tape->messages[i];
    }
    return NULL;
}

struct tape_message *part_answer(const struct part *part, const struct tape_message *request)
{
    const struct tape *tape = &part->tape;
    for (size_t i = (size_t)(request - tape->messages); i < tape->count; i++) {
        struct tape_message *message = &tape->messages[i];
        if (message->response && message->matched && message->request == request->number)
            return message;
    }
    return NULL;
}

/* Whether the runtime's last message before it has come. */
static bool is_due(const struct tape *tape, size_t index)
{
    while (index > 0) {
        const struct tape_message *before = &tape->messages[--index];
        if (before->direction == RECORDING_TO_PLUGIN && (!before->response || before->matched))
            return before->seen;
    }
    return true;
}

struct tape_message *part_next_call(struct part *part)
{
    const struct tape *tape = &part->tape;
    while (part->call < tape->count && !is_own(&tape->messages[part->call]))
        part->call++;
    if (part->call == tape->count || !is_due(tape, part->call))
        return NULL;
    tape->messages[part->call].seen = true;
    return &tape->messages[part->call++];
}

const struct tape_message *part_made(const struct part *part, uint32_t stream)
{
    for (size_t i = 0; i < part->call; i++) {
        const struct tape_message *message = &part->tape.messages[i];
        if (is_own(message) && message->seen && message->stream == stream)
            return message;
    }
    return NULL;
}
