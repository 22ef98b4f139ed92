/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "memory.h"

void screen_init(struct screen *screen, int out, int in)
{
    memset(screen, 0, sizeof *screen);
    screen->out = out;
    screen->in = in >= 0 && isatty(in) == 1 ? in : -1;
}

static void put(int fd, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t done = write(fd, text, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return; /* a terminal that is gone takes nothing */
        text += done;
        length -= (size_t)done;
    }
}

static void put_text(const struct screen *screen, const char *text)
{
    put(screen->out, text, strlen(text));
}

/* A key comes at once and is not shown; Ctrl-C and Ctrl-Z stay signals. */
void screen_begin(struct screen *screen)
{
    struct termios keys;
    if (screen->on)
        return;
    screen->on = true;
    screen->changed = screen->in >= 0 && tcgetattr(screen->in, &screen->before) == 0;
    if (screen->changed) {
        keys = screen->before;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        keys.c_cc[VMIN] = 1;
        keys.c_cc[VTIME] = 0;
        (void)tcsetattr(screen->in, TCSANOW, &keys);
    }
    put_text(screen, "\033[?1049h\033[?25l\033[H\033[2J");
}

void screen_end(struct screen *screen)
{
    if (!screen->on)
        return;
    screen->on = false;
    put_text(screen, "\033[?25h\033[?1049l");
    if (screen->changed)
        (void)tcsetattr(screen->in, TCSANOW, &screen->before);
}

/* ---- drawing ---- */

static void window(const struct screen *screen, size_t *rows, size_t *columns)
{
    struct winsize size;
    *rows = 24;
    *columns = 80;
    if (ioctl(screen->out, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
}

/* How many bytes from `text` on are one sequence (ESC [ ... letter), or one character. */
static size_t unit(const char *text, size_t length, bool *visible)
{
    size_t count = 1;
    *visible = text[0] != '\033';
    if (!*visible) {
        while (count < length && text[count - 1] != 'm')
            count++;
        return count;
    }
    while (count < length && ((unsigned char)text[count] & 0xc0) == 0x80)
        count++;
    return count;
}

/* What fits of a line; sequences are kept, so that no colour runs on. */
static void draw_line(struct nri_buf *buf, const char *line, size_t length, size_t columns)
{
    size_t shown = 0;
    (void)nri_buf_append(buf, "\033[2K", 4);
    for (size_t at = 0; at < length;) {
        bool visible;
        const size_t count = unit(line + at, length - at, &visible);
        if (!visible || shown < columns)
            (void)nri_buf_append(buf, line + at, count);
        shown += visible ? 1 : 0;
        at += count;
    }
}

void screen_draw(const struct screen *screen, const char *text, size_t length)
{
    size_t rows, columns;
    struct nri_buf buf;
    window(screen, &rows, &columns);
    memory_buf(&buf, SIZE_MAX);
    (void)nri_buf_append(&buf, "\033[H", 3);
    size_t row = 0;
    for (size_t at = 0; row < rows && at < length; row++) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t count = end != NULL ? (size_t)(end - text) - at : length - at;
        if (row > 0)
            (void)nri_buf_append(&buf, "\r\n", 2);
        draw_line(&buf, text + at, count, columns);
        at += count + 1;
    }
    if (row < rows) /* what stood below */
        (void)nri_buf_append(&buf, "\r\n\033[J", 5);
    put(screen->out, memory_text(&buf), nri_buf_size(&buf));
    nri_buf_fini(&buf);
}

bool screen_wants_end(const struct screen *screen)
{
    char keys[64];
    const ssize_t count = read(screen->in, keys, sizeof keys);
    if (count == 0)
        return true; /* the terminal is gone */
    for (ssize_t i = 0; i < count; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == 3)
            return true;
    }
    return count < 0 && errno != EINTR && errno != EAGAIN;
}
