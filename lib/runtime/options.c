/* SPDX-License-Identifier: Apache-2.0 */
/* The structures of nri/runtime.h, made empty. */
#include <nri/runtime.h>

#include "base/abi.h"

NRI_ABI_ASSERT(struct nri_runtime_event);
NRI_ABI_ASSERT(struct nri_runtime_ops);

void nri_runtime_event_init(struct nri_runtime_event *event, size_t size)
{
    nri_abi_init(event, size);
}

void nri_runtime_ops_init(struct nri_runtime_ops *ops, size_t size)
{
    nri_abi_init(ops, size);
}
