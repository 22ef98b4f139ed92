/* SPDX-License-Identifier: Apache-2.0 */
#include <nri/version.h>

const char *nri_version(void)
{
    return NRI_VERSION_STRING;
}
