/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the program's, whose rows may be smaller or larger than those known here: the options
 * say how large they are.
 */
#ifndef NRI_APP_ROWS_H
#define NRI_APP_ROWS_H

#include <nri/app.h>

#define APP_ROWS_MOST 4096 /* of a table */

/* Puts copies of the tables, with rows of the size known here, in the place of the program's. 0, or
 * NRI_E_ABI, NRI_E_NOMEM. app_rows_free() is needed in any case. */
int app_rows_copy(struct nri_app_options *options);
void app_rows_free(struct nri_app_options *options);

#endif
