/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop-host SOCKET REQUEST REGISTRATION [DIRECTORY CONFIGS]: a runtime without containers on
 * nri/runtime.h, told on its standard input what to do, one command a line; what happens is told as
 * JSON lines. REQUEST and REGISTRATION are its time-outs in milliseconds. With DIRECTORY it
 * launches the plugins there.
 *
 * - call EVENT NAME: the event, of the container NAME and the pod sandbox of that name
 *
 * - node PODS BYTES: from now on synchronised plugins are told of so many pod sandboxes, each with
 *   one container of about so many bytes
 *
 * - stall MILLISECONDS: does nothing for so long, as an embedder that is busy elsewhere
 *
 * - quit
 *
 * The loop is poll(), so that what an embedder without libuv does is tried too.
 */
#include <nri/nri.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE 4096

struct node {
    nri_runtime *runtime;
    unsigned long pods, bytes; /* of what is told at a synchronisation */
    char line[LINE];
    size_t have;
};

/* One call in flight; it owns its objects. */
struct call {
    char name[64];
    nri_pod *pod;
    nri_container *container;
};

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "interop-host: %s: %s\n", what, why);
    exit(1);
}

/* ---- telling ---- */

static void put_text(const char *key, const char *value)
{
    (void)printf(", \"%s\": \"", key);
    for (const unsigned char *at = (const unsigned char *)value; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            (void)printf("\\%c", *at);
        else if (*at < 0x20)
            (void)printf("\\u%04x", *at);
        else
            (void)putchar(*at);
    }
    (void)putchar('"');
}

static void begin(const char *what)
{
    (void)printf("{\"what\": \"%s\"", what);
}

static void end(void)
{
    (void)puts("}");
    (void)fflush(stdout);
}

static void put_outcome(nri_outcome *outcome)
{
    char *text = NULL;
    if (nri_outcome_json(outcome, NULL, &text, NULL) != 0)
        die("nri_outcome_json", "no record");
    (void)printf(", \"record\": %s", text);
    nri_outcome_text_free(text);
    if (nri_outcome_adjustment(outcome) == NULL)
        return;
    if (nri_adjustment_to_json(nri_outcome_adjustment(outcome), NULL, &text, NULL, NULL) != 0)
        die("nri_adjustment_to_json", "no text");
    (void)printf(", \"adjust\": %s", text);
    nri_json_free(text);
}

/* ---- what there is ---- */

static void make_objects(const char *name, unsigned long bytes, nri_pod **pod,
                         nri_container **container)
{
    static const char form[] =
        "{\"id\": \"ctr-%s\", \"pod_sandbox_id\": \"pod-%s\", \"name\": \"%s\","
        " \"args\": [\"true\"], \"env\": [\"PATH=/bin\"], \"linux\":"
        " {\"resources\": {\"cpu\": {\"shares\": 100}}}}";
    char json[1024], id[128];
    nri_error *error = NULL;
    (void)snprintf(json, sizeof json, form, name, name, name);
    (void)snprintf(id, sizeof id, "pod-%s", name);
    if (nri_pod_new(pod, NULL) != 0 || nri_pod_set_id(*pod, id) != 0 ||
        nri_pod_set_name(*pod, name) != 0 || nri_pod_set_uid(*pod, id) != 0 ||
        nri_pod_set_namespace(*pod, "default") != 0)
        die(name, "no pod sandbox");
    if (nri_container_from_json(json, strlen(json), NULL, container, &error) != 0)
        die(name, nri_error_get_text(error));
    if (bytes == 0)
        return;
    char *large = malloc(bytes + 1);
    if (large == NULL)
        die(name, "no memory");
    memset(large, 'x', bytes);
    large[bytes] = '\0';
    if (nri_container_set_env(*container, "LARGE", large) != 0)
        die(name, "no large container");
    free(large);
}

static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    const struct node *node = user;
    int code = 0;
    (void)runtime;
    for (unsigned long i = 0; code == 0 && i < node->pods; i++) {
        nri_pod *pod = NULL;
        nri_container *container = NULL;
        char name[32];
        (void)snprintf(name, sizeof name, "node-%lu", i);
        make_objects(name, node->bytes, &pod, &container);
        code = nri_enumeration_add_pod(list, pod);
        if (code == 0)
            code = nri_enumeration_add_container(list, container);
        nri_container_free(container);
        nri_pod_free(pod);
    }
    return code;
}

/* ---- operations ---- */

/* The updates of a plugin that sends thousands are not told. */
static bool is_of_interest(const nri_updates *list)
{
    return nri_updates_count(list) > 0 &&
           strncmp(nri_update_container_id(nri_updates_at(list, 0)), "ctr-", 4) == 0;
}

static int update(nri_runtime *runtime, nri_runtime_update *wish, void *user)
{
    const nri_updates *list = nri_runtime_update_list(wish);
    (void)runtime;
    (void)user;
    if (nri_runtime_update_is_sync(wish) || !is_of_interest(list))
        return 0;
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        if (strcmp(id, "ctr-fails") == 0 && nri_runtime_update_fail(wish, id) != 0)
            die("nri_runtime_update_fail", id);
    }
    begin("update");
    put_text("plugin", nri_runtime_plugin_id(nri_runtime_update_plugin(wish)));
    (void)printf(", \"count\": %zu", nri_updates_count(list));
    end();
    return 0;
}

static void connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    (void)runtime;
    (void)user;
    begin("connected");
    put_text("plugin", nri_runtime_plugin_id(plugin));
    put_text("version", nri_runtime_plugin_nri_version(plugin));
    (void)printf(", \"origin\": %d, \"pid\": %lld", (int)nri_runtime_plugin_origin(plugin),
                 (long long)nri_runtime_plugin_pid(plugin));
    end();
}

static void lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                 void *user)
{
    (void)runtime;
    (void)user;
    begin("lost");
    put_text("plugin", nri_runtime_plugin_id(plugin));
    put_text("code", code == 0 ? "" : nri_error_name(code));
    put_text("text", text);
    end();
}

static void ready(nri_runtime *runtime, void *user)
{
    (void)runtime;
    (void)user;
    begin("ready");
    end();
}

static void log_line(void *user, const nri_log_record *record)
{
    (void)user;
    begin("log");
    put_text("level", nri_log_level_name(nri_log_record_level(record)));
    put_text("text", nri_log_record_text(record));
    end();
}

/* ---- commands ---- */

static void done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct call *call = user;
    (void)runtime;
    begin("outcome");
    put_text("event", nri_event_name(nri_outcome_event(outcome)));
    put_text("name", call->name);
    put_text("code",
             nri_outcome_code(outcome) == 0 ? "" : nri_error_name(nri_outcome_code(outcome)));
    put_text("text", nri_outcome_text(outcome));
    put_outcome(outcome);
    end();
    nri_container_free(call->container);
    nri_pod_free(call->pod);
    free(call);
}

static enum nri_event event_of(const char *name)
{
    for (int i = NRI_EVENT_RUN_POD_SANDBOX; i <= NRI_EVENT_POST_UPDATE_POD_SANDBOX; i++) {
        if (strcmp(nri_event_name((enum nri_event)i), name) == 0)
            return (enum nri_event)i;
    }
    die(name, "no such event");
    return NRI_EVENT_UNKNOWN;
}

static void start_call(struct node *node, const char *event_name, const char *name)
{
    struct nri_runtime_event event;
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL)
        die(name, "no memory");
    (void)snprintf(call->name, sizeof call->name, "%s", name);
    make_objects(name, 0, &call->pod, &call->container);
    nri_runtime_event_init(&event, sizeof event);
    event.event = event_of(event_name);
    event.pod = call->pod;
    if (strstr(event_name, "Container") != NULL)
        event.container = call->container;
    if (event.event == NRI_EVENT_UPDATE_CONTAINER || event.event == NRI_EVENT_UPDATE_POD_SANDBOX)
        event.resources = nri_container_resources(call->container);
    if (nri_runtime_call(node->runtime, &event, done, call) != 0)
        die(event_name, nri_error_get_text(nri_runtime_last_error(node->runtime)));
}

static void command(struct node *node, char *line)
{
    char *rest = NULL;
    const char *verb = strtok_r(line, " ", &rest);
    const char *first = strtok_r(NULL, " ", &rest), *second = strtok_r(NULL, " ", &rest);
    if (verb != NULL && strcmp(verb, "quit") == 0) {
        nri_runtime_stop(node->runtime);
    } else if (second != NULL && strcmp(verb, "call") == 0) {
        start_call(node, first, second);
    } else if (second != NULL && strcmp(verb, "node") == 0) {
        node->pods = strtoul(first, NULL, 10);
        node->bytes = strtoul(second, NULL, 10);
    } else if (first != NULL && strcmp(verb, "stall") == 0) {
        const long ms = strtol(first, NULL, 10);
        const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
        (void)nanosleep(&time, NULL);
    } else {
        die(line, "no such command");
    }
}

static void read_commands(struct node *node)
{
    const ssize_t n = read(STDIN_FILENO, node->line + node->have, LINE - 1 - node->have);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) { /* whoever started this program is gone */
        nri_runtime_stop(node->runtime);
        return;
    }
    node->have += (size_t)n;
    for (;;) {
        char *newline = memchr(node->line, '\n', node->have);
        if (newline == NULL)
            break;
        *newline = '\0';
        command(node, node->line);
        node->have -= (size_t)(newline + 1 - node->line);
        memmove(node->line, newline + 1, node->have);
    }
    if (node->have == LINE - 1)
        die("a command", "it is too long");
}

static void turn(struct node *node)
{
    int alive = 1;
    while (alive > 0) {
        struct pollfd fds[2] = {{.fd = nri_runtime_fd(node->runtime), .events = POLLIN},
                                {.fd = STDIN_FILENO, .events = POLLIN}};
        if (poll(fds, 2, nri_runtime_timeout(node->runtime)) < 0 && errno != EINTR)
            die("poll", strerror(errno));
        if (fds[1].revents != 0)
            read_commands(node);
        alive = nri_runtime_dispatch(node->runtime);
    }
    if (alive < 0)
        die("nri_runtime_dispatch", nri_error_name(alive));
}

int main(int argc, char **argv)
{
    struct node node = {.runtime = NULL};
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;
    nri_error *error = NULL;
    if (argc != 4 && argc != 6) {
        (void)fputs("usage: interop-host SOCKET REQUEST REGISTRATION [DIRECTORY CONFIGS]\n",
                    stderr);
        return 2;
    }
    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = enumerate;
    ops.update = update;
    ops.plugin_connected = connected;
    ops.plugin_lost = lost;
    ops.ready = ready;
    nri_runtime_options_init(&options, sizeof options);
    options.socket_path = argv[1];
    options.request_timeout_ms = (uint32_t)strtoul(argv[2], NULL, 10);
    options.registration_timeout_ms = (uint32_t)strtoul(argv[3], NULL, 10);
    options.no_launch = argc == 4;
    if (argc == 6) {
        options.plugin_directory = argv[4];
        options.config_directory = argv[5];
    }
    options.name = "interop-host";
    options.log = log_line;
    options.log_level = NRI_LOG_WARN;
    if (nri_runtime_new(&node.runtime, &ops, &options, &node, &error) != 0)
        die("nri_runtime_new", nri_error_get_text(error));
    if (nri_runtime_start(node.runtime, NULL, NULL, NULL) != 0)
        die("nri_runtime_start", nri_error_get_text(nri_runtime_last_error(node.runtime)));
    turn(&node);
    nri_runtime_close(node.runtime, NULL, NULL);
    return 0;
}
