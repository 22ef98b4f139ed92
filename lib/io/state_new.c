/* SPDX-License-Identifier: Apache-2.0 */
/* nri_state_new(): made here, because the seed of its hashes and the checkpoint come from the
 * system. */
#include <string.h>

#include "base/abi.h"
#include "io/checkpoint.h"
#include "io/host.h"
#include "io/limit.h"

NRI_ABI_ASSERT(struct nri_state_ops);
NRI_ABI_ASSERT(struct nri_state_options);

/* The sizes in 0.1.0. They stay when the structures grow. */
#define FIRST_SIZE(type)   (offsetof(type, reserved) + sizeof(((type *)0)->reserved))

#define KIB                UINT64_C(1024)
#define MIB                (KIB * KIB)
#define DEFAULT_NOTE       (4 * KIB)
#define DEFAULT_CHECKPOINT (64 * MIB)

static int take(struct nri_state_ops *ops, const struct nri_state_ops *given_ops,
                struct nri_state_options *options, const struct nri_state_options *given_options,
                struct nri_error *error)
{
    int code = nri_abi_take(options, sizeof *options, FIRST_SIZE(struct nri_state_options),
                            given_options, "nri_state_options", error);
    if (code == 0)
        code = nri_abi_take(ops, sizeof *ops, FIRST_SIZE(struct nri_state_ops), given_ops,
                            "nri_state_ops", error);
    if (code != 0)
        return code;
    if (options->reserved_pointer != NULL ||
        !nri_abi_is_zero(options->reserved, sizeof options->reserved))
        return nri_error_set(error, NRI_E_ABI,
                             "struct nri_state_options: a reserved member is not 0; fill the "
                             "structure with nri_state_options_init()");
    if (!nri_abi_is_zero(ops->reserved, sizeof ops->reserved))
        return nri_error_set(error, NRI_E_ABI,
                             "struct nri_state_ops: a reserved member is not NULL; fill the "
                             "structure with nri_state_ops_init()");
    return 0;
}

static int check_limit(const char *name, uint64_t given, uint64_t fallback, uint64_t least,
                       uint64_t most, size_t *value, struct nri_error *error)
{
    *value = (size_t)(given != 0 ? given : fallback);
    if (given == 0 || (given >= least && given <= most))
        return 0;
    return nri_error_set(
        error, NRI_E_RANGE, "%s is %llu; it must be from %llu to %llu, or 0 for the default", name,
        (unsigned long long)given, (unsigned long long)least, (unsigned long long)most);
}

static int make(nri_state **state, const struct nri_state_ops *ops,
                const struct nri_state_options *options, void *user, const struct nri_alloc *alloc,
                struct nri_error *error)
{
    struct nri_state_config config = {
        .ops = *ops,
        .user = user,
        .alloc = *alloc,
        .host = nri_host_system(),
        .log = options->log,
        .log_user = options->log_user,
    };
    int code = check_limit("max_note_bytes", options->max_note_bytes, DEFAULT_NOTE, 1, MIB,
                           &config.max_note_bytes, error);
    if (code == 0)
        code = check_limit("max_checkpoint_bytes", options->max_checkpoint_bytes,
                           DEFAULT_CHECKPOINT, KIB, KIB * MIB, &config.max_checkpoint_bytes, error);
    if (code == 0 && options->checkpoint_path != NULL)
        code = nri_checkpoint_init(&config.store, options->checkpoint_path, alloc, error);
    if (code != 0)
        return code;
    code = nri_state_make(state, &config, error);
    if (code != 0 && config.store.release != NULL)
        config.store.release(config.store.context);
    return code;
}

int nri_state_new(nri_state **state, const struct nri_state_ops *ops,
                  const struct nri_state_options *options, void *user, nri_error **error)
{
    struct nri_state_ops known_ops;
    struct nri_state_options known;
    struct nri_error why;
    struct nri_alloc alloc;
    if (state == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&why);
    (void)nri_alloc_resolve(&alloc, NULL);
    int code = take(&known_ops, ops, &known, options, &why);
    if (code == 0)
        code = nri_option_allocator(&alloc, known.allocator, &why);
    if (code == 0)
        code = make(state, &known_ops, &known, user, &alloc, &why);
    if (code != 0)
        nri_error_export(&why, &alloc, error);
    return code;
}

void nri_state_ops_init(struct nri_state_ops *ops, size_t size)
{
    nri_abi_init(ops, size);
}

void nri_state_options_init(struct nri_state_options *options, size_t size)
{
    nri_abi_init(options, size);
}
