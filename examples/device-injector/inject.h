/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod's annotations ask for, put into the adjustment of one of its containers. */
#ifndef INJECTOR_INJECT_H
#define INJECTOR_INJECT_H

#include <nri/nri.h>
#include <stdbool.h>

#include "values.h"

/* One annotation on its way into an adjustment. */
struct injection {
    const nri_request *request;
    nri_adjustment *adjustment;
    struct values values;
};

/*
 * Injects into the container of a CreateContainer request all that is asked for. Returns 0, or the
 * code that the request is to be refused with: its text is set then.
 */
int inject_all(nri_request *request);

/* Each of these takes the value of one annotation; what is wrong with it is in its values. */
void inject_devices(struct injection *injection);
void inject_cdi_devices(struct injection *injection);
void inject_net_devices(struct injection *injection);
void inject_mounts(struct injection *injection);
void inject_io_priority(struct injection *injection);
void inject_scheduling_policy(struct injection *injection);
void inject_sysctls(struct injection *injection);
void inject_memory_policy(struct injection *injection);

/* A line in the log about the container; of inject_say() only if all is to be told. */
void inject_warn(const struct injection *injection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void inject_say(const struct injection *injection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* After a call of the adjustment's: an error is what is wrong with the value `at`. Returns whether
 * the call succeeded. */
bool inject_built(struct injection *injection, int code, const value *at);

/* Calls `inject` for each element of the annotation's list, which are mappings with no members but
 * these. Of elements that have the member `key` in common the last one counts, and the log says so.
 */
void inject_each(struct injection *injection, const char *const *members, size_t count,
                 const char *key, void (*inject)(struct injection *, const value *));

#endif
