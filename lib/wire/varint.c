/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/varint.h"

struct nri_varint nri_varint_read_long(const uint8_t *at, const uint8_t *end)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 7 * NRI_VARINT_MAX; shift += 7) {
        const uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            break; /* bits beyond the 64th */
        }
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return (struct nri_varint){at, sum};
        }
    }
    return (struct nri_varint){0};
}
