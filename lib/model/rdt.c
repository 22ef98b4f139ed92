/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxRdt rdt_message;

static const rdt_message empty_rdt = NRI__PKG__API__V1ALPHA1__LINUX_RDT__INIT;

static const rdt_message *message_of(const nri_rdt *rdt)
{
    return rdt != NULL ? (const void *)rdt : &empty_rdt;
}

const nri_rdt *nri_rdt_view(const rdt_message *message)
{
    return (const void *)(message != NULL ? message : &empty_rdt);
}

bool nri_rdt_clos_id(const nri_rdt *rdt, const char **clos_id)
{
    return nri_optional_text(message_of(rdt)->clos_id, clos_id);
}

bool nri_rdt_schemata(const nri_rdt *rdt, size_t *count)
{
    const Nri__Pkg__Api__V1alpha1__OptionalRepeatedString *schemata = message_of(rdt)->schemata;
    if (count != NULL)
        *count = schemata != NULL ? schemata->n_value : 0;
    return schemata != NULL;
}

const char *nri_rdt_schema(const nri_rdt *rdt, size_t index)
{
    const Nri__Pkg__Api__V1alpha1__OptionalRepeatedString *schemata = message_of(rdt)->schemata;
    return schemata != NULL ? nri_reader_text_at(schemata->value, schemata->n_value, index)
                            : nri_reader_text(NULL);
}

bool nri_rdt_enable_monitoring(const nri_rdt *rdt, bool *enable)
{
    return nri_optional_bool(message_of(rdt)->enable_monitoring, enable);
}

bool nri_rdt_remove(const nri_rdt *rdt)
{
    return message_of(rdt)->remove != 0;
}
