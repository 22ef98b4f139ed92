/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apply.h"
#include "bench.h"
#include "check.h"
#include "decode.h"
#include "diff.h"
#include "doctor.h"
#include "explain.h"
#include "help.h"
#include "nrictl.h"
#include "record.h"
#include "replay.h"
#include "sim.h"
#include "top.h"

/* In the order of the help: see, rehearse, diagnose. */
const struct nrictl_command *const nrictl_commands[] = {
    &nrictl_sim,  &nrictl_record, &nrictl_decode, &nrictl_replay, &nrictl_explain,
    &nrictl_diff, &nrictl_apply,  &nrictl_check,  &nrictl_doctor, &nrictl_bench,
    &nrictl_top,  &nrictl_help,   NULL,
};

const struct nrictl_command *nrictl_command_find(const char *name)
{
    for (size_t i = 0; nrictl_commands[i] != NULL; i++) {
        if (strcmp(nrictl_commands[i]->name, name) == 0)
            return nrictl_commands[i];
    }
    return NULL;
}
