/* SPDX-License-Identifier: Apache-2.0 */
#include "model/namespace.h"

#include <string.h>

#include "model/reader.h"

bool nri_namespaces_at(struct nri_namespaces namespaces, size_t index, const char **type,
                       const char **path)
{
    const bool found = index < namespaces.count;
    const Nri__Pkg__Api__V1alpha1__LinuxNamespace *one = found ? namespaces.list[index] : NULL;
    nri_reader_give(one != NULL ? one->type : NULL, type);
    nri_reader_give(one != NULL ? one->path : NULL, path);
    return found;
}

bool nri_namespaces_path(struct nri_namespaces namespaces, const char *type, const char **path)
{
    const size_t length = type != NULL ? strlen(type) : 0;
    for (size_t i = namespaces.count; type != NULL && i-- > 0;) {
        const char *candidate;
        nri_namespaces_at(namespaces, i, &candidate, path);
        if (nri_reader_text_is(candidate, type, length))
            return true;
    }
    nri_reader_give(NULL, path);
    return false;
}
