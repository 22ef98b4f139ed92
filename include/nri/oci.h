/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Applying NRI's changes to an OCI runtime configuration (config.json, runtime-spec 1.0 and later).
 *
 * The result is the document with the change in it: members that libnri does not know are kept,
 * numbers stay as they were written, and what was there keeps its place. Of each list removals come
 * before what is set, whatever their order in the adjustment. doc/oci.md has the table of fields,
 * and names where the result differs from that of Go's runtimes.
 *
 * Refused are documents over a limit, with members given twice, or with a value of a wrong type
 * where a change goes ("NAME:3:14: process.env: must be a list, found a text"; nri_error_line() and
 * nri_error_column() have the place); and what an adjustment must not have, such as an unknown
 * namespace ("ContainerAdjustment.linux.namespaces[0].type: ..."). Parts of the document that a
 * change does not touch are not looked at. On a failure there is no result.
 *
 * Time goes with the length of the document and of the change. Memory is bounded by the limits, see
 * nri/json.h; up to three times as much is taken.
 */
#ifndef NRI_OCI_H
#define NRI_OCI_H

#include <nri/adjustment.h>
#include <nri/api.h>
#include <nri/container_build.h>
#include <nri/error.h>
#include <nri/json.h>
#include <nri/resources.h>

NRI_BEGIN_DECLS

/** What a callback of struct nri_oci_options answers with. It lives during the callback. Since
 * 0.1.0. */
typedef struct nri_oci_answer nri_oci_answer;

/** How mounts and unmounts spread from and to the mount that a path is on
 * (mount_namespaces(7)). Since 0.1.0. */
enum nri_propagation {
    NRI_PROPAGATION_PRIVATE = 0, /**< neither, or unbindable */
    NRI_PROPAGATION_SHARED = 1,  /**< to the peers and from them */
    NRI_PROPAGATION_SLAVE = 2    /**< from the master only */
};

/**
 * Limits, callbacks and ways. Zero in a member is its default. Callbacks are called in the thread
 * of the call that they are given to, return 0 or a code of nri/error.h, which fails the whole
 * call, and give its text with nri_oci_answer_fail(). Texts that they are given live during the
 * callback. Since 0.1.0.
 */
struct nri_oci_options {
    size_t size; /**< sizeof(struct nri_oci_options) */
    /** Of the document: its limits and its name in errors, the memory of the result, and the
     * indentation of the result; NULL for defaults. Not needed after the call. */
    const struct nri_json_options *json;
    /** Whether an annotation may be set, or removed (`value` is NULL); false leaves it as it is.
     * NULL allows all. */
    bool (*annotation_filter)(const char *key, const char *value, void *user);
    /** Looks at linux.resources once a change of resources is applied, before classes are resolved,
     * and fails what the runtime does not accept. NULL accepts all. */
    int (*check_resources)(const nri_resources *resources, nri_oci_answer *answer, void *user);
    /** Answers with the JSON of linux.resources.blockIO for a block I/O class, which replaces what
     * is there. Without it a class is refused with NRI_E_UNSUPPORTED; "", which clears
     * linux.resources.blockIO, needs none. */
    int (*resolve_blockio)(const char *class_name, nri_oci_answer *answer, void *user);
    /** The same for an RDT class and linux.intelRdt. */
    int (*resolve_rdt)(const char *class_name, nri_oci_answer *answer, void *user);
    /**
     * Injects CDI devices: is given the document's text, with what comes before devices in it, and
     * the full names, and answers with the new text, so that any CDI library serves; without an
     * answer the document stays. Without it devices are refused with NRI_E_UNSUPPORTED.
     */
    int (*inject_cdi)(const char *json, size_t length, const char *const *names, size_t count,
                      nri_oci_answer *answer, void *user);
    /** Sets *propagation (enum nri_propagation) for the mount that a path on the host is on. NULL:
     * /proc/self/mountinfo is read. */
    int (*mount_propagation)(const char *path, uint32_t *propagation, nri_oci_answer *answer,
                             void *user);
    void *user;                    /**< handed to each callback */
    uint32_t go_compatible;        /**< not 0: the result of Go's runtimes, with its defects */
    uint32_t no_propagation_check; /**< not 0: shared and slave mounts are taken unseen */
    void *reserved_pointer;        /**< must be NULL */
    uint64_t reserved[4];          /**< must be 0 */
};

/** Fills options with their defaults. `size` is sizeof(struct nri_oci_options); NULL is ignored.
 * Since 0.1.0. */
NRI_API void nri_oci_options_init(struct nri_oci_options *options, size_t size);

/**
 * Answers with a JSON object, which is copied; a second answer replaces the first.
 * @param answer the callback's answer
 * @param json the text
 * @param length its length in bytes
 * @return 0, NRI_E_INVALID (a NULL), NRI_E_LIMIT (longer than the document may be), NRI_E_NOMEM;
 * for the callback to return. Since 0.1.0.
 */
NRI_API int nri_oci_answer_json(nri_oci_answer *answer, const char *json, size_t length);
/**
 * Gives a failure its text.
 * @param answer the callback's answer
 * @param code a code of nri/error.h
 * @param text what is wrong, in words, UTF-8; NULL for the code's own text
 * @return `code`, or NRI_E_INTERNAL when that is no error's code; for the callback to return. Since
 * 0.1.0.
 */
NRI_API int nri_oci_answer_fail(nri_oci_answer *answer, int code, const char *text);

/**
 * Applies an adjustment to a configuration.
 * @param json the configuration; not needed afterwards
 * @param length its length in bytes
 * @param adjustment the adjustment, as merged by a runtime or from one plugin; NULL or an empty one
 * changes nothing
 * @param options NULL for defaults
 * @param out set to the new configuration, NUL-terminated, which nri_json_free() frees; NULL on an
 * error
 * @param out_length set to its length in bytes; may be NULL
 * @param error set to an error, with line and column where it is about the document; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX, NRI_E_RANGE, NRI_E_UTF8, NRI_E_LIMIT, NRI_E_UNSUPPORTED
 * (a callback is missing), NRI_E_NOT_FOUND, NRI_E_PERMISSION and NRI_E_IO (looking at a mount),
 * NRI_E_ABI, NRI_E_NOMEM, or what a callback returned. Thread-safe as far as the callbacks are; the
 * adjustment may be used by one thread at a time. A mount that is shared or a slave makes it read
 * /proc/self/mountinfo. Since 0.1.0.
 */
NRI_API int nri_oci_apply_adjustment(const char *json, size_t length,
                                     const nri_adjustment *adjustment,
                                     const struct nri_oci_options *options, char **out,
                                     size_t *out_length, nri_error **error) NRI_WARN_UNUSED;
/**
 * Applies the resources of an update (nri_update_resources()) to a configuration, as a runtime does
 * that keeps it up to date. As nri_oci_apply_adjustment().
 * @param json the configuration; not needed afterwards
 * @param length its length in bytes
 * @param resources the resources; NULL or empty ones change nothing
 * @param options NULL for defaults
 * @param out set to the new configuration; NULL on an error
 * @param out_length set to its length in bytes; may be NULL
 * @param error set to an error; may be NULL
 * @return as nri_oci_apply_adjustment(). Since 0.1.0.
 */
NRI_API int nri_oci_apply_update(const char *json, size_t length, const nri_resources *resources,
                                 const struct nri_oci_options *options, char **out,
                                 size_t *out_length, nri_error **error) NRI_WARN_UNUSED;
/**
 * As nri_oci_apply_adjustment(), from a file to a file: the new one is written beside its place,
 * synchronised with the disk and renamed, so that there is never half of one. It gets the old one's
 * permissions, and its owner where that is allowed. Not two at a time for one file.
 * @param in_path the configuration, a regular file; a symbolic link in its place is not followed.
 * Its name stands in errors unless the options have another
 * @param out_path where the new one goes, such as `in_path` itself; a symbolic link in its place is
 * replaced, and not what it points to
 * @param adjustment the adjustment; NULL changes nothing
 * @param options NULL for defaults
 * @param error set to an error; may be NULL
 * @return 0, or as nri_oci_apply_adjustment(), with NRI_E_NOT_FOUND, NRI_E_PERMISSION and NRI_E_IO
 * also for the files. After a failure what was at `out_path` is still there, unless only
 * synchronising the directory failed. Blocks as long as the disk does. Since 0.1.0.
 */
NRI_API int nri_oci_apply_adjustment_file(const char *in_path, const char *out_path,
                                          const nri_adjustment *adjustment,
                                          const struct nri_oci_options *options, nri_error **error);
/** As nri_oci_apply_update(), from a file to a file; see nri_oci_apply_adjustment_file(). Since
 * 0.1.0. */
NRI_API int nri_oci_apply_update_file(const char *in_path, const char *out_path,
                                      const nri_resources *resources,
                                      const struct nri_oci_options *options, nri_error **error);
/**
 * As nri_container_from_oci(), of a file: what plugins are told of a bundle's config.json before
 * nri_oci_apply_adjustment_file() changes it.
 * @param path the configuration, a regular file; a symbolic link in its place is not followed. Its
 * name stands in errors unless the options have another
 * @param options limits, names and memory; NULL for defaults
 * @param container set to the container, which nri_container_free() frees; NULL on an error
 * @param error set to an error; may be NULL
 * @return 0, or as nri_container_from_oci(), with NRI_E_NOT_FOUND, NRI_E_PERMISSION and NRI_E_IO
 * for the file. Thread-safe. Blocks as long as the disk does. Since 0.1.0.
 */
NRI_API int nri_container_from_oci_file(const char *path, const struct nri_json_options *options,
                                        nri_container **container,
                                        nri_error **error) NRI_WARN_UNUSED;

NRI_END_DECLS

#endif
