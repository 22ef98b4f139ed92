/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxNamespace */
#include "model/make.h"

int nri_make_namespace(struct nri_builder *builder, const char *type, const char *path,
                       NRI_MESSAGE(LinuxNamespace) * *message)
{
    const struct nri_where path_field = {.within = "namespace", .key = type, .name = "path"};
    const struct nri_where field = {.within = "namespace", .key = type, .name = "entry"};
    int code = nri_check_namespace_type(builder, type);
    if (code == 0 && path != NULL && path[0] != '\0')
        code = nri_check_absolute(builder, &path_field, path);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxNamespace) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_namespace__descriptor);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->type = nri_builder_text(builder, type);
    made->path = nri_builder_text(builder, path);
    if (made->type == NULL || made->path == NULL)
        return nri_builder_refuse_memory(builder, &field);
    *message = made;
    return 0;
}
