/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Looking up a pod's annotations for one of its containers, and reading their values.
 *
 * Plugins take their orders from annotations of the pod. Four ways to say for which container are
 * in use, and two of them are one look-up; nri_annotation_find() knows them all. The value
 * functions look up, parse, and name the annotation in their errors.
 *
 * An annotation with an empty value is there, and counts before a more general one: look-ups return
 * true and "". To the value functions it is a value like others: the empty set of
 * nri_annotation_cpuset(), and NRI_E_SYNTAX to the rest. A plugin that takes "" to mean that the
 * container is left out, asks nri_annotation_find() first.
 */
#ifndef NRI_ANNOTATION_H
#define NRI_ANNOTATION_H

#include <nri/api.h>
#include <nri/cpuset.h>
#include <nri/document.h>
#include <nri/error.h>

NRI_BEGIN_DECLS

/** How an annotation says which container it is for. A container's name is compared exactly. Since
 * 0.1.0. */
enum nri_annotation_syntax {
    /** "KEY/container.NAME", then "KEY/pod", then "KEY": NRI's own plugins, sgx-epc, and most */
    NRI_ANNOTATION_SCOPED = 0,
    /** "KEY/NAME", then "KEY": memory-qos and memtierd */
    NRI_ANNOTATION_NAME = 1,
    /** "KEY/container.NAME" alone: ulimit-adjuster and rdt. The keys of a vendor's domain are this
       too: GKE's device injector reads "devices.gke.io/container.NAME", whose KEY is
       "devices.gke.io" */
    NRI_ANNOTATION_CONTAINER = 2
};

/**
 * Looks up an annotation for a container.
 * @param pod the pod whose annotations count
 * @param container_name the container's name (nri_container_name()); NULL or "" for the pod itself:
 * then only the forms without a container are tried
 * @param key the key, such as "devices.noderesource.dev"; NULL and "" find nothing
 * @param syntax which forms are tried, in the order given there; one that is none finds nothing
 * @param value set to the value, "" when there is none; may be NULL
 * @param found set to the annotation's whole key, "" when there is none; may be NULL
 * @return whether there is one. Allocates nothing, and looks at each annotation once. The thread
 * that may read the pod; the texts live as long as the pod. Since 0.1.0.
 */
NRI_API bool nri_annotation_find(const nri_pod *pod, const char *container_name, const char *key,
                                 enum nri_annotation_syntax syntax, const char **value,
                                 const char **found);

/**
 * Looks up an annotation that may have one of several keys, such as a new one and a deprecated one.
 * The form that stands first in the syntax counts, whichever key it has; of several annotations of
 * that form, the one whose key stands first in `keys`.
 * @param pod as for nri_annotation_find()
 * @param container_name as for nri_annotation_find()
 * @param keys the keys; NULL and "" among them find nothing
 * @param key_count how many there are; NULL `keys` are none
 * @param syntax as for nri_annotation_find()
 * @param value as for nri_annotation_find()
 * @param found as for nri_annotation_find()
 * @return whether there is one. Allocates nothing, and looks at each annotation once for each key.
 * The thread that may read the pod; the texts live as long as the pod. Since 0.1.0.
 */
NRI_API bool nri_annotation_find_any(const nri_pod *pod, const char *container_name,
                                     const char *const *keys, size_t key_count,
                                     enum nri_annotation_syntax syntax, const char **value,
                                     const char **found);

/**
 * A bool: exactly the words of Go's strconv.ParseBool, which are 1 t T TRUE true True and 0 f F
 * FALSE false False.
 * @param pod the pod
 * @param container_name as for nri_annotation_find()
 * @param key as for nri_annotation_find()
 * @param syntax as for nri_annotation_find()
 * @param value set to the value; left alone when there is no annotation and on an error
 * @param error set to an error that names the annotation, its value and what would be right, such
 * as `annotation "KEY/pod": "yes": must be ...`; NULL when there is none; may be NULL
 * @return 0, NRI_E_NOT_FOUND (no such annotation; no error is made), NRI_E_SYNTAX, NRI_E_RANGE,
 * NRI_E_INVALID (no key, no `value`, no such syntax), NRI_E_NOMEM. The thread that may read the
 * pod. Since 0.1.0.
 */
NRI_API int nri_annotation_bool(const nri_pod *pod, const char *container_name, const char *key,
                                enum nri_annotation_syntax syntax, bool *value, nri_error **error);
/** An integer in decimal, with a sign or without. As nri_annotation_bool(). Since 0.1.0. */
NRI_API int nri_annotation_int64(const nri_pod *pod, const char *container_name, const char *key,
                                 enum nri_annotation_syntax syntax, int64_t *value,
                                 nri_error **error);
/** A Kubernetes quantity in whole units, rounded up: "2Gi" is 2147483648. As
 * nri_annotation_bool(). Since 0.1.0. */
NRI_API int nri_annotation_quantity(const nri_pod *pod, const char *container_name, const char *key,
                                    enum nri_annotation_syntax syntax, int64_t *value,
                                    nri_error **error);
/** A Kubernetes quantity in thousandths, rounded up: "100m" is 100, "2" is 2000. As
 * nri_annotation_bool(). Since 0.1.0. */
NRI_API int nri_annotation_milli_quantity(const nri_pod *pod, const char *container_name,
                                          const char *key, enum nri_annotation_syntax syntax,
                                          int64_t *value, nri_error **error);
/** A list of CPUs or memory nodes, as nri_cpuset_parse(); what `value` held before goes. As
 * nri_annotation_bool(), also NRI_E_LIMIT. Since 0.1.0. */
NRI_API int nri_annotation_cpuset(const nri_pod *pod, const char *container_name, const char *key,
                                  enum nri_annotation_syntax syntax, nri_cpuset *value,
                                  nri_error **error);
/** A JSON document, which nri_document_free() frees; `value` is set to NULL when there is no
 * annotation and on an error. `options` are limits and memory, NULL for defaults; their name is
 * replaced by the annotation's key, so that errors read `annotation "KEY":LINE:COLUMN: ...`. As
 * nri_annotation_bool(), also NRI_E_UTF8, NRI_E_LIMIT and NRI_E_ABI. Since 0.1.0. */
NRI_API int nri_annotation_json(const nri_pod *pod, const char *container_name, const char *key,
                                enum nri_annotation_syntax syntax,
                                const struct nri_json_options *options, nri_document **value,
                                nri_error **error);

NRI_END_DECLS

#endif
