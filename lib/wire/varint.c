/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/varint.h"

const uint8_t *nri_varint_read_long(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 7 * NRI_VARINT_MAX; shift += 7) {
        const uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            return NULL; /* bits beyond the 64th */
        }
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}
