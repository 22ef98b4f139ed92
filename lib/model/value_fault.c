/* SPDX-License-Identifier: Apache-2.0 */
#include "model/value_fault.h"

#include "model/quote.h"

int nri_value_fault_set(struct nri_value_fault *fault, int code, const char *rule, size_t offset)
{
    *fault = (struct nri_value_fault){code, rule, offset};
    return code;
}

int nri_value_fault_describe(const struct nri_value_fault *fault, const char *name,
                             const char *text, struct nri_error *error)
{
    struct nri_quote quote;
    if (fault->offset == SIZE_MAX)
        return nri_error_set(error, fault->code, "%s %s: %s", name, nri_quote(&quote, text),
                             fault->rule);
    return nri_error_set(error, fault->code, "%s %s: wrong at offset %zu: %s", name,
                         nri_quote(&quote, text), fault->offset, fault->rule);
}

int nri_value_fault_return(const struct nri_error *why, const struct nri_alloc *alloc,
                           nri_error **error)
{
    nri_error_export(why, alloc, error);
    return error != NULL ? nri_error_get_code(*error) : why->code;
}
