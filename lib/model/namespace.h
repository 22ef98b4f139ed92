/* SPDX-License-Identifier: Apache-2.0 */
/* The namespaces of a pod, a container or an adjustment. */
#ifndef NRI_MODEL_NAMESPACE_H
#define NRI_MODEL_NAMESPACE_H

#include <stdbool.h>

#include "proto/nri.pb-c.h"

struct nri_namespaces {
    Nri__Pkg__Api__V1alpha1__LinuxNamespace *const *list;
    size_t count;
};

/* As nri_pod_namespace_at() and nri_pod_namespace_path(). */
bool nri_namespaces_at(struct nri_namespaces namespaces, size_t index, const char **type,
                       const char **path);
bool nri_namespaces_path(struct nri_namespaces namespaces, const char *type, const char **path);

#endif
