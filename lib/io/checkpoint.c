/* SPDX-License-Identifier: Apache-2.0 */
/* A state's checkpoint as a file (file.h says what a crash leaves). The caller takes one whose
 * directory could not be synchronised for not written, and writes it again. */
#include "io/checkpoint.h"

#include <errno.h>
#include <stdio.h>

#include "io/file.h"

struct checkpoint {
    struct nri_alloc alloc;
    struct nri_file file;
};

static int load(void *context, struct nri_buf *content, bool *found, struct nri_error *error)
{
    const struct checkpoint *checkpoint = context;
    return nri_file_read(&checkpoint->file, content, NULL, "max_checkpoint_bytes", found, error);
}

static int save(void *context, const uint8_t *bytes, size_t count, struct nri_error *error)
{
    struct checkpoint *checkpoint = context;
    return nri_file_replace(&checkpoint->file, bytes, count, NULL, error);
}

static int set_aside(void *context, const char *suffix, struct nri_error *error)
{
    struct checkpoint *checkpoint = context;
    const char *aside = nri_file_with_suffix(&checkpoint->file, suffix);
    if (rename(checkpoint->file.path, aside) != 0)
        return nri_file_failed(&checkpoint->file, error, errno, "renamed", aside);
    return nri_file_sync_directory(&checkpoint->file, error);
}

static void release(void *context)
{
    struct checkpoint *checkpoint = context;
    const struct nri_alloc alloc = checkpoint->alloc;
    nri_alloc_release(&alloc, checkpoint);
}

int nri_checkpoint_init(struct nri_state_store *store, const char *path,
                        const struct nri_alloc *alloc, struct nri_error *error)
{
    const size_t room = nri_file_room(path);
    if (room == 0)
        return nri_error_set(error, NRI_E_INVALID,
                             "checkpoint_path \"%s\": must be the path of a file", path);
    struct checkpoint *checkpoint = nri_alloc_zero(alloc, sizeof *checkpoint + room);
    if (checkpoint == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a checkpoint");
    checkpoint->alloc = *alloc;
    nri_file_init(&checkpoint->file, "the checkpoint", path, (char *)(checkpoint + 1));
    *store = (struct nri_state_store){
        .context = checkpoint,
        .name = checkpoint->file.path,
        .load = load,
        .save = save,
        .set_aside = set_aside,
        .release = release,
    };
    return 0;
}
