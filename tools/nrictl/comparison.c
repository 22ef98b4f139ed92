/* SPDX-License-Identifier: Apache-2.0 */
#include "comparison.h"

#include <string.h>

#include "difference.h"
#include "payload.h"

static int level(struct nri_arena *arena, struct nri_json *value);

static int level_text(struct nri_arena *arena, const struct nri_json *text, struct nri_json **made)
{
    size_t length;
    const char *bytes = nri_json_string(text, &length);
    char *copy = nri_arena_alloc(arena, length + 1);
    if (copy == NULL)
        return NRI_E_NOMEM;
    memcpy(copy, bytes, length + 1);
    *made = nri_json_new_string(arena, copy, tape_level(copy, length));
    return *made != NULL ? 0 : NRI_E_NOMEM;
}

/* Texts of a document without what differs by nature. */
static int level(struct nri_arena *arena, struct nri_json *value)
{
    const size_t count = nri_json_count(value);
    const bool object = nri_json_type(value) == NRI_JSON_OBJECT;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const char *key = NULL;
        struct nri_json *made = NULL, *member = object ? nri_json_member_at(value, i, &key, NULL)
                                                       : nri_json_at(value, i);
        if (nri_json_type(member) != NRI_JSON_STRING) {
            code = level(arena, member);
            continue;
        }
        code = level_text(arena, member, &made);
        if (code == 0 && object)
            code = nri_json_set(arena, value, key, made);
        else if (code == 0)
            (void)nri_json_put(value, i, made);
    }
    return code;
}

void comparison_finding(const struct tape_message *message, const char *what,
                        struct finding *finding)
{
    *finding = (struct finding){.number = message->number,
                                .kind = message->response ? "response" : "request",
                                .whose = message->response ? "the answer to" : "the plugin's",
                                .method = message->method,
                                .what = what};
}

static void tell(struct findings *findings, const struct tape_message *message, const char *what)
{
    struct finding finding;
    comparison_finding(message, what, &finding);
    findings_tell(findings, &finding);
}

static int tell_difference(struct findings *findings, const struct tape_message *message,
                           struct nri_arena *arena, const struct difference_list *list)
{
    struct payload holder = {.json = NULL};
    struct finding finding;
    int code = NRICTL_OK;
    comparison_finding(message, "differs", &finding);
    findings_open(findings, &finding);
    if (findings->ctl->json) {
        holder.json = difference_document(arena, list, NULL);
        print_json_key(&findings->json, "differences");
        payload_write(&holder, &findings->json.writer);
    } else {
        code = difference_print(findings->ctl, list, "recorded", "now");
    }
    findings_shut(findings);
    return code;
}

static int compare_payloads(struct findings *findings, const struct tape_message *was,
                            const struct tape_message *is)
{
    static const uint64_t seed[2] = {0x7265706c6179, 1};
    struct payload before, after;
    struct difference_list list = {NULL, 0, 0};
    int shown = NRICTL_OK;
    payload_init(&before);
    payload_init(&after);
    int code = payload_decode_bytes(&before, was->type, was->payload, was->size);
    if (code == 0)
        code = payload_decode_bytes(&after, was->type, is->payload, is->size);
    if (code == 0 && (before.json == NULL || after.json == NULL)) {
        if (was->size != is->size || memcmp(was->payload, is->payload, was->size) != 0)
            tell(findings, was, before.json == NULL ? before.why : after.why);
    } else if (code == 0) {
        code = level(&before.arena, before.json);
        if (code == 0)
            code = level(&after.arena, after.json);
        if (code == 0)
            code = difference_make(&after.arena, seed, before.json, after.json, &list);
        if (code == 0 && list.count > 0)
            shown = tell_difference(findings, was, &after.arena, &list);
    }
    payload_fini(&before);
    payload_fini(&after);
    return code != 0 ? nrictl_fail(findings->ctl, NRICTL_ENVIRONMENT, "no memory") : shown;
}

bool comparison_status(int was, const char *was_text, int is, const char *is_text, char *text,
                       size_t room)
{
    char before[TAPE_STATUS_TEXT], after[TAPE_STATUS_TEXT];
    (void)snprintf(before, sizeof before, "%s", was_text);
    (void)snprintf(after, sizeof after, "%s", is_text);
    before[tape_level(before, strlen(before))] = '\0';
    after[tape_level(after, strlen(after))] = '\0';
    if (was == is && strcmp(before, after) == 0)
        return true;
    (void)snprintf(text, room, "was status %d \"%s\", is %d \"%s\"", was, before, is, after);
    for (char *at = text; *at != '\0'; at++) /* of another party, and for a terminal */
        *at = (unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f ? '?' : *at;
    return false;
}

int comparison_make(struct findings *findings, const struct tape_message *was,
                    const struct tape_message *is)
{
    char text[2 * TAPE_STATUS_TEXT + 64];
    if (!comparison_status(was->status, was->status_text, is->status, is->status_text, text,
                           sizeof text)) {
        tell(findings, was, text);
        return NRICTL_OK;
    }
    return was->type != NULL ? compare_payloads(findings, was, is) : NRICTL_OK;
}
