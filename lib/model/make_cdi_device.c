/* SPDX-License-Identifier: Apache-2.0 */
/* CDIDevice: a name "vendor/class=device" of the Container Device Interface. */
#include <string.h>

#include "model/make.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_letter_or_digit(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/* Whether a part ends well and has in between only what it may. */
static bool is_part(const char *part, size_t length, const char *others)
{
    for (size_t i = 1; i + 1 < length; i++) {
        if (!is_letter_or_digit(part[i]) && strchr(others, part[i]) == NULL)
            return false;
    }
    return is_letter_or_digit(part[length - 1]);
}

/* CDI's Go library, which runtimes are built with, ends the whole program at a vendor or class of
 * one character. */
static bool is_kind_part(const char *part, size_t length)
{
    return length >= 2 && is_letter(part[0]) && is_part(part, length, "-_.");
}

static const char *rule_broken(const char *name)
{
    const char *equals = strchr(name, '=');
    const char *slash = equals != NULL ? memchr(name, '/', (size_t)(equals - name)) : NULL;
    if (equals == NULL || slash == NULL || slash == name || slash + 1 == equals ||
        equals[1] == '\0')
        return "must be \"vendor/class=device\", such as \"vendor.com/gpu=0\"";
    if (!is_kind_part(name, (size_t)(slash - name)))
        return "the vendor must be 2 or more letters, digits, \"-\", \"_\" and \".\", the first a "
               "letter, the last a letter or digit";
    if (!is_kind_part(slash + 1, (size_t)(equals - slash) - 1))
        return "the class must be 2 or more letters, digits, \"-\", \"_\" and \".\", the first a "
               "letter, the last a letter or digit";
    const char *device = equals + 1;
    if (!is_letter_or_digit(device[0]) || !is_part(device, strlen(device), "-_.:"))
        return "the device must be letters, digits, \"-\", \"_\", \".\" and \":\", the first and "
               "the last a letter or digit";
    return NULL;
}

int nri_check_cdi_device(struct nri_builder *builder, const char *name)
{
    const struct nri_where field = {.name = "CDI device"};
    int code = nri_builder_check_filled(builder, &field, name);
    if (code != 0)
        return code;
    const char *rule = rule_broken(name);
    return rule == NULL ? 0 : nri_builder_refuse(builder, NRI_E_INVALID, &field, name, rule);
}

int nri_make_cdi_device(struct nri_builder *builder, const char *name,
                        NRI_MESSAGE(CDIDevice) * *message)
{
    int code = nri_check_cdi_device(builder, name);
    if (code != 0)
        return code;
    NRI_MESSAGE(CDIDevice) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__cdidevice__descriptor);
    if (made != NULL)
        made->name = nri_builder_text(builder, name);
    if (made == NULL || made->name == NULL) {
        const struct nri_where field = {.within = "CDI device", .key = name, .name = "entry"};
        return nri_builder_refuse_memory(builder, &field);
    }
    *message = made;
    return 0;
}
