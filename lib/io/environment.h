/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program around a plugin says about it: the variables that a runtime gives to the plugins
 * it launches, and the program's name.
 */
#ifndef NRI_IO_ENVIRONMENT_H
#define NRI_IO_ENVIRONMENT_H

#include "base/error.h"

#define NRI_ENVIRONMENT_NAME   "NRI_PLUGIN_NAME"
#define NRI_ENVIRONMENT_INDEX  "NRI_PLUGIN_IDX"
#define NRI_ENVIRONMENT_SOCKET "NRI_PLUGIN_SOCKET"

/* The value of a variable, NULL when it is not set or empty. Lives as long as the environment is
 * left alone. */
const char *nri_environment_get(const char *variable);

/* The descriptor that NRI_PLUGIN_SOCKET names: *fd -1 when it is not set. NRI_E_INVALID (no decimal
 * number, or a descriptor of this program's own), NRI_E_NOT_SOCKET. */
int nri_environment_socket(int *fd, struct nri_error *error);

/* The base name of the running program, as it was called. */
const char *nri_environment_program(void);

#endif
