/* SPDX-License-Identifier: Apache-2.0 */
/* An event as one line of JSON. */
#ifndef LOGGER_LINE_H
#define LOGGER_LINE_H

#include <nri/nri.h>
#include <yajl/yajl_gen.h>

/* The line, without its newline, is in the generator's buffer; yajl_gen_free() frees it. NULL when
 * there is no memory. */
yajl_gen line_make(const nri_request *request);

#endif
