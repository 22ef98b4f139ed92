/* SPDX-License-Identifier: Apache-2.0 */
#include "io/close_from.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#define OPEN_DESCRIPTORS "/proc/self/fd"
#define DECIMAL          10

/* The listing itself has one, which is close-on-exec: closing it again does no harm. */
int nri_close_open(posix_spawn_file_actions_t *actions, int first)
{
    int number = 0;
    DIR *listing = opendir(OPEN_DESCRIPTORS);
    if (listing == NULL)
        return errno;
    while (number == 0) {
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (entry == NULL) {
            number = errno;
            break;
        }
        const long fd = strtol(entry->d_name, NULL, DECIMAL);
        if (fd >= first) /* "." and ".." are 0 */
            number = posix_spawn_file_actions_addclose(actions, (int)fd);
    }
    (void)closedir(listing);
    return number;
}

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34)
int nri_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
#else
int nri_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return nri_close_open(actions, first);
}
#endif
