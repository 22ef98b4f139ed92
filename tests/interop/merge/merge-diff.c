/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge-diff generate SCENARIOS COUNT      writes random scenarios and prints what they try
 * merge-diff compare SCENARIOS RESULTS     prints the indexes that come out otherwise than in Go
 * merge-diff explain SCENARIOS RESULTS     the same, and what differs, in words
 *
 * Exit: 0 when nothing differs (for generate: when every field is tried often enough), 1 when
 * something does, 2 for wrong use or files. RESULTS are of adaptation/main.go; a result agrees when
 * it is one of those that Go had.
 */
#include <stdlib.h>
#include <string.h>

#include <nri/json.h>

#include "block.h"
#include "canon.h"
#include "runtime/merge.h"
#include "scenario.h"
#include "wire/message.h"

#define LEAST      100 /* of each thing that is tried with a field */
#define TYPE(name) &nri__pkg__api__v1alpha1__##name##__descriptor

static const uint64_t seed[2] = {5, 6};
static const char *const plugins[SCENARIO_PLUGINS] = {"10-a", "20-b", "30-c"};

/* A scenario's messages, or the pieces of one outcome. */
struct input {
    enum nri_event event;
    struct block request, replies[SCENARIO_PLUGINS];
};

struct outcome {
    const char *error, *response, *owners, *seen[SCENARIO_PLUGINS];
};

static const ProtobufCMessageDescriptor *request_type(enum nri_event event)
{
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return TYPE(update_container_request);
    return event == NRI_EVENT_STOP_CONTAINER ? TYPE(stop_container_request)
                                             : TYPE(create_container_request);
}

static const ProtobufCMessageDescriptor *response_type(enum nri_event event)
{
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return TYPE(update_container_response);
    return event == NRI_EVENT_STOP_CONTAINER ? TYPE(stop_container_response)
                                             : TYPE(create_container_response);
}

static const ProtobufCMessageDescriptor *seen_type(enum nri_event event)
{
    return event == NRI_EVENT_UPDATE_CONTAINER ? TYPE(linux_resources) : TYPE(container);
}

/* ---- generate ---- */

static bool write_json(FILE *to, const ProtobufCMessageDescriptor *type, const char *json)
{
    char *bytes = NULL;
    size_t size = 0;
    nri_error *error = NULL;
    int code =
        nri_json_to_protobuf(type->short_name, json, strlen(json), NULL, &bytes, &size, &error);
    if (code != 0)
        fprintf(stderr, "%s: %s\n", json, nri_error_get_text(error));
    nri_error_free(error);
    bool done = code == 0 && block_write(to, bytes, size);
    nri_json_free(bytes);
    return done;
}

static bool write_scenario(FILE *to, const struct scenario *scenario)
{
    const uint8_t event = (uint8_t)scenario->event;
    if (!block_write(to, &event, 1) ||
        !write_json(to, request_type(scenario->event), scenario->request))
        return false;
    for (size_t i = 0; i < SCENARIO_PLUGINS; i++) {
        if (!write_json(to, response_type(scenario->event), scenario->replies[i]))
            return false;
    }
    return true;
}

static int generate(const char *path, size_t count)
{
    static struct scenario scenario;
    static struct scenario_counts counts;
    int result = 0;
    FILE *to = fopen(path, "wb");
    if (to == NULL)
        return 2;
    for (size_t i = 0; i < count; i++) {
        scenario_make(&scenario, i, &counts);
        if (!write_scenario(to, &scenario)) {
            fclose(to);
            return 2;
        }
    }
    if (fclose(to) != 0)
        return 2;
    printf("%-20s %9s %9s %9s\n", "field", "set", "removed", "ignored");
    for (int field = 1; field < SCENARIO_FIELDS; field++) {
        printf("%-20s %9zu %9zu %9zu\n", nri_field_name(field), counts.set[field],
               counts.removed[field], counts.ignored[field]);
        if (counts.set[field] < LEAST ||
            (scenario_can_remove(field) && counts.removed[field] < LEAST) ||
            (scenario_can_update(field) && counts.ignored[field] < LEAST)) {
            printf("too seldom: %s\n", nri_field_name(field));
            result = 1;
        }
    }
    return result;
}

/* ---- compare ---- */

static size_t read_scenarios(struct block_file *file, struct input **inputs)
{
    size_t count = 0, room = 0;
    struct block event;
    *inputs = NULL;
    while (block_read(file, &event)) {
        if (count == room) {
            room = room == 0 ? 1024 : room * 2;
            struct input *grown = realloc(*inputs, room * sizeof *grown);
            if (grown == NULL)
                return 0;
            *inputs = grown;
        }
        struct input *input = *inputs + count++;
        input->event = (enum nri_event)event.bytes[0];
        bool good = block_read(file, &input->request);
        for (size_t i = 0; i < SCENARIO_PLUGINS; i++)
            good = good && block_read(file, &input->replies[i]);
        if (!good)
            return 0;
    }
    return count;
}

static void *decode(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                    const struct block *block)
{
    ProtobufCMessage *message = NULL;
    if (nri_message_decode(type, block->bytes, block->size, arena, seed, &message, NULL) != 0)
        abort(); /* a test's own bytes */
    return message;
}

static const char *shown(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                         const void *message)
{
    const ProtobufCMessage *base = message;
    size_t size = 0;
    if (base == NULL || nri_message_size(base, &size, NULL) != 0)
        return "?";
    uint8_t *bytes = nri_arena_alloc(arena, size + 1);
    if (bytes == NULL)
        return "?";
    nri_message_encode(base, bytes);
    return canon(arena, type, bytes, size);
}

static int reply(struct nri_merge *merge, enum nri_event event, const char *plugin,
                 const void *message, struct nri_error *error)
{
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return nri_merge_update_reply(merge, plugin, message, error);
    if (event == NRI_EVENT_STOP_CONTAINER)
        return nri_merge_stop_reply(merge, plugin, message, error);
    return nri_merge_create_reply(merge, plugin, message, error);
}

static const void *result_of(struct nri_merge *merge, enum nri_event event)
{
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return nri_merge_update_result(merge);
    if (event == NRI_EVENT_STOP_CONTAINER)
        return nri_merge_stop_result(merge);
    return nri_merge_create_result(merge);
}

static struct nri_merge *make(struct nri_arena *arena, const struct input *input)
{
    const struct nri_merge_settings settings = {.go_compatible = true};
    const void *request = decode(arena, request_type(input->event), &input->request);
    const Nri__Pkg__Api__V1alpha1__UpdateContainerRequest *update = request;
    /* All three requests begin with pod and container. */
    const Nri__Pkg__Api__V1alpha1__CreateContainerRequest *any = request;
    struct nri_merge *merge = NULL;
    if (nri_merge_new(&merge, arena, seed, &settings, input->event, NULL, any->container,
                      input->event == NRI_EVENT_UPDATE_CONTAINER ? update->linux_resources : NULL,
                      NULL) != 0)
        abort(); /* a test's own memory */
    return merge;
}

/* What libnri makes of a scenario. */
static void merge(struct nri_arena *arena, const struct input *input, struct outcome *outcome)
{
    static struct nri_error error;
    struct nri_merge *merge = make(arena, input);
    int code = 0;
    *outcome = (struct outcome){"", "", "", {"", "", ""}};
    for (size_t i = 0; code == 0 && i < SCENARIO_PLUGINS; i++) {
        const void *seen = input->event == NRI_EVENT_UPDATE_CONTAINER
                               ? (const void *)nri_merge_resources(merge, NULL)
                               : nri_merge_container(merge, NULL);
        outcome->seen[i] = shown(arena, seen_type(input->event), seen);
        code = reply(merge, input->event, plugins[i],
                     decode(arena, response_type(input->event), &input->replies[i]), &error);
    }
    if (code != 0) {
        outcome->error = error.text;
        return;
    }
    outcome->response = shown(arena, response_type(input->event), result_of(merge, input->event));
    if (input->event == NRI_EVENT_CREATE_CONTAINER)
        outcome->owners = shown(arena, TYPE(owning_plugins), nri_merge_owners(merge));
}

static bool read_outcome(struct block_file *file, struct nri_arena *arena, enum nri_event event,
                         struct outcome *outcome)
{
    struct block error, response, owners, seen;
    if (!block_read(file, &error) || !block_read(file, &response) || !block_read(file, &owners))
        return false;
    outcome->error = nri_arena_text(arena, (const char *)error.bytes, error.size);
    outcome->response = canon(arena, response_type(event), response.bytes, response.size);
    outcome->owners = canon(arena, TYPE(owning_plugins), owners.bytes, owners.size);
    for (size_t i = 0; i < SCENARIO_PLUGINS; i++) {
        if (!block_read(file, &seen))
            return false;
        outcome->seen[i] = canon(arena, seen_type(event), seen.bytes, seen.size);
    }
    return outcome->error != NULL;
}

/* Whether two outcomes are the same; `explain`: says what is not. */
static bool same(const struct outcome *ours, const struct outcome *gos, bool explain)
{
    const char *one[] = {ours->error,   ours->response, ours->owners,
                         ours->seen[0], ours->seen[1],  ours->seen[2]};
    const char *other[] = {gos->error,   gos->response, gos->owners,
                           gos->seen[0], gos->seen[1],  gos->seen[2]};
    static const char *const what[] = {"error", "response", "owners", "seen 1", "seen 2", "seen 3"};
    bool all = true;
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
        if (strcmp(one[i], other[i]) == 0)
            continue;
        all = false;
        if (explain)
            printf("  %s\n    libnri %s\n    Go     %s\n", what[i], one[i], other[i]);
    }
    return all;
}

static void count_conflict(size_t conflicts[SCENARIO_FIELDS], const char *error)
{
    const char *name = strstr(error, "both tried to set ");
    if (name == NULL)
        return;
    name += strlen("both tried to set ");
    for (int field = 1; field < SCENARIO_FIELDS; field++) {
        size_t length = strlen(nri_field_name(field));
        if (strncmp(name, nri_field_name(field), length) == 0 && name[length] == ' ')
            conflicts[field]++;
    }
}

/* One result; 1 when it agrees, 0 when not, -1 at the end or for a broken file. */
static int compare_one(struct block_file *results, struct nri_arena *arena,
                       const struct input *inputs, size_t count, bool explain,
                       size_t conflicts[SCENARIO_FIELDS])
{
    uint32_t index, outcomes;
    struct outcome ours, gos = {"", "", "", {"", "", ""}};
    bool agrees = false;
    if (!block_number(results, &index) || !block_number(results, &outcomes) || index >= count ||
        outcomes == 0)
        return -1;
    merge(arena, &inputs[index], &ours);
    for (uint32_t i = 0; i < outcomes; i++) {
        if (!read_outcome(results, arena, inputs[index].event, &gos))
            return -1;
        agrees = agrees || same(&ours, &gos, false);
        if (i == 0)
            count_conflict(conflicts, gos.error);
    }
    if (agrees)
        return 1;
    printf("%u\n", index);
    if (explain)
        same(&ours, &gos, true);
    return 0;
}

static int print_conflicts(const size_t conflicts[SCENARIO_FIELDS])
{
    int result = 0;
    fprintf(stderr, "%-20s %9s\n", "field", "conflicts");
    for (int field = 1; field < SCENARIO_FIELDS; field++) {
        fprintf(stderr, "%-20s %9zu\n", nri_field_name(field), conflicts[field]);
        if (field != NRI_FIELD_OCI_HOOKS && conflicts[field] < LEAST) {
            fprintf(stderr, "too seldom: %s\n", nri_field_name(field));
            result = 1;
        }
    }
    return result;
}

static int compare(const char *scenarios, const char *results, bool explain)
{
    struct block_file from, with;
    struct input *inputs = NULL;
    struct nri_arena arena;
    struct nri_alloc alloc;
    size_t conflicts[SCENARIO_FIELDS] = {0}, compared = 0, different = 0;
    if (!block_open(&from, scenarios) || !block_open(&with, results))
        return 2;
    const size_t count = read_scenarios(&from, &inputs);
    nri_alloc_resolve(&alloc, NULL);
    nri_arena_init(&arena, &alloc, 1 << 20, SIZE_MAX);
    while (with.at < with.size) {
        int code = compare_one(&with, &arena, inputs, count, explain, conflicts);
        if (code < 0) {
            different = SIZE_MAX;
            break;
        }
        compared++;
        different += code == 0;
        nri_arena_reset(&arena);
    }
    int result = different == SIZE_MAX ? 2 : different > 0;
    fprintf(stderr, "%zu compared, %zu different\n", compared, different);
    if (compared == count && compared > 0 && print_conflicts(conflicts) != 0)
        result = 3;
    nri_arena_fini(&arena);
    free(inputs);
    block_close(&from);
    block_close(&with);
    return result;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "generate") == 0)
        return generate(argv[2], strtoul(argv[3], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "compare") == 0)
        return compare(argv[2], argv[3], false);
    if (argc == 4 && strcmp(argv[1], "explain") == 0)
        return compare(argv[2], argv[3], true);
    fprintf(stderr, "usage: merge-diff generate|compare|explain SCENARIOS COUNT|RESULTS\n");
    return 2;
}
