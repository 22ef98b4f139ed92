/* SPDX-License-Identifier: Apache-2.0 */
/* An event as one line of JSON. */
#ifndef LOGGER_LINE_H
#define LOGGER_LINE_H

#include <nri/nri.h>

/* Prints the line on standard output. 0, or -1 when there is no memory or the output fails. */
int line_print(const nri_request *request);

#endif
