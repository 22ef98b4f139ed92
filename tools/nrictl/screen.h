/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal that shows one text, drawn again and again in place, no larger than the window.
 *
 * It uses the terminal's second screen, so that what was there comes back at the end.
 */
#ifndef NRICTL_SCREEN_H
#define NRICTL_SCREEN_H

#include <termios.h>

#include "nrictl.h"

struct screen {
    int out, in; /* descriptors; in -1: no terminal to read keys from */
    bool on, changed;
    struct termios before;
};

/* `out` is a terminal's descriptor. */
void screen_init(struct screen *screen, int out, int in);
void screen_begin(struct screen *screen); /* again after a stop, too */
void screen_end(struct screen *screen);   /* all as it was */
/* Sequences for colours may be in the text, other ones may not. */
void screen_draw(const struct screen *screen, const char *text, size_t length);
/* Whether a key that ends was pressed: q, Q, Ctrl-C where the terminal gives that as a byte. */
bool screen_wants_end(const struct screen *screen);

#endif
