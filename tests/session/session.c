/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>

int session_setup(void **state)
{
    struct session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return 1;
    fake_runtime_init(&s->fr, &s->recorder);
    *state = s;
    return 0;
}

int session_teardown(void **state)
{
    struct session *s = *state;
    fake_runtime_fini(&s->fr);
    free(s);
    return 0;
}
