/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "model/json_message.h"
#include "proto/nri.pb-c.h"
#include "wire/message.h"
#include "wire/varint.h"

#define ARENA_LIMIT ((size_t)64 << 20)
#define JSON_ROOM   6000
#define REQUEST_MS  2000
#define REGISTER_MS 5000

/* ---- releases ---- */

static const struct message_release releases[] = {
    [MESSAGE_0_6] = {"v0.6.1", "containerd", "1.7.24"},
    [MESSAGE_0_7] = {"v0.7.0", "v2", "2.0.0-beta.0"},
    [MESSAGE_0_8] = {"v0.8.0", "containerd", "2.1.9+unknown"},
    [MESSAGE_0_9] = {"v0.9.0", "cri-o", "1.32.13"},
    [MESSAGE_0_10] = {"v0.10.0", "containerd", "2.2.0"},
    [MESSAGE_0_11] = {"v0.11.0", "docker", "29.4.3"},
    [MESSAGE_0_12] = {"v0.12.2", "containerd", "2.3.4"},
    [MESSAGE_NEWER] = {"v0.99.0", "containerd", "9.0.0"},
};

const struct message_release *message_release(unsigned release)
{
    return &releases[release];
}

uint32_t message_events(unsigned release)
{
    return release >= MESSAGE_0_10 ? 0x3fff : 0x07ff;
}

/* ---- fields ---- */

enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };

static bool put_varint(struct nri_buf *out, uint64_t value)
{
    uint8_t bytes[NRI_VARINT_MAX];
    return nri_buf_append(out, bytes, (size_t)(nri_varint_write(bytes, value) - bytes)) == 0;
}

bool message_number(struct nri_buf *out, unsigned field, uint64_t value)
{
    return put_varint(out, (uint64_t)field << 3 | VARINT) && put_varint(out, value);
}

bool message_bytes(struct nri_buf *out, unsigned field, const void *bytes, size_t length)
{
    return put_varint(out, (uint64_t)field << 3 | LENGTH) && put_varint(out, length) &&
           nri_buf_append(out, bytes, length) == 0;
}

bool message_text(struct nri_buf *out, unsigned field, const char *text)
{
    return message_bytes(out, field, text, strlen(text));
}

bool message_inner(struct nri_buf *out, unsigned field, const struct nri_buf *inner)
{
    return message_bytes(out, field, memory_text(inner), nri_buf_size(inner));
}

/* Numbers far above those in use. */
bool message_unknown(struct nri_buf *out)
{
    enum { FIRST = 1000 };
    static const uint8_t eight[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return message_number(out, FIRST, UINT64_MAX) && message_text(out, FIRST + 1, "from later") &&
           put_varint(out, (FIRST + 2) << 3 | FIXED64) && nri_buf_append(out, eight, 8) == 0 &&
           put_varint(out, (FIRST + 3) << 3 | FIXED32) && nri_buf_append(out, eight, 4) == 0 &&
           message_text(out, FIRST + 1, "");
}

bool message_padding(struct nri_buf *out, const char *key, size_t length)
{
    enum { ANNOTATIONS = 6, BLOCK = 1024 };
    char block[BLOCK];
    struct nri_buf pair;
    memory_buf(&pair, SIZE_MAX);
    memset(block, 'x', sizeof block);
    bool good = message_text(&pair, 1, key) && put_varint(&pair, 2 << 3 | LENGTH) &&
                put_varint(&pair, length);
    for (size_t left = length; good && left > 0;) {
        const size_t some = left < BLOCK ? left : BLOCK;
        good = nri_buf_append(&pair, block, some) == 0;
        left -= some;
    }
    good = good && message_inner(out, ANNOTATIONS, &pair);
    nri_buf_fini(&pair);
    return good;
}

/* ---- pods and containers ---- */

/* Members of a JSON object, each with the release that has it. */
struct part {
    unsigned since;
    const char *json;
};

static const struct part pod_parts[] = {
    {0, "\"uid\":\"0d1f9a04-7a52-4f3c-9a5e-6f1d2c3b4a59\",\"namespace\":\"default\""},
    {0, "\"labels\":{\"app\":\"web\",\"tier\":\"front\"}"},
    {0, "\"annotations\":{\"example.com/owner\":\"check\",\"empty\":\"\"}"},
    {0, "\"runtime_handler\":\"runc\",\"pid\":4321"},
    {0,
     "\"linux\":{\"cgroup_parent\":\"/kubepods/burstable\",\"cgroups_path\":\"/kubepods/pod0\","
     "\"pod_overhead\":{\"memory\":{\"limit\":1048576}},"
     "\"pod_resources\":{\"cpu\":{\"shares\":512}},"
     "\"namespaces\":[{\"type\":\"network\",\"path\":\"/proc/4321/ns/net\"},{\"type\":\"ipc\"}]}"},
    {MESSAGE_0_8, "\"ips\":[\"10.1.2.3\",\"fd00::3\"]"},
};

static const struct part container_parts[] = {
    {0, "\"labels\":{\"app\":\"web\"},\"annotations\":{\"example.com/class\":\"plain\"}"},
    {0, "\"args\":[\"/bin/server\",\"--port=80\"],\"env\":[\"PATH=/bin:/usr/bin\",\"EMPTY=\"]"},
    {0, "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\","
        "\"options\":[\"nosuid\",\"noexec\"]},{\"destination\":\"/data\",\"type\":\"bind\","
        "\"source\":\"/srv/data\",\"options\":[\"rbind\",\"ro\"]}]"},
    {0, "\"hooks\":{\"poststop\":[{\"path\":\"/bin/true\",\"args\":[\"true\"],\"timeout\":5}]}"},
    {0, "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":4096,\"soft\":1024}]"},
    {MESSAGE_0_10, "\"created_at\":1790000000000000000,\"exit_code\":-1"},
    {MESSAGE_0_10, "\"CDI_devices\":[{\"name\":\"example.com/gpu=0\"}]"},
    {MESSAGE_0_11, "\"user\":{\"uid\":1000,\"gid\":1000,\"additional_gids\":[10,20]}"},
    {MESSAGE_0_12, "\"image\":{\"name\":\"example.com/web:1\",\"digest\":\"sha256:00\"}"},
};

static const struct part linux_parts[] = {
    {0, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"}],\"oom_score_adj\":100"},
    {0, "\"devices\":[{\"path\":\"/dev/fuse\",\"type\":\"c\",\"major\":10,\"minor\":229}]"},
    {0, "\"resources\":{\"memory\":{\"limit\":268435456},\"cpu\":{\"shares\":256,\"quota\":50000,"
        "\"period\":100000,\"cpus\":\"0-1\"},\"unified\":{\"memory.high\":\"1000000\"},"
        "\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":0}],"
        "\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}"},
    {MESSAGE_0_10, "\"io_priority\":{\"class\":2,\"priority\":4}"},
    {MESSAGE_0_10, "\"seccomp_profile\":{\"profile_type\":1}"},
    {MESSAGE_0_11, "\"sysctl\":{\"net.ipv4.ip_forward\":\"1\"}"},
    {MESSAGE_0_11, "\"scheduler\":{\"policy\":1,\"nice\":5},\"rdt\":{\"clos_id\":\"gold\"}"},
};

struct text {
    char bytes[JSON_ROOM];
    size_t used;
};

static void add(struct text *text, const char *piece)
{
    const size_t length = strlen(piece);
    if (text->used + length < sizeof text->bytes) {
        memcpy(text->bytes + text->used, piece, length + 1);
        text->used += length;
    }
}

static void add_parts(struct text *text, const struct part *parts, size_t count, unsigned release)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].since > release)
            continue;
        add(text, ",");
        add(text, parts[i].json);
    }
}

static bool from_json(struct nri_buf *out, const ProtobufCMessageDescriptor *type,
                      const struct text *text)
{
    struct nri_arena arena;
    struct nri_error error;
    struct nri_json_settings settings;
    ProtobufCMessage *message = NULL;
    uint8_t *room = NULL;
    size_t size = 0;
    memory_arena(&arena, ARENA_LIMIT);
    const struct nri_json_source source = {.arena = &arena, .name = "message", .error = &error};
    const bool good = nri_json_options_take(NULL, &settings, &error) == 0 &&
                      nri_json_read_text(&source, &settings, type, text->bytes, text->used, NULL,
                                         &message) == 0 &&
                      nri_message_size(message, &size, &error) == 0 &&
                      nri_buf_reserve(out, size, &room) == 0;
    if (good) {
        nri_message_encode(message, room);
        nri_buf_commit(out, size);
    }
    nri_arena_fini(&arena);
    return good;
}

#define PARTS(list) (list), sizeof(list) / sizeof *(list)

bool message_pod(struct nri_buf *out, unsigned release, unsigned number)
{
    struct text text = {.used = 0};
    char head[100];
    (void)snprintf(head, sizeof head, "{\"id\":\"pod%u\",\"name\":\"web-%u\"", number, number);
    add(&text, head);
    add_parts(&text, PARTS(pod_parts), release);
    add(&text, "}");
    return from_json(out, &nri__pkg__api__v1alpha1__pod_sandbox__descriptor, &text);
}

/* Its state and process go with the event that tells of it. */
static unsigned state_at(unsigned event)
{
    enum { CREATED = 1, RUNNING = 3, STOPPED = 4 };
    static const unsigned char states[] = {
        [5] = CREATED, [6] = CREATED,  [7] = RUNNING, [8] = RUNNING,
        [9] = RUNNING, [10] = RUNNING, [11] = STOPPED};
    return event < sizeof states ? states[event] : 0;
}

bool message_container(struct nri_buf *out, unsigned release, unsigned number, unsigned event)
{
    enum { RUNNING = 3 };
    struct text text = {.used = 0};
    char head[200];
    const unsigned state = state_at(event);
    (void)snprintf(head, sizeof head,
                   "{\"id\":\"ctr%u\",\"pod_sandbox_id\":\"pod0\",\"name\":\"server-%u\","
                   "\"state\":%u,\"pid\":%u",
                   number, number, state, state == RUNNING ? 4322 : 0);
    add(&text, head);
    add_parts(&text, PARTS(container_parts), release);
    add(&text, ",\"linux\":{\"cgroups_path\":\"/kubepods/pod0/ctr\"");
    add_parts(&text, PARTS(linux_parts), release);
    add(&text, "}}");
    return from_json(out, &nri__pkg__api__v1alpha1__container__descriptor, &text);
}

bool message_configure(struct nri_buf *out, unsigned release, const char *config)
{
    enum { CONFIG = 1, NAME, VERSION, REGISTRATION, REQUEST, NRI };
    const struct message_release *of = message_release(release);
    bool good = (config[0] == '\0' || message_text(out, CONFIG, config)) &&
                message_text(out, NAME, of->runtime) && message_text(out, VERSION, of->version);
    if (release >= MESSAGE_0_7)
        good = good && message_number(out, REGISTRATION, REGISTER_MS) &&
               message_number(out, REQUEST, REQUEST_MS);
    if (release >= MESSAGE_0_12)
        good = good && message_text(out, NRI, of->nri);
    return good;
}

/* ---- events ---- */

static const struct message_call calls[] = {
    {"RunPodSandbox", 1, 0, MESSAGE_0_12, false},
    {"StopPodSandbox", 2, 0, MESSAGE_0_12, false},
    {"RemovePodSandbox", 3, 0, MESSAGE_0_12, false},
    {"CreateContainer", 4, 0, 0, true},
    {"PostCreateContainer", 5, 0, MESSAGE_0_12, true},
    {"StartContainer", 6, 0, MESSAGE_0_12, true},
    {"PostStartContainer", 7, 0, MESSAGE_0_12, true},
    {"UpdateContainer", 8, 0, 0, true},
    {"PostUpdateContainer", 9, 0, MESSAGE_0_12, true},
    {"StopContainer", 10, 0, 0, true},
    {"RemoveContainer", 11, 0, MESSAGE_0_12, true},
    {"UpdatePodSandbox", 12, MESSAGE_0_10, MESSAGE_0_10, false},
    {"PostUpdatePodSandbox", 13, MESSAGE_0_10, MESSAGE_0_12, false},
    {"ValidateContainerAdjustment", 14, MESSAGE_0_10, MESSAGE_0_10, true},
};

const unsigned message_life[14] = {1, 4, 14, 5, 6, 7, 8, 9, 12, 13, 10, 11, 2, 3};

const struct message_call *message_call(unsigned event)
{
    return event >= 1 && event <= sizeof calls / sizeof *calls ? &calls[event - 1] : NULL;
}

static bool from_text(struct nri_buf *out, const ProtobufCMessageDescriptor *type, const char *json)
{
    struct text text = {.used = 0};
    add(&text, json);
    return from_json(out, type, &text);
}

static bool add_resources(struct nri_buf *out, unsigned field, const char *json)
{
    struct nri_buf inner;
    memory_buf(&inner, SIZE_MAX);
    const bool good =
        from_text(&inner, &nri__pkg__api__v1alpha1__linux_resources__descriptor, json) &&
        message_inner(out, field, &inner);
    nri_buf_fini(&inner);
    return good;
}

/* What the validator is asked about: what 10-other adjusted. */
static bool add_adjustment(struct nri_buf *out)
{
    return from_text(out,
                     &nri__pkg__api__v1alpha1__validate_container_adjustment_request__descriptor,
                     "{\"adjust\":{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]},"
                     "\"owners\":{\"owners\":{\"ctr0\":{\"compound\":{\"6\":{\"owners\":{\"A\":"
                     "\"10-other\"}}}}}},"
                     "\"plugins\":[{\"name\":\"other\",\"index\":\"10\"}]}");
}

bool message_event(struct nri_buf *out, unsigned release, unsigned event, unsigned container)
{
    enum { POD = 1, CONTAINER, RESOURCES, UPDATE = 8, UPDATE_POD = 12, VALIDATE = 14 };
    static const char resources[] = "{\"cpu\":{\"shares\":512},\"memory\":{\"limit\":536870912}}";
    const struct message_call *call = message_call(event);
    struct nri_buf inner;
    memory_buf(&inner, SIZE_MAX);
    bool good = message_pod(&inner, release, 0) && message_inner(out, POD, &inner);
    nri_buf_reset(&inner, SIZE_MAX);
    if (call == NULL || call->of_container)
        good = good && message_container(&inner, release, container, event) &&
               message_inner(out, CONTAINER, &inner);
    if (event == UPDATE || event == UPDATE_POD)
        good = good && add_resources(out, RESOURCES, resources);
    if (event == UPDATE_POD)
        good = good && add_resources(out, CONTAINER, "{\"cpu\":{\"shares\":64}}");
    if (event == VALIDATE)
        good = good && add_adjustment(out);
    nri_buf_fini(&inner);
    return good;
}
