/* SPDX-License-Identifier: Apache-2.0 */
#include "io/runtime_settings.h"

#include <string.h>

#include <nri/version.h>

#include "base/abi.h"
#include "base/host.h"
#include "base/text.h"
#include "io/limit.h"
#include "io/socket.h"
#include "runtime/failure.h"

NRI_ABI_ASSERT(struct nri_runtime_options);

/* The sizes in 0.1.0. They stay when the structures grow. */
#define FIRST_SIZE(type, last_member)                                                              \
    (offsetof(type, last_member) + sizeof(((type *)0)->last_member))
#define OPS_FIRST_SIZE      FIRST_SIZE(struct nri_runtime_ops, reserved)
#define OPTIONS_FIRST_SIZE  FIRST_SIZE(struct nri_runtime_options, reserved)

#define DEFAULT_NAME        "libnri"
#define DEFAULT_NRI_VERSION "0.12.2" /* the newest whose every call is known here */
#define DEFAULT_MAX_PLUGINS 128
#define DEFAULT_MAX_CALLS   1024
#define DEFAULT_REGISTER_MS 5000
#define DEFAULT_REQUEST_MS  2000
#define DEFAULT_STOP_MS     1000
#define DEFAULT_MAX_OUTPUT  (64 * NRI_MIB)
#define LONGEST_STOP_MS     60000
#define LARGEST_MEMORY      (SIZE_MAX / 2) /* where size_t is small */
#define NAME_MAX_BYTES      1024           /* of what is told in Configure */

static int take_ops(struct nri_runtime_ops *ops, const struct nri_runtime_ops *given,
                    struct nri_error *error)
{
    int rc = nri_abi_take(ops, sizeof *ops, OPS_FIRST_SIZE, given, "nri_runtime_ops", error);
    if (rc == 0 && !nri_abi_is_zero(ops->reserved, sizeof ops->reserved))
        rc = nri_error_set(error, NRI_E_ABI,
                           "struct nri_runtime_ops: a reserved member is not NULL; fill the "
                           "structure with nri_runtime_ops_init()");
    return rc;
}

static int take(struct nri_runtime_ops *ops, const struct nri_runtime_ops *given_ops,
                struct nri_runtime_options *options,
                const struct nri_runtime_options *given_options, struct nri_error *error)
{
    int rc = nri_abi_take(options, sizeof *options, OPTIONS_FIRST_SIZE, given_options,
                          "nri_runtime_options", error);
    if (rc != 0)
        return rc;
    if (!nri_abi_is_zero(options->reserved_pointers, sizeof options->reserved_pointers) ||
        !nri_abi_is_zero(options->reserved, sizeof options->reserved))
        return nri_error_set(
            error, NRI_E_ABI,
            "struct nri_runtime_options: a reserved member is not 0; fill the structure with "
            "nri_runtime_options_init()");
    return take_ops(ops, given_ops, error);
}

/* ---- limits ---- */

enum {
    OUTSTANDING,
    PLUGINS,
    CALLS,
    REGISTRATION,
    REQUEST,
    STOP,
    RECEIVE,
    SEND,
    OUTPUT,
    MERGE_BYTES,
    SYNC_BYTES,
    LIMIT_COUNT
};

static size_t memory(uint64_t bytes)
{
    return bytes < LARGEST_MEMORY ? (size_t)bytes : LARGEST_MEMORY;
}

static void take_limits(struct nri_runtime_settings *settings,
                        const struct nri_limit limits[LIMIT_COUNT])
{
    settings->max_outstanding = (size_t)limits[OUTSTANDING].value;
    settings->max_plugins = (size_t)limits[PLUGINS].value;
    settings->max_calls = (size_t)limits[CALLS].value;
    settings->registration_timeout = limits[REGISTRATION].value * NRI_MSEC;
    settings->request_timeout = limits[REQUEST].value * NRI_MSEC;
    settings->stop_timeout = limits[STOP].value * NRI_MSEC;
    settings->limits.max_receive = memory(limits[RECEIVE].value);
    settings->limits.max_send = memory(limits[SEND].value);
    settings->limits.max_output_bytes = memory(limits[OUTPUT].value);
    settings->max_merge_bytes = memory(limits[MERGE_BYTES].value);
    settings->max_sync_bytes = memory(limits[SYNC_BYTES].value);
}

static int resolve_limits(struct nri_runtime_settings *settings,
                          const struct nri_runtime_options *options, struct nri_error *error)
{
    struct nri_rpc_limits *rpc = &settings->limits;
    nri_rpc_limits_default(rpc);
    struct nri_limit limits[LIMIT_COUNT] = {
        [OUTSTANDING] = {"max_outstanding", options->max_outstanding, 1, 1, 64, 0},
        [PLUGINS] = {"max_plugins", options->max_plugins, DEFAULT_MAX_PLUGINS, 1, 4096, 0},
        [CALLS] = {"max_calls", options->max_calls, DEFAULT_MAX_CALLS, 1, 65536, 0},
        [REGISTRATION] = {"registration_timeout_ms", options->registration_timeout_ms,
                          DEFAULT_REGISTER_MS, 1, NRI_LONGEST_MS, 0},
        [REQUEST] = {"request_timeout_ms", options->request_timeout_ms, DEFAULT_REQUEST_MS, 1,
                     NRI_LONGEST_MS, 0},
        [STOP] = {"stop_timeout_ms", options->stop_timeout_ms, DEFAULT_STOP_MS, 1, LONGEST_STOP_MS,
                  0},
        [RECEIVE] = {"max_receive_bytes", options->max_receive_bytes, rpc->max_receive, NRI_KIB,
                     NRI_GIB, 0},
        [SEND] = {"max_send_bytes", options->max_send_bytes, rpc->max_send, NRI_KIB,
                  NRI_LARGEST_SEND, 0},
        [OUTPUT] = {"max_output_bytes", options->max_output_bytes, DEFAULT_MAX_OUTPUT, 2 * NRI_KIB,
                    NRI_GIB, 0},
        [MERGE_BYTES] = {"max_merge_bytes", options->max_merge_bytes, 64 * NRI_MIB, 64 * NRI_KIB,
                         NRI_GIB, 0},
        [SYNC_BYTES] = {"max_sync_bytes", options->max_sync_bytes, NRI_GIB, 64 * NRI_KIB,
                        64 * NRI_GIB, 0},
    };
    int rc = nri_limits_check(limits, LIMIT_COUNT, error);
    if (rc == 0)
        rc = nri_limits_check_output(limits[OUTPUT].value, limits[SEND].value, error);
    if (rc != 0)
        return rc;
    take_limits(settings, limits);
    return 0;
}

/* ---- switches ---- */

static int resolve_switches(struct nri_runtime_settings *settings,
                            const struct nri_runtime_options *options, struct nri_error *error)
{
    if (options->log_level < NRI_LOG_DEFAULT || options->log_level > NRI_LOG_DEBUG)
        return nri_error_set(error, NRI_E_RANGE,
                             "log_level is %d; it must be from 0 (the default) to %d (debug)",
                             (int)options->log_level, (int)NRI_LOG_DEBUG);
    for (size_t i = 0; i < NRI_MERGE_FIELDS; i++) {
        if (options->merge_policy[i] > NRI_MERGE_UNSUPPORTED)
            return nri_error_set(error, NRI_E_RANGE,
                                 "merge_policy[%zu] is %d; it must be from 0 to %d", i,
                                 (int)options->merge_policy[i], (int)NRI_MERGE_UNSUPPORTED);
    }
    settings->log = options->log;
    settings->log_user = options->log_user;
    settings->log_level =
        options->log_level != NRI_LOG_DEFAULT ? (int)options->log_level : (int)NRI_LOG_INFO;
    settings->go_compatible = options->go_compatible != 0;
    settings->default_validator = options->no_default_validator == 0;
    memcpy(settings->merge_policy, options->merge_policy, sizeof settings->merge_policy);
    const int rc = nri_failure_take(&settings->failure, options->failure, error);
    return rc != 0 ? rc : nri_failure_check_general(&settings->failure, error);
}

/* ---- texts ---- */

static int copy(struct nri_runtime_settings *settings, char **to, const char *text,
                struct nri_error *error)
{
    *to = nri_alloc_text(&settings->alloc, text, strlen(text));
    return *to != NULL ? 0 : nri_error_set(error, NRI_E_NOMEM, "out of memory");
}

/* What plugins are told: a peer drops a message that is not UTF-8. */
static int copy_told(struct nri_runtime_settings *settings, char **to, const char *option,
                     const char *text, struct nri_error *error)
{
    const size_t length = strlen(text);
    if (length == 0)
        return nri_error_set(error, NRI_E_INVALID, "options.%s is empty", option);
    if (length > NAME_MAX_BYTES)
        return nri_error_set(error, NRI_E_INVALID, "options.%s has %zu bytes; at most %d", option,
                             length, NAME_MAX_BYTES);
    if (!nri_utf8_valid(text, length, NULL))
        return nri_error_set(error, NRI_E_INVALID, "options.%s is not UTF-8", option);
    return copy(settings, to, text, error);
}

static const char *either(const char *given, const char *fallback)
{
    return given != NULL ? given : fallback;
}

static int resolve_told(struct nri_runtime_settings *settings,
                        const struct nri_runtime_options *options, struct nri_error *error)
{
    int rc =
        copy_told(settings, &settings->name, "name", either(options->name, DEFAULT_NAME), error);
    if (rc == 0)
        rc = copy_told(settings, &settings->version, "version",
                       either(options->version, NRI_VERSION_STRING), error);
    if (rc == 0)
        rc = copy_told(settings, &settings->nri_version, "nri_version",
                       either(options->nri_version, DEFAULT_NRI_VERSION), error);
    if (rc == 0 && options->validator_config != NULL)
        rc = copy(settings, &settings->validator_config, options->validator_config, error);
    return rc;
}

static int copy_directory(struct nri_runtime_settings *settings, char **to, const char *option,
                          const char *path, struct nri_error *error)
{
    if (path[0] == '\0')
        return nri_error_set(error, NRI_E_INVALID, "options.%s is empty", option);
    return copy(settings, to, path, error);
}

static int resolve_paths(struct nri_runtime_settings *settings,
                         const struct nri_runtime_options *options, struct nri_error *error)
{
    int rc = copy_directory(settings, &settings->config_directory, "config_directory",
                            either(options->config_directory, NRI_DEFAULT_CONFIG_DIRECTORY), error);
    if (rc == 0 && options->no_launch == 0)
        rc = copy_directory(settings, &settings->plugin_directory, "plugin_directory",
                            either(options->plugin_directory, NRI_DEFAULT_PLUGIN_DIRECTORY), error);
    if (rc == 0 && options->no_external == 0) {
        const char *path = either(options->socket_path, NRI_DEFAULT_SOCKET_PATH);
        rc = nri_socket_check_path(path, error);
        if (rc == 0)
            rc = copy(settings, &settings->path, path, error);
    }
    return rc;
}

int nri_runtime_settings_resolve(struct nri_runtime_settings *settings,
                                 const struct nri_runtime_ops *ops,
                                 const struct nri_runtime_options *options, struct nri_error *error)
{
    struct nri_runtime_options known;
    memset(settings, 0, sizeof *settings);
    (void)nri_alloc_resolve(&settings->alloc, NULL);

    int rc = take(&settings->ops, ops, &known, options, error);
    if (rc != 0)
        return rc;
    rc = nri_option_allocator(&settings->alloc, known.allocator, error);
    if (rc != 0)
        return rc;
    if ((rc = resolve_switches(settings, &known, error)) != 0 ||
        (rc = resolve_limits(settings, &known, error)) != 0 ||
        (rc = resolve_told(settings, &known, error)) != 0 ||
        (rc = resolve_paths(settings, &known, error)) != 0)
        nri_runtime_settings_fini(settings);
    return rc;
}

void nri_runtime_settings_fini(struct nri_runtime_settings *settings)
{
    char **texts[] = {&settings->name,
                      &settings->version,
                      &settings->nri_version,
                      &settings->path,
                      &settings->plugin_directory,
                      &settings->config_directory,
                      &settings->validator_config};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        nri_alloc_release(&settings->alloc, *texts[i]);
        *texts[i] = NULL;
    }
}

void nri_runtime_options_init(struct nri_runtime_options *options, size_t size)
{
    nri_abi_init(options, size);
}
