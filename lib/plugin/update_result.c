/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/update_result.h"

#include <nri/error.h>

#include "model/model.h"

/* NULL past the end. */
static const Nri__Pkg__Api__V1alpha1__ContainerUpdate *failed_at(const nri_update_result *result,
                                                                 size_t index)
{
    return index < nri_update_result_failed_count(result) ? result->reply->failed[index] : NULL;
}

int nri_update_result_code(const nri_update_result *result)
{
    return result == NULL ? NRI_E_INVALID : result->code;
}

const char *nri_update_result_text(const nri_update_result *result)
{
    return result == NULL ? "" : result->text;
}

size_t nri_update_result_failed_count(const nri_update_result *result)
{
    return result == NULL || result->reply == NULL ? 0 : result->reply->n_failed;
}

const char *nri_update_result_failed_id(const nri_update_result *result, size_t index)
{
    const Nri__Pkg__Api__V1alpha1__ContainerUpdate *update = failed_at(result, index);

    return update == NULL ? protobuf_c_empty_string : update->container_id;
}

const nri_resources *nri_update_result_failed_resources(const nri_update_result *result,
                                                        size_t index)
{
    const Nri__Pkg__Api__V1alpha1__ContainerUpdate *update = failed_at(result, index);

    return nri_resources_view(update == NULL || update->linux == NULL ? NULL
                                                                      : update->linux->resources);
}

bool nri_update_result_failed_ignored(const nri_update_result *result, size_t index)
{
    const Nri__Pkg__Api__V1alpha1__ContainerUpdate *update = failed_at(result, index);

    return update != NULL && update->ignore_failure != 0;
}
