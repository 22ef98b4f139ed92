/* SPDX-License-Identifier: Apache-2.0 */
/* What adjustments, containers and the like hold, place by place. */
#include <stdio.h>
#include <string.h>

#include "field_key.h"
#include "judge.h"
#include "match.h"
#include "path.h"
#include "view.h"

/* A JSON text, as a document of the expectation's arena; NULL: there is none. Frees the text. */
static const struct nri_json *document(const struct judge *judge, int rc, char *text, size_t length)
{
    struct nri_json *made = NULL;
    if (rc != 0 || nri_json_parse(judge->arena, text, length, NULL, NULL, &made, NULL) != 0)
        made = NULL;
    nri_json_free(text);
    return made;
}

static void judge_map(const struct judge *judge, const char *key, const struct nri_json *map,
                      const struct nri_json *seen, const char *without)
{
    for (size_t i = 0; i < nri_json_count(map); i++) {
        const char *path;
        const struct nri_json *expected = nri_json_member_at(map, i, &path, NULL);
        const struct nri_json *value = seen != NULL ? path_find(judge->arena, seen, path) : NULL;
        char what[300];
        (void)snprintf(what, sizeof what, "%s %.250s", key, path);
        judge_say(judge, expected, seen != NULL && match_value(expected, value), what,
                  judge_text(judge, expected), seen != NULL ? judge_text(judge, value) : without);
    }
}

/* ---- of the event's outcome ---- */

static void judge_adjustment(const struct judge *judge, const struct nri_json *map)
{
    const nri_outcome *outcome = judge_outcome(judge, NRI_EVENT_CREATE_CONTAINER);
    char *text = NULL;
    size_t length = 0;
    const int rc = outcome == NULL ? NRI_E_NOT_FOUND
                                   : nri_adjustment_to_json(nri_outcome_adjustment(outcome), NULL,
                                                            &text, &length, NULL);
    judge_map(judge, "adjustment", map, document(judge, rc, text, length),
              "the step sent no CreateContainer");
}

static void judge_resources(const struct judge *judge, const struct nri_json *map)
{
    const nri_outcome *outcome = judge_outcome(judge, NRI_EVENT_UPDATE_CONTAINER);
    char *text = NULL;
    size_t length = 0;
    const int rc = outcome == NULL ? NRI_E_NOT_FOUND
                                   : nri_resources_to_json(nri_outcome_resources(outcome), NULL,
                                                           &text, &length, NULL);
    judge_map(judge, "resources", map, document(judge, rc, text, length),
              "the step sent no UpdateContainer");
}

static void judge_updates(const struct judge *judge, const struct nri_json *map)
{
    static const enum nri_event events[] = {NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_UPDATE_CONTAINER,
                                            NRI_EVENT_STOP_CONTAINER};
    const nri_outcome *outcome = NULL;
    char *text = NULL;
    size_t length = 0;
    for (size_t i = 0; outcome == NULL && i < sizeof events / sizeof *events; i++)
        outcome = judge_outcome(judge, events[i]);
    const int rc = outcome == NULL ? NRI_E_NOT_FOUND
                                   : nri_updates_to_json(nri_outcome_updates(outcome), NULL, &text,
                                                         &length, NULL);
    judge_map(judge, "updates", map, document(judge, rc, text, length),
              "the step sent no event that may update others");
}

static void judge_owners(const struct judge *judge, const struct nri_json *map)
{
    const nri_outcome *outcome = judge_outcome(judge, NRI_EVENT_CREATE_CONTAINER);
    for (size_t i = 0; i < nri_json_count(map); i++) {
        const char *said, *key, *meant;
        const struct nri_json *expected = nri_json_member_at(map, i, &said, NULL);
        const int field = field_key_parse(said, &key, &meant);
        const char *owner = nri_outcome_owner(outcome, field, key);
        const bool nobody = nri_json_type(expected) == NRI_JSON_NULL;
        char what[300];
        (void)snprintf(what, sizeof what, "owner of %.250s", said);
        judge_say(
            judge, expected,
            outcome != NULL &&
                (nobody ? *owner == '\0' : judge_is_plugin(owner, nri_json_string(expected, NULL))),
            what, nobody ? "nobody" : nri_json_string(expected, NULL),
            outcome == NULL  ? "the step sent no CreateContainer"
            : *owner != '\0' ? owner
                             : "nobody");
    }
}

/* ---- as it is now ---- */

static const struct store_container *container_of(const struct judge *judge)
{
    return judge->is_pod ? NULL
                         : store_find_container(node_store(judge->rehearsal->node), judge->subject);
}

static void judge_container(const struct judge *judge, const struct nri_json *map)
{
    const struct store_container *container = container_of(judge);
    char *text = NULL;
    size_t length = 0;
    const int rc = container == NULL ? NRI_E_NOT_FOUND
                                     : nri_container_to_json(store_container_get(container), NULL,
                                                             &text, &length, NULL);
    judge_map(judge, "container", map, document(judge, rc, text, length),
              "there is no such container");
}

static void judge_oci(const struct judge *judge, const struct nri_json *map)
{
    const struct store_container *container = container_of(judge);
    const struct view view = {.arena = judge->arena,
                              .seed = {(uintptr_t)judge, (uintptr_t)judge->arena}};
    struct view_document document = {.root = NULL};
    struct nri_error error = {.code = 0};
    if (container != NULL)
        (void)view_container(&view, store_container_get(container), false, &document, &error);
    judge_map(judge, "oci", map, document.root,
              error.code != 0 ? error.text : "there is no such container");
}

static const struct store_pod *pod_of(const struct judge *judge)
{
    const struct store_container *container = container_of(judge);
    return judge->is_pod       ? store_find_pod(node_store(judge->rehearsal->node), judge->subject)
           : container != NULL ? store_container_pod(container)
                               : NULL;
}

static void judge_pod(const struct judge *judge, const struct nri_json *map)
{
    const struct store_pod *pod = pod_of(judge);
    char *text = NULL;
    size_t length = 0;
    const int rc = pod == NULL ? NRI_E_NOT_FOUND
                               : nri_pod_to_json(store_pod_get(pod), NULL, &text, &length, NULL);
    judge_map(judge, "pod", map, document(judge, rc, text, length), "there is no such pod sandbox");
}

static void judge_state(const struct judge *judge, const struct nri_json *member)
{
    const struct store_container *container = container_of(judge);
    const struct store_pod *pod = judge->is_pod ? pod_of(judge) : NULL;
    const char *expected = nri_json_string(member, NULL);
    const char *seen = container != NULL
                           ? store_container_state_name(store_container_state(container))
                       : pod != NULL ? store_pod_state_name(store_pod_state(pod))
                                     : "removed";
    judge_say(judge, member, strcmp(expected, seen) == 0, "state", expected, seen);
}

void judge_values(const struct judge *judge)
{
    static const struct {
        const char *key;
        void (*look)(const struct judge *judge, const struct nri_json *member);
    } parts[] = {{"adjustment", judge_adjustment},
                 {"resources", judge_resources},
                 {"updates", judge_updates},
                 {"owners", judge_owners},
                 {"container", judge_container},
                 {"oci", judge_oci},
                 {"pod", judge_pod},
                 {"state", judge_state}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct nri_json *member = nri_json_get(judge->value, parts[i].key);
        if (member != NULL)
            parts[i].look(judge, member);
    }
}
