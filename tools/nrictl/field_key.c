/* SPDX-License-Identifier: Apache-2.0 */
#include "field_key.h"

#include <string.h>

#include <nri/field.h>

#include "near.h"

int field_key_parse(const char *text, const char **key, const char **meant)
{
    /* Names that people say, beside those of NRI. */
    static const struct {
        const char *name;
        int field;
    } others[] = {{"annotation", NRI_FIELD_ANNOTATIONS},
                  {"mount", NRI_FIELD_MOUNTS},
                  {"device", NRI_FIELD_DEVICES},
                  {"cdi_device", NRI_FIELD_CDI_DEVICES},
                  {"rlimit", NRI_FIELD_RLIMITS},
                  {"hooks", NRI_FIELD_OCI_HOOKS},
                  {"net_device", NRI_FIELD_LINUX_NET_DEVICES}};
    const size_t length = strcspn(text, " ");
    char name[64];
    struct near near;
    *key = text[length] == ' ' ? text + length + 1 : "";
    *meant = NULL;
    if (length >= sizeof name)
        return 0;
    memcpy(name, text, length);
    name[length] = '\0';
    near_begin(&near, name);
    for (int field = 1; field <= NRI_FIELD_MEMORY_POLICY; field++) {
        if (near_distance(name, nri_field_name(field)) == 0)
            return field;
        near_offer(&near, nri_field_name(field));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (near_distance(name, others[i].name) == 0)
            return others[i].field;
    }
    *meant = near_end(&near);
    return 0;
}
