/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and methods: those of their own that NRI 0.12 has, or StateChange.
 */
#include "plugin/method.h"
#include "runtime/internal.h"

unsigned nri_rt_method(enum nri_event event, bool state_change)
{
    if (state_change)
        return NRI_METHOD_STATE_CHANGE;
    for (unsigned i = 0; i < NRI_METHOD_COUNT; i++) {
        if (nri_methods[i].event == event)
            return i;
    }
    return NRI_METHOD_COUNT;
}

bool nri_rt_has_state_change(enum nri_event event)
{
    return nri_method_of_state_change((int)event) != NULL;
}

bool nri_rt_is_notification(enum nri_event event)
{
    return event != NRI_EVENT_CREATE_CONTAINER && event != NRI_EVENT_UPDATE_CONTAINER &&
           event != NRI_EVENT_STOP_CONTAINER && event != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
}
