/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of libuv of a handle's own.
 */
#ifndef NRI_IO_OWN_LOOP_H
#define NRI_IO_OWN_LOOP_H

#include <uv.h>

#include "base/error.h"

/* `fd` is any open descriptor. NRI_E_IO, NRI_E_NOMEM; then nothing is left. */
int nri_own_loop_open(uv_loop_t *loop, int fd, struct nri_error *error);

#endif
