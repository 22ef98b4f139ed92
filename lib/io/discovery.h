/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is in the plugin directory, and the configuration that goes with it.
 *
 * Plugins are regular files, or symbolic links to such, that somebody may execute, and are called
 * NN-NAME. Everything else that is no regular file or may not be executed is left alone; a file
 * that may be executed and has another name is an error, because its owner thinks that it runs. A
 * WebAssembly module is passed over with a warning. No directory is no plugin.
 */
#ifndef NRI_IO_DISCOVERY_H
#define NRI_IO_DISCOVERY_H

#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"

struct nri_found_plugin {
    char *path;
    const char *file; /* "NN-name", the last part of the path */
    char index[3];
    const char *name; /* a part of the path, too */
    char *config;     /* what its drop-in has; "" for none */
};

struct nri_found {
    struct nri_alloc alloc;
    struct nri_found_plugin *plugins; /* by file name */
    size_t count, room;
};

/* What a file of the plugin directory is, by what links lead to. Of tools that look at a directory
 * without starting what is in it, too. */
enum nri_found_kind {
    NRI_FOUND_NOTHING, /* no regular file, or nobody may execute it: left alone */
    NRI_FOUND_WASM,    /* passed over */
    NRI_FOUND_MISNAMED,
    NRI_FOUND_PLUGIN /* `index` and `name`, a pointer into `file`, are set */
};
#define NRI_FOUND_HEAD 4 /* bytes of the file that tell */
/* `head` has the first bytes of the file, as many as there are. */
enum nri_found_kind nri_found_judge(const char *file, const struct stat *status, const char *head,
                                    size_t head_length, char index[3], const char **name);

/* *found is initialised. NRI_E_INVALID (a wrong name), NRI_E_PERMISSION, NRI_E_LIMIT,
 * NRI_E_NOMEM, NRI_E_IO; then it is empty. */
int nri_found_look(struct nri_found *found, const struct nri_alloc *alloc, const char *directory,
                   struct nri_log *log, struct nri_error *error);
/* Reads each plugin's configuration from `directory`: NN-name.conf, or name.conf. `most` bytes at
 * most. NRI_E_INVALID (not a regular file), NRI_E_LIMIT, NRI_E_UTF8, NRI_E_PERMISSION,
 * NRI_E_NOMEM, NRI_E_IO. */
int nri_found_configure(struct nri_found *found, const char *directory, size_t most,
                        struct nri_error *error);
/* Empties it; it may be used again. All zero is empty. */
void nri_found_fini(struct nri_found *found);

/* dropin.c: the configuration of one plugin, for nri_alloc_release(). As nri_found_configure(). */
int nri_dropin_read(const struct nri_alloc *alloc, const char *directory, const char *file,
                    const char *name, size_t most, char **config, struct nri_error *error);

/* Whether such a configuration can be sent: UTF-8 without NUL. NRI_E_UTF8. */
int nri_dropin_check(const char *path, const char *text, size_t length, struct nri_error *error);

/* Sets NRI_E_PERMISSION, NRI_E_NOT_FOUND, NRI_E_NOMEM or NRI_E_IO by errno, with the path. */
int nri_path_error(struct nri_error *error, int number, const char *path);

#endif
