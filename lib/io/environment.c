/* SPDX-License-Identifier: Apache-2.0 */
#include "io/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "io/socket.h"

const char *nri_environment_get(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Digits alone, no sign, no blanks: what strtol() would let pass is not what a runtime writes. */
static bool parse_descriptor(const char *text, int *fd)
{
    long value = 0;
    for (const char *digit = text; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        value = value * 10 + (*digit - '0');
        if (value > INT_MAX)
            return false;
    }
    *fd = (int)value;
    return true;
}

int nri_environment_socket(int *fd, struct nri_error *error)
{
    const char *text = nri_environment_get(NRI_ENVIRONMENT_SOCKET);
    *fd = -1;
    if (text == NULL)
        return 0;

    int found;
    if (!parse_descriptor(text, &found))
        return nri_error_set(error, NRI_E_INVALID,
                             NRI_ENVIRONMENT_SOCKET
                             "=\"%s\" is not the decimal number of a descriptor: unset it, or set "
                             "ignore_environment",
                             text);
    int rc = nri_socket_check(found, error);
    if (rc != 0) {
        nri_error_prefix(error, NRI_ENVIRONMENT_SOCKET "=%s", text);
        return rc;
    }
    /* What came through the exec has no FD_CLOEXEC. One that has it was opened in this program
     * since, or is the one that another plugin of this program has taken: closing it twice would
     * hit a stranger. */
    if (nri_socket_is_cloexec(found))
        return nri_error_set(
            error, NRI_E_INVALID,
            NRI_ENVIRONMENT_SOCKET
            "=%s: this descriptor did not come from the runtime, or another plugin "
            "of this program has taken it: give the second plugin a socket_path "
            "and ignore_environment",
            text);
    *fd = found;
    return 0;
}

const char *nri_environment_program(void)
{
    return program_invocation_short_name;
}
