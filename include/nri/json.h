/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * NRI messages as JSON, both ways.
 *
 * One form is written: members in the order of their field numbers, named as NRI names its fields;
 * what is absent is left out, as are a plain 0, false and "", which NRI does not send; optional
 * wrappers are plain values, enums their names, numbers that have none numbers, 64-bit integers
 * exact numbers, maps objects. Variables are lists: of a container and a hook of texts "NAME=TEXT",
 * of an adjustment of objects {"key": "NAME", "value": "TEXT"}, as NRI has them.
 *
 * More is read: names also in lower case and in camelCase; null for an absent member (not for an
 * element of a list or a value of a map); {"value": N} for a wrapper, where {"value": null} is
 * absent, and {} is present with 0, false, "" or no elements, as in protobuf; numbers for enums;
 * decimal texts for 64-bit integers; env, of a container, a hook or an adjustment, as its list or
 * as an object {"NAME": "TEXT"}. An unknown or repeated member, a wrong type or a number out of
 * range is an error that has the line, the column and the path
 * ("name:3:14: Container.linux.resources.memory.limit: ..."; nri_error_line() and
 * nri_error_column() have the place as numbers). That place is where the value in question starts,
 * or, when the key is what is wrong (unknown, given twice, no number), the key; of what a builder
 * refuses, the field's value or the element of its list, or the object that the field is missing
 * in; of what is no JSON, the byte. A NUL in a text, which protobuf allows, is written as \\u0000,
 * and not read again: NRI_E_UTF8.
 *
 * Time goes with the length of the text. Reading takes at most 64 KiB, and 8 bytes for each byte
 * and 512 for each value that the options allow, beside the text's tokens and the result.
 */
#ifndef NRI_JSON_H
#define NRI_JSON_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/error.h>

NRI_BEGIN_DECLS

/** Limits, names and memory of the functions of this header. Zero in a member is its default. Since
 * 0.1.0. */
struct nri_json_options {
    size_t size;                           /**< sizeof(struct nri_json_options) */
    const struct nri_allocator *allocator; /**< of results and errors; copied; NULL for the C
                                              library's */
    const char *name;  /**< of the source, in errors, such as a file's; NULL for "JSON" */
    size_t max_bytes;  /**< of a text that is read or written; 0 for 16 MiB */
    size_t max_depth;  /**< of nesting, at most 64; 0 for 64 */
    size_t max_values; /**< in a text that is read; 0 for 1 million */
    uint32_t indent;   /**< blanks a level when writing, at most 16; 0 for one line */
    uint32_t reserved; /**< must be 0 */
};

/** Fills options with their defaults. `size` is sizeof(struct nri_json_options); NULL is ignored.
 * Since 0.1.0. */
NRI_API void nri_json_options_init(struct nri_json_options *options, size_t size);
/** Frees a text or bytes that a function of this header made. NULL is ignored. Returns NULL. Since
 * 0.1.0. */
NRI_API char *nri_json_free(char *text);

/**
 * Writes a pod sandbox.
 * @param pod the pod; NULL gives an empty one
 * @param options limits and memory; NULL for defaults
 * @param text set to the JSON text, NUL-terminated, which nri_json_free() frees; NULL on an error
 * @param length set to its length in bytes; may be NULL
 * @param error set to an error; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_LIMIT (max_bytes), NRI_E_ABI, NRI_E_NOMEM. The thread that may
 * read the pod. Since 0.1.0.
 */
NRI_API int nri_pod_to_json(const nri_pod *pod, const struct nri_json_options *options, char **text,
                            size_t *length, nri_error **error);
/** Writes a container, as nri_pod_to_json(). Since 0.1.0. */
NRI_API int nri_container_to_json(const nri_container *container,
                                  const struct nri_json_options *options, char **text,
                                  size_t *length, nri_error **error);
/** Writes resources, as nri_pod_to_json(). Since 0.1.0. */
NRI_API int nri_resources_to_json(const nri_resources *resources,
                                  const struct nri_json_options *options, char **text,
                                  size_t *length, nri_error **error);
/** Writes an adjustment with its removal markers, as nri_pod_to_json(); an empty one is "{}". Since
 * 0.1.0. */
NRI_API int nri_adjustment_to_json(const nri_adjustment *adjustment,
                                   const struct nri_json_options *options, char **text,
                                   size_t *length, nri_error **error);
/** Writes a list of updates, in the form of UpdateContainersRequest: {"update": [...], "evict":
 * [...]}. As nri_pod_to_json(). Since 0.1.0. */
NRI_API int nri_updates_to_json(const nri_updates *updates, const struct nri_json_options *options,
                                char **text, size_t *length, nri_error **error);
/** Writes a request's own message: of Configure, of each event, of a Synchronize with the pods and
 * containers of all its parts; "{}" where there is none. As nri_pod_to_json(). Since 0.1.0. */
NRI_API int nri_request_to_json(const nri_request *request, const struct nri_json_options *options,
                                char **text, size_t *length, nri_error **error);

/**
 * Reads a pod sandbox.
 * @param json the text
 * @param length its length in bytes
 * @param options limits, names and memory; NULL for defaults
 * @param pod set to the pod, which nri_pod_free() frees; NULL on an error
 * @param error set to an error with path, line and column; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX, NRI_E_RANGE, NRI_E_UTF8, NRI_E_LIMIT, NRI_E_ABI,
 * NRI_E_NOMEM. Thread-safe. Since 0.1.0.
 */
NRI_API int nri_pod_from_json(const char *json, size_t length,
                              const struct nri_json_options *options, nri_pod **pod,
                              nri_error **error) NRI_WARN_UNUSED;
/** Reads a container, as nri_pod_from_json(); nri_container_free() frees it. Since 0.1.0. */
NRI_API int nri_container_from_json(const char *json, size_t length,
                                    const struct nri_json_options *options,
                                    nri_container **container, nri_error **error) NRI_WARN_UNUSED;
/**
 * Adds a ContainerAdjustment in JSON to an adjustment, as if each builder were called in the order
 * of the fields: a key with a removal marker ("-NAME") removes, before other keys of its list are
 * set, and what else such an entry has does not count; args whose first is "" replace. All is
 * checked, together with a seccomp policy that is there already, then all the memory that the
 * change can need is set aside, so that either all of it is added, or nothing. What was set aside
 * and not used is given back. A merge takes a step for each element of the text, and for each that
 * the adjustment has: one large merge takes less time than many small ones.
 * @param adjustment the adjustment
 * @param json the text
 * @param length its length in bytes
 * @param options limits, names and memory; NULL for defaults
 * @param error set to an error with path, line and column; may be NULL
 * @return 0 or an error, as nri_pod_from_json() and the builders; NRI_E_LIMIT also when what is set
 * aside does not fit into the request's memory limit. An error also sticks to the adjustment, as a
 * failed builder call does. Since 0.1.0.
 */
NRI_API int nri_adjustment_merge_json(nri_adjustment *adjustment, const char *json, size_t length,
                                      const struct nri_json_options *options, nri_error **error);
/** Adds updates and evictions in the form of nri_updates_to_json() to a list, as
 * nri_adjustment_merge_json(). An update that sets no resources is not
 * kept (nri_updates_count()). Since 0.1.0. */
NRI_API int nri_updates_merge_json(nri_updates *updates, const char *json, size_t length,
                                   const struct nri_json_options *options, nri_error **error);
/** Adds LinuxResources in JSON to resources, as nri_adjustment_merge_json(). Since 0.1.0. */
NRI_API int nri_resources_merge_json(nri_resources *resources, const char *json, size_t length,
                                     const struct nri_json_options *options, nri_error **error);

/**
 * Turns any NRI message from protobuf into JSON. Unknown fields, which JSON has no name for, are
 * left out.
 * @param message the message's name, such as "CreateContainerRequest" or "Container"
 * @param bytes its protobuf bytes; may be NULL if `size` is 0
 * @param size how many
 * @param options limits and memory; NULL for defaults
 * @param text set to the JSON text, which nri_json_free() frees; NULL on an error
 * @param length set to its length in bytes; may be NULL
 * @param error set to an error; may be NULL
 * @return 0, NRI_E_NOT_FOUND (no such message), NRI_E_PROTOCOL, NRI_E_UTF8, NRI_E_LIMIT,
 * NRI_E_INVALID, NRI_E_ABI, NRI_E_NOMEM. Thread-safe. Since 0.1.0.
 */
NRI_API int nri_json_from_protobuf(const char *message, const uint8_t *bytes, size_t size,
                                   const struct nri_json_options *options, char **text,
                                   size_t *length, nri_error **error);
/**
 * Turns any NRI message from JSON into protobuf.
 * @param message the message's name
 * @param json the text
 * @param length its length in bytes
 * @param options limits, names and memory; NULL for defaults
 * @param bytes set to the protobuf bytes, which nri_json_free() frees; NULL on an error
 * @param size set to how many
 * @param error set to an error with path, line and column; may be NULL
 * @return 0, NRI_E_NOT_FOUND, or as nri_pod_from_json(). Thread-safe. Since 0.1.0.
 */
NRI_API int nri_json_to_protobuf(const char *message, const char *json, size_t length,
                                 const struct nri_json_options *options, char **bytes, size_t *size,
                                 nri_error **error);

NRI_END_DECLS

#endif
