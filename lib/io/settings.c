/* SPDX-License-Identifier: Apache-2.0 */
#include "io/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/host.h"
#include "io/environment.h"
#include "io/limit.h"
#include "io/socket.h"
#include "model/model.h"

NRI_ABI_ASSERT(struct nri_plugin_ops);
NRI_ABI_ASSERT(struct nri_plugin_options);
NRI_ABI_ASSERT(struct nri_call_options);

/* The sizes in 0.1.0. They stay when the structures grow. */
#define FIRST_SIZE(type, last_member)                                                              \
    (offsetof(type, last_member) + sizeof(((type *)0)->last_member))
#define OPS_FIRST_SIZE             FIRST_SIZE(struct nri_plugin_ops, reserved)
#define OPTIONS_FIRST_SIZE         FIRST_SIZE(struct nri_plugin_options, reserved)
#define CALL_FIRST_SIZE            FIRST_SIZE(struct nri_call_options, reserved)

#define DEFAULT_REGISTRATION_MS    UINT64_C(5000)
#define DEFAULT_RECONNECT_MIN_MS   UINT64_C(100)
#define DEFAULT_RECONNECT_MAX_MS   UINT64_C(30000)
#define DEFAULT_RECONNECT_RESET_MS UINT64_C(60000)
#define MAX_QUEUED_UPDATES         4096
#define MAX_PENDING_CALLS          120 /* what a Go peer can queue */
#define CALL_METADATA_MAX          256 /* entries */

static int take(struct nri_plugin_ops *ops, const struct nri_plugin_ops *given_ops,
                struct nri_plugin_options *options, const struct nri_plugin_options *given_options,
                struct nri_error *error)
{
    int rc = nri_abi_take(options, sizeof *options, OPTIONS_FIRST_SIZE, given_options,
                          "nri_plugin_options", error);
    if (rc != 0)
        return rc;
    if (options->reserved_pointer != NULL ||
        !nri_abi_is_zero(options->reserved, sizeof options->reserved))
        return nri_error_set(
            error, NRI_E_ABI,
            "struct nri_plugin_options: a reserved member is not 0; fill the structure with "
            "nri_plugin_options_init()");
    if (given_ops == NULL)
        return nri_error_set(error, NRI_E_INVALID, "there is no callback table");
    rc = nri_abi_take(ops, sizeof *ops, OPS_FIRST_SIZE, given_ops, "nri_plugin_ops", error);
    if (rc == 0 && !nri_abi_is_zero(ops->reserved, sizeof ops->reserved))
        return nri_error_set(error, NRI_E_ABI,
                             "struct nri_plugin_ops: a reserved member is not NULL; fill the "
                             "structure with nri_plugin_ops_init()");
    return rc;
}

/* ---- limits ---- */

enum {
    IN_FLIGHT,
    SYNC_PARTS,
    PENDING_CALLS,
    REGISTRATION,
    CALL,
    RECEIVE,
    SEND,
    MEMORY,
    QUEUED,
    OUTPUT,
    SYNC_BYTES,
    REQUEST_BYTES,
    QUEUED_UPDATES,
    RECONNECT_MIN,
    RECONNECT_MAX,
    RECONNECT_RESET,
    RECONNECT_GIVE_UP,
    MARGIN_PERCENT,
    MARGIN,
    SLOW,
    OFFLOAD,
    STOP_GRACE,
    LIMIT_COUNT
};

static int resolve_reconnect(struct nri_settings *settings,
                             const struct nri_plugin_options *options,
                             const struct nri_limit limits[LIMIT_COUNT], struct nri_error *error)
{
    uint64_t min = limits[RECONNECT_MIN].value, max = limits[RECONNECT_MAX].value;
    /* A default gives way to what was given. */
    if (max < min && options->reconnect_min_ms == 0)
        min = max;
    if (max < min && options->reconnect_max_ms != 0)
        return nri_error_set(error, NRI_E_RANGE,
                             "reconnect_max_ms is %llu and reconnect_min_ms %llu: the longest "
                             "delay must not be below the first",
                             (unsigned long long)max, (unsigned long long)min);
    settings->reconnect.on = options->reconnect != 0;
    settings->reconnect.watch = options->no_socket_watch == 0;
    settings->reconnect.attempts = options->reconnect_attempts;
    settings->reconnect.min = min * NRI_MSEC;
    settings->reconnect.max = (max < min ? min : max) * NRI_MSEC;
    settings->reconnect.reset = limits[RECONNECT_RESET].value * NRI_MSEC;
    settings->reconnect.give_up = limits[RECONNECT_GIVE_UP].value * NRI_MSEC;
    return 0;
}

static void take_limits(struct nri_settings *settings, const struct nri_plugin_options *options,
                        const struct nri_limit limits[LIMIT_COUNT])
{
    struct nri_rpc_limits *rpc = &settings->limits;
    settings->max_queued_updates = (size_t)limits[QUEUED_UPDATES].value;
    rpc->max_in_flight = (size_t)limits[IN_FLIGHT].value;
    rpc->max_pending_calls = (size_t)limits[PENDING_CALLS].value;
    rpc->max_receive = (size_t)limits[RECEIVE].value;
    rpc->max_send = (size_t)limits[SEND].value;
    rpc->arena_base = (size_t)limits[MEMORY].value;
    rpc->max_request_bytes = (size_t)limits[REQUEST_BYTES].value;
    rpc->max_queued_bytes = (size_t)limits[QUEUED].value;
    rpc->max_output_bytes = (size_t)limits[OUTPUT].value;
    settings->max_sync_parts = (size_t)limits[SYNC_PARTS].value;
    settings->max_sync_bytes = (size_t)limits[SYNC_BYTES].value;
    settings->registration_timeout = limits[REGISTRATION].value * NRI_MSEC;
    settings->call_timeout = limits[CALL].value * NRI_MSEC;
    settings->deadlines.margin_percent = (uint32_t)limits[MARGIN_PERCENT].value;
    settings->deadlines.margin = limits[MARGIN].value * NRI_MSEC;
    settings->deadlines.slow_percent =
        options->no_slow_warning != 0 ? 0 : (uint32_t)limits[SLOW].value;
    settings->stop_grace = limits[STOP_GRACE].value * NRI_MSEC;
    settings->offload_threads = (unsigned)limits[OFFLOAD].value;
}

static int resolve_limits(struct nri_settings *settings, const struct nri_plugin_options *options,
                          struct nri_error *error)
{
    struct nri_rpc_limits *rpc = &settings->limits;
    nri_rpc_limits_default(rpc);
    struct nri_limit limits[LIMIT_COUNT] = {
        [IN_FLIGHT] = {"max_in_flight", options->max_in_flight, rpc->max_in_flight, 1, 65536, 0},
        [SYNC_PARTS] = {"max_sync_parts", options->max_sync_parts, 65536, 1, UINT32_MAX, 0},
        [PENDING_CALLS] = {"max_pending_calls", options->max_pending_calls, rpc->max_pending_calls,
                           1, MAX_PENDING_CALLS, 0},
        [REGISTRATION] = {"registration_timeout_ms", options->registration_timeout_ms,
                          DEFAULT_REGISTRATION_MS, 1, NRI_LONGEST_MS, 0},
        [CALL] = {"call_timeout_ms", options->call_timeout_ms, 0, 1, NRI_LONGEST_MS, 0},
        [RECEIVE] = {"max_receive_bytes", options->max_receive_bytes, rpc->max_receive, NRI_KIB,
                     NRI_GIB, 0},
        [SEND] = {"max_send_bytes", options->max_send_bytes, rpc->max_send, NRI_KIB,
                  NRI_LARGEST_SEND, 0},
        [MEMORY] = {"request_memory_bytes", options->request_memory_bytes, rpc->arena_base,
                    4 * NRI_KIB, NRI_GIB, 0},
        [QUEUED] = {"max_queued_bytes", options->max_queued_bytes, rpc->max_queued_bytes, NRI_KIB,
                    NRI_GIB, 0},
        [OUTPUT] = {"max_output_bytes", options->max_output_bytes, rpc->max_output_bytes,
                    2 * NRI_KIB, NRI_GIB, 0},
        [SYNC_BYTES] = {"max_sync_bytes", options->max_sync_bytes, 256 * NRI_MIB, NRI_KIB, NRI_GIB,
                        0},
        [REQUEST_BYTES] = {"max_request_bytes", options->max_request_bytes, rpc->max_request_bytes,
                           NRI_KIB, NRI_GIB, 0},
        [QUEUED_UPDATES] = {"max_queued_updates", options->max_queued_updates, 64, 1,
                            MAX_QUEUED_UPDATES, 0},
        [RECONNECT_MIN] = {"reconnect_min_ms", options->reconnect_min_ms, DEFAULT_RECONNECT_MIN_MS,
                           1, NRI_LONGEST_MS, 0},
        [RECONNECT_MAX] = {"reconnect_max_ms", options->reconnect_max_ms, DEFAULT_RECONNECT_MAX_MS,
                           1, NRI_LONGEST_MS, 0},
        [RECONNECT_RESET] = {"reconnect_reset_ms", options->reconnect_reset_ms,
                             DEFAULT_RECONNECT_RESET_MS, 1, NRI_LONGEST_MS, 0},
        [RECONNECT_GIVE_UP] = {"reconnect_give_up_ms", options->reconnect_give_up_ms, 0, 1,
                               UINT64_MAX / NRI_MSEC, 0},
        [MARGIN_PERCENT] = {"deadline_margin_percent", options->deadline_margin_percent, 10, 1, 90,
                            0},
        [MARGIN] = {"deadline_margin_ms", options->deadline_margin_ms, 50, 1, 60000, 0},
        [SLOW] = {"slow_percent", options->slow_percent, 50, 1, 100, 0},
        [STOP_GRACE] = {"stop_grace_ms", options->stop_grace_ms, 0, 1, 60000, 0},
        [OFFLOAD] = {"offload_threads", options->offload_threads, 4, 1, 64, 0},
    };
    int rc = nri_limits_check(limits, LIMIT_COUNT, error);
    if (rc == 0)
        rc = nri_limits_check_output(limits[OUTPUT].value, limits[SEND].value, error);
    if (rc != 0)
        return rc;
    rc = resolve_reconnect(settings, options, limits, error);
    if (rc != 0)
        return rc;
    take_limits(settings, options, limits);
    return 0;
}

static int resolve_late_events(struct nri_settings *settings,
                               const struct nri_plugin_options *options, struct nri_error *error)
{
    const uint32_t both = options->pass_late_events & options->refuse_late_events;
    const uint32_t unknown =
        (options->pass_late_events | options->refuse_late_events) & ~NRI_EVENTS_ALL;
    if (unknown != 0)
        return nri_error_set(error, NRI_E_RANGE,
                             "pass_late_events or refuse_late_events has bits of no event: 0x%lx",
                             (unsigned long)unknown);
    if (both != 0)
        return nri_error_set(error, NRI_E_INVALID,
                             "pass_late_events and refuse_late_events have the same events: 0x%lx",
                             (unsigned long)both);
    settings->deadlines.guard = options->no_deadline_guard == 0;
    settings->deadlines.refused =
        (options->refuse_late_events | NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)) &
        ~options->pass_late_events;
    return 0;
}

static int resolve_switches(struct nri_settings *settings, const struct nri_plugin_options *options,
                            struct nri_error *error)
{
    if (options->dispatch < NRI_DISPATCH_DEFAULT || options->dispatch > NRI_DISPATCH_WORKER)
        return nri_error_set(
            error, NRI_E_RANGE,
            "dispatch is %d; this libnri knows 0 (the default), 1 (loop) and 2 (worker)",
            (int)options->dispatch);
    if (options->log_level < NRI_LOG_DEFAULT || options->log_level > NRI_LOG_DEBUG)
        return nri_error_set(error, NRI_E_RANGE,
                             "log_level is %d; it must be from 0 (the default) to %d (debug)",
                             (int)options->log_level, (int)NRI_LOG_DEBUG);
    settings->log = options->log;
    settings->log_user = options->log_user;
    settings->log_level =
        options->log_level != NRI_LOG_DEFAULT ? (int)options->log_level : (int)NRI_LOG_INFO;
    settings->allow_missing_validate = options->allow_missing_validate != 0;
    settings->strict_features = options->strict_features != 0;
    settings->worker = options->dispatch == NRI_DISPATCH_WORKER;
    settings->bypass = options->bypass != 0;
    settings->state = options->state;
    return resolve_late_events(settings, options, error);
}

/* ---- texts ---- */

static int copy(struct nri_settings *settings, char **to, const char *text, struct nri_error *error)
{
    *to = nri_alloc_text(&settings->alloc, text, strlen(text));
    return *to != NULL ? 0 : nri_error_set(error, NRI_E_NOMEM, "out of memory");
}

/* Name or index, and where it came from, which is what must be changed if it is wrong. */
struct identity_part {
    const char *text, *origin;
};

/* From the first source that has it: options, environment, the program's name. */
static struct identity_part find_part(const struct nri_plugin_options *options, const char *given,
                                      const char *option, const char *variable,
                                      const char *of_program)
{
    if (given != NULL)
        return (struct identity_part){given, option};
    if (options->ignore_environment == 0)
        given = nri_environment_get(variable);
    if (given != NULL)
        return (struct identity_part){given, variable};
    return (struct identity_part){of_program, "the program's name"};
}

static int resolve_identity(struct nri_settings *settings, const struct nri_plugin_options *options,
                            struct nri_error *error)
{
    const char *program = options->program != NULL ? options->program : nri_environment_program();
    char program_index[3] = "";
    const char *program_name = program;
    bool has_index = nri_identity_from_program(program, program_index, &program_name);
    const struct identity_part index =
        find_part(options, options->index, "options.index", NRI_ENVIRONMENT_INDEX,
                  has_index ? program_index : NULL);
    const struct identity_part name =
        find_part(options, options->name, "options.name", NRI_ENVIRONMENT_NAME, program_name);
    if (index.text == NULL)
        return nri_error_set(error, NRI_E_INVALID,
                             "the plugin has no index: set options.index or " NRI_ENVIRONMENT_INDEX
                             ", or call the program NN-name, such as 10-%s (it is called \"%s\")",
                             program_name, program);
    const char *origin = index.origin;
    int rc = nri_identity_check_index(index.text, error);
    if (rc == 0) {
        origin = name.origin;
        rc = nri_identity_check_name(name.text, error);
    }
    if (rc != 0) {
        (void)nri_error_prefix(error, "%s", origin);
        return rc;
    }
    memcpy(settings->index, index.text, sizeof settings->index);
    return copy(settings, &settings->name, name.text, error);
}

static int resolve_label(struct nri_settings *settings, struct nri_error *error)
{
    size_t size = strlen(settings->index) + 1 + strlen(settings->name) + 1;
    settings->label = nri_alloc_raw(&settings->alloc, size);
    if (settings->label == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    (void)snprintf(settings->label, size, "%s-%s", settings->index, settings->name);
    return 0;
}

/* The given descriptor, then the environment's, then the path. */
static int resolve_socket(struct nri_settings *settings, const struct nri_plugin_options *options,
                          struct nri_error *error)
{
    int rc = 0;
    if (options->use_fd != 0) {
        settings->fd = options->fd;
        rc = nri_socket_check(options->fd, error);
    } else if (options->ignore_environment == 0) {
        rc = nri_environment_socket(&settings->fd, error);
    }
    if (rc != 0)
        return rc;
    if (settings->fd >= 0) {
        char peer[32];
        (void)snprintf(peer, sizeof peer, "descriptor %d", settings->fd);
        return copy(settings, &settings->peer, peer, error);
    }
    const char *path =
        options->socket_path != NULL ? options->socket_path : NRI_DEFAULT_SOCKET_PATH;
    rc = nri_socket_check_path(path, error);
    if (rc == 0)
        rc = copy(settings, &settings->path, path, error);
    if (rc == 0)
        rc = copy(settings, &settings->peer, path, error);
    return rc;
}

int nri_settings_resolve(struct nri_settings *settings, const struct nri_plugin_ops *ops,
                         const struct nri_plugin_options *options, struct nri_error *error)
{
    struct nri_plugin_options known;
    memset(settings, 0, sizeof *settings);
    settings->fd = -1;
    (void)nri_alloc_resolve(&settings->alloc, NULL);

    int rc = take(&settings->ops, ops, &known, options, error);
    if (rc != 0)
        return rc;
    rc = nri_option_allocator(&settings->alloc, known.allocator, error);
    if (rc != 0)
        return rc;

    if ((rc = resolve_switches(settings, &known, error)) != 0 ||
        (rc = resolve_limits(settings, &known, error)) != 0 ||
        (rc = resolve_identity(settings, &known, error)) != 0 ||
        (rc = resolve_label(settings, error)) != 0 ||
        (rc = resolve_socket(settings, &known, error)) != 0)
        nri_settings_fini(settings);
    return rc;
}

void nri_settings_fini(struct nri_settings *settings)
{
    nri_alloc_release(&settings->alloc, settings->name);
    nri_alloc_release(&settings->alloc, settings->label);
    nri_alloc_release(&settings->alloc, settings->path);
    nri_alloc_release(&settings->alloc, settings->peer);
    settings->name = settings->label = settings->path = settings->peer = NULL;
}

/* ---- calls ---- */

int nri_settings_call(struct nri_call_options *known, const struct nri_call_options *from,
                      uint64_t *timeout, struct nri_error *error)
{
    int rc = nri_abi_take(known, sizeof *known, CALL_FIRST_SIZE, from, "nri_call_options", error);
    if (rc != 0)
        return rc;
    if (!nri_abi_is_zero(known->reserved, sizeof known->reserved))
        return nri_error_set(
            error, NRI_E_ABI,
            "struct nri_call_options: a reserved member is not 0; fill the structure with "
            "nri_call_options_init()");
    if (known->timeout_ms > NRI_LONGEST_MS)
        return nri_error_set(
            error, NRI_E_RANGE, "timeout_ms is %llu; it must be at most %llu, or 0 for the default",
            (unsigned long long)known->timeout_ms, (unsigned long long)NRI_LONGEST_MS);
    if (known->metadata_count > CALL_METADATA_MAX)
        return nri_error_set(error, NRI_E_RANGE, "metadata_count is %llu; it must be at most %d",
                             (unsigned long long)known->metadata_count, CALL_METADATA_MAX);
    if (known->metadata_count > 0 && known->metadata == NULL)
        return nri_error_set(error, NRI_E_INVALID, "metadata is NULL, and metadata_count %llu",
                             (unsigned long long)known->metadata_count);
    for (size_t i = 0; i < 2 * (size_t)known->metadata_count; i++) {
        if (known->metadata[i] == NULL)
            return nri_error_set(error, NRI_E_INVALID, "metadata[%zu] is NULL", i);
    }
    *timeout = known->timeout_ms * NRI_MSEC;
    return 0;
}

void nri_plugin_ops_init(struct nri_plugin_ops *ops, size_t size)
{
    nri_abi_init(ops, size);
}

void nri_plugin_options_init(struct nri_plugin_options *options, size_t size)
{
    nri_abi_init(options, size);
}

void nri_call_options_init(struct nri_call_options *options, size_t size)
{
    nri_abi_init(options, size);
}
