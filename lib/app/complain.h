/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends the program before it runs, as one line on standard error: for whoever typed the
 * command, or, with --log-format json, for whoever collects the log.
 */
#ifndef NRI_APP_COMPLAIN_H
#define NRI_APP_COMPLAIN_H

#include "options.h"

/* As --log-format said it, if that came before. Control characters of a text are escaped. */
void app_complain(const struct app_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
