/* SPDX-License-Identifier: Apache-2.0 */
#include "inject.h"

static void inject_mount(struct injection *injection, const value *item)
{
    struct values *values = &injection->values;
    const char *options[VALUES_MAX_ITEMS];
    const value *list = values_member(values, item, "options");
    const size_t count = values_count(values, list);
    const char *destination = values_text(values, values_member(values, item, "destination"));
    const char *source = values_text(values, values_member(values, item, "source"));
    const char *type = values_text(values, values_member(values, item, "type"));
    for (size_t i = 0; i < count; i++)
        options[i] = values_text(values, values_at(values, list, i));
    if (values->error[0] != '\0')
        return;
    if (inject_built(injection,
                     nri_adjustment_add_mount(injection->adjustment, destination, type, source,
                                              options, count),
                     item))
        inject_say(injection, "mount %s at %s", source, destination);
}

void inject_mounts(struct injection *injection)
{
    static const char *const members[] = {"source", "destination", "type", "options"};
    inject_each(injection, members, sizeof members / sizeof members[0], "destination",
                inject_mount);
}
