/* SPDX-License-Identifier: Apache-2.0 */
#include "event_name.h"

#include <ctype.h>
#include <string.h>

#include <nri/event.h>

#include "near.h"
#include "proto/nri.pb-c.h"

bool event_name_equal(const char *a, size_t length, const char *b)
{
    const char *const end = a + length;
    for (;; a++, b++) {
        while (a < end && *a == '_')
            a++;
        while (*b == '_')
            b++;
        if (a == end || *b == '\0')
            return a == end && *b == '\0';
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
}

/* Whether it is that one; else that one may be meant. */
static bool is_it(struct near *near, const char *candidate)
{
    near_offer(near, candidate);
    return event_name_equal(candidate, strlen(candidate), near->word);
}

int event_name_check(struct nrictl *ctl, const char *option, const char *name)
{
    static const ProtobufCServiceDescriptor *const services[] = {
        &nri__pkg__api__v1alpha1__plugin__descriptor, &nri__pkg__api__v1alpha1__runtime__descriptor,
        &nri__pkg__api__v1alpha1__host_functions__descriptor};
    struct near near;
    near_begin(&near, name);
    for (int event = NRI_EVENT_RUN_POD_SANDBOX; event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
         event++) {
        if (is_it(&near, nri_event_name((enum nri_event)event)))
            return NRICTL_OK;
    }
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        for (unsigned j = 0; j < services[i]->n_methods; j++) {
            if (is_it(&near, services[i]->methods[j].name))
                return NRICTL_OK;
        }
    }
    const char *meant = near_end(&near);
    return nrictl_fail(ctl, NRICTL_USAGE, "%s '%s' is no event and no method of NRI%s%s%s", option,
                       name, meant != NULL ? "; is '" : "", meant != NULL ? meant : "",
                       meant != NULL ? "' meant?" : ", such as CreateContainer");
}
