/* SPDX-License-Identifier: Apache-2.0 */
/* One update of a list. */
#include "model/reader.h"
#include "model/updates_builder.h"

int nri_update_enter(nri_update *update)
{
    if (update == NULL || update->list == NULL)
        return NRI_E_INVALID;
    int code = nri_builder_enter(&update->list->builder);
    if (code == 0 && update->failed != 0)
        code = nri_builder_fail(&update->list->builder, update->failed,
                                "update: nri_updates_container() failed, so there is none");
    return code;
}

const char *nri_update_container_id(const nri_update *update)
{
    return nri_reader_text(update != NULL ? update->message.container_id : NULL);
}

int nri_update_set_ignore_failure(nri_update *update, bool ignore)
{
    int code = nri_update_enter(update);
    if (code == 0)
        update->message.ignore_failure = ignore;
    return code;
}
