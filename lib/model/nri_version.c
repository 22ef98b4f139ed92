/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of NRI as text, and the events that one knows. */
#include "model/model.h"

#define LARGEST_NUMBER 1000000u
#define ALL_EVENTS     10 /* NRI 0.10 has them all */

/* Reads digits; NULL when there is none, or when the number is no part of any version. */
static const char *read_number(const char *at, unsigned *number)
{
    if (*at < '0' || *at > '9')
        return NULL;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        *number = *number * 10 + (unsigned)(*at - '0');
        if (*number > LARGEST_NUMBER)
            return NULL;
    }
    return at;
}

/* Whatever stands behind the numbers is a distribution's or a pre-release's and does not count:
 * "1.7.24~ds1". */
bool nri_version_parse(const char *text, unsigned number[3])
{
    unsigned found[3] = {0, 0, 0};
    if (text == NULL)
        return false;
    const char *at = read_number(text[0] == 'v' ? text + 1 : text, &found[0]);
    if (at == NULL || *at != '.')
        return false;
    at = read_number(at + 1, &found[1]);
    if (at == NULL)
        return false;
    if (at[0] == '.' && at[1] >= '0' && at[1] <= '9' && read_number(at + 1, &found[2]) == NULL)
        return false;
    for (int i = 0; i < 3; i++)
        number[i] = found[i];
    return true;
}

uint32_t nri_version_events(const char *nri_version)
{
    unsigned number[3];
    /* Not by the table of features, which a program need not hold for this. */
    bool all = nri_version_parse(nri_version, number) && (number[0] > 0 || number[1] >= ALL_EVENTS);
    return all ? NRI_EVENTS_ALL : NRI_EVENTS_CLASSIC;
}
