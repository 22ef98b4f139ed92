/* SPDX-License-Identifier: Apache-2.0 */
#include "base/abi.h"

#include <string.h>

/* No structure will ever be near this large. Whoever forgot to set the size must not make us read
 * that far for the tail. */
#define LARGEST 65536

static int refuse(struct nri_error *error, const char *name, size_t size, size_t first_size,
                  size_t known_size)
{
    if (size < first_size)
        return nri_error_set(error, NRI_E_ABI,
                             "struct %s: its size member is %zu, at least %zu was expected; fill "
                             "the structure with %s_init()",
                             name, size, first_size, name);
    return nri_error_set(
        error, NRI_E_ABI,
        "struct %s: its size member is %zu, and this libnri knows %zu bytes of it and would ignore "
        "what is set behind them; use a newer libnri, or leave the new members zero",
        name, size, known_size);
}

int nri_abi_take(void *known, size_t known_size, size_t first_size, const void *from,
                 const char *name, struct nri_error *error)
{
    nri_abi_init(known, known_size);
    if (from == NULL)
        return 0;
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < first_size || size > LARGEST)
        return refuse(error, name, size, first_size, known_size);
    if (size > known_size &&
        !nri_abi_is_zero((const uint8_t *)from + known_size, size - known_size))
        return refuse(error, name, size, first_size, known_size);
    size_t rest = (size < known_size ? size : known_size) - sizeof size;
    memcpy((uint8_t *)known + sizeof size, (const uint8_t *)from + sizeof size, rest);
    return 0;
}

bool nri_abi_is_zero(const void *bytes, size_t count)
{
    const uint8_t *next = bytes;
    for (size_t i = 0; i < count; i++) {
        if (next[i] != 0)
            return false;
    }
    return true;
}

void nri_abi_init(void *object, size_t size)
{
    if (object == NULL || size < sizeof size)
        return;
    memset(object, 0, size);
    memcpy(object, &size, sizeof size);
}
