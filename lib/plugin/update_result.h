/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the callback of an unsolicited update reads: a view of the runtime's reply, made for the
 * time of the call.
 */
#ifndef NRI_PLUGIN_UPDATE_RESULT_H
#define NRI_PLUGIN_UPDATE_RESULT_H

#include <nri/update.h>

#include "proto/nri.pb-c.h"

struct nri_update_result {
    int code;
    const char *text;                                               /* "" with code 0 */
    const Nri__Pkg__Api__V1alpha1__UpdateContainersResponse *reply; /* NULL without one */
};

#endif
