/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result as bars, each as long as its share of the longest in its panel, with the ratio to the
 * floor behind it. SVG with no script, no font and nothing that is fetched.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "xml.h"

enum {
    WIDTH = 860,
    LEFT = 190,
    BARS = 480,
    LINE = 26,
    HEAD = 34,
    GAP = 22,
    TITLE = 66,
    NAME = 22,
    PLAIN = 18
};

/* ---- text ---- */

static void put_text(FILE *out, const char *text)
{
    xml_text(out, text, strlen(text));
}

/* How many bytes so many characters have at most, and *characters how many there are. */
static size_t bytes_of(const char *name, size_t most, size_t *characters)
{
    size_t bytes = 0;
    *characters = 0;
    for (; name[bytes] != '\0'; bytes++) {
        if (((unsigned char)name[bytes] & 0xc0) == 0x80)
            continue;
        if (*characters == most)
            break;
        ++*characters;
    }
    return bytes;
}

/* As much of a plugin's name as there is room for, and all of it where the pointer rests on it. A
 * long one is as wide as that room, whatever its letters are. */
static void put_name(FILE *out, const char *name, int y)
{
    size_t characters;
    const size_t bytes = bytes_of(name, NAME, &characters);
    (void)fprintf(out, "<text class=\"name\" x=\"%d\" y=\"%d\"", LEFT - 10, y);
    if (characters > PLAIN)
        (void)fprintf(out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", LEFT - 20);
    (void)fputc('>', out);
    xml_text(out, name, bytes);
    if (name[bytes] != '\0') {
        (void)fputs("\xe2\x80\xa6<title>", out); /* ... */
        put_text(out, name);
        (void)fputs("</title>", out);
    }
    (void)fputs("</text>\n", out);
}

/* ---- panels ---- */

struct panel {
    const char *title, *unit;
    double scale;                       /* a value is divided by it to be shown */
    uint64_t values[BENCH_PLUGINS + 1]; /* the floor's first */
    uint64_t high[BENCH_PLUGINS + 1];   /* where the thin line ends; 0: none */
};

static double largest(const struct panel *panel, size_t count)
{
    double most = 1;
    for (size_t i = 0; i <= count; i++) {
        const uint64_t value =
            panel->high[i] > panel->values[i] ? panel->high[i] : panel->values[i];
        most = (double)value > most ? (double)value : most;
    }
    return most;
}

static void bar(FILE *out, const struct bench *bench, const struct panel *panel, size_t i, int y)
{
    const double most = largest(panel, bench->plugin_count);
    const double length = (double)panel->values[i] / most * BARS;
    const double end =
        panel->high[i] > panel->values[i] ? (double)panel->high[i] / most * BARS : length;
    put_name(out, i == 0 ? "floor" : bench->plugins[i - 1].title, y + 15);
    (void)fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n",
                  i == 0 ? "floor" : "plugin", LEFT, y + 2, length < 1 ? 1 : length);
    if (end > length)
        (void)fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", LEFT + length,
                      y + 11, LEFT + end, y + 11);
    (void)fprintf(out, "<text x=\"%.1f\" y=\"%d\">%.2f %s", LEFT + end + 8, y + 15,
                  (double)panel->values[i] / panel->scale, panel->unit);
    if (i > 0 && panel->values[0] > 0)
        (void)fprintf(out, " <tspan class=\"ratio\">x%.2f</tspan>",
                      (double)panel->values[i] / (double)panel->values[0]);
    (void)fputs("</text>\n", out);
}

static int draw_panel(FILE *out, const struct bench *bench, const struct panel *panel, int y)
{
    (void)fprintf(out, "<text class=\"head\" x=\"20\" y=\"%d\">", y + 20);
    put_text(out, panel->title);
    (void)fputs("</text>\n", out);
    y += HEAD;
    for (size_t i = 0; i <= bench->plugin_count; i++, y += LINE)
        bar(out, bench, panel, i, y);
    return y + GAP;
}

enum { PANELS = BENCH_EVENTS + 4 };

static void fill_speed(struct bench *bench, struct panel *panels)
{
    static const char *const titles[BENCH_EVENTS] = {
        "CreateContainer: round trip, median; the line ends where 90 of 100 are",
        "StartContainer: round trip, median; the line ends where 90 of 100 are"};
    for (unsigned i = 0; i < BENCH_EVENTS; i++) {
        panels[i] = (struct panel){.title = titles[i], .unit = "us", .scale = 1e3};
        panels[i].values[0] = bench_at(&bench->floor[i].trips, 500);
        panels[i].high[0] = bench_at(&bench->floor[i].trips, 900);
        for (size_t j = 0; j < bench->plugin_count; j++) {
            panels[i].values[j + 1] = bench_at(&bench->plugins[j].speed[i].trips, 500);
            panels[i].high[j + 1] = bench_at(&bench->plugins[j].speed[i].trips, 900);
        }
    }
}

static void fill_rest(struct bench *bench, struct panel *panels)
{
    const struct bench_speed *floor = &bench->floor[BENCH_CREATE];
    panels[0] = (struct panel){
        .title = "CreateContainer: CPU time a call, of the plugin", .unit = "us", .scale = 1e3};
    panels[0].values[0] = floor->cpu_calls == 0 ? 0 : floor->cpu_ns / floor->cpu_calls;
    panels[1] = (struct panel){
        .title = "Start until synchronised; the floor is a process that does nothing",
        .unit = "ms",
        .scale = 1e6};
    panels[1].values[0] = bench_at(&bench->floor_start, 500);
    panels[2] = (struct panel){
        .title = "Memory (RSS), idle; the line ends at the peak; the floor is a stopped shell",
        .unit = "MB",
        .scale = 1e6};
    panels[2].values[0] = bench->floor_rss;
    panels[3] = (struct panel){
        .title = "CreateContainer: calls a second with several under way; more is better",
        .unit = "k/s",
        .scale = 1e3};
    panels[3].values[0] = bench_per_second(floor);
    for (size_t j = 0; j < bench->plugin_count; j++) {
        struct bench_plugin *plugin = &bench->plugins[j];
        const struct bench_speed *speed = &plugin->speed[BENCH_CREATE];
        panels[3].values[j + 1] = bench_per_second(speed);
        panels[0].values[j + 1] = speed->cpu_calls == 0 ? 0 : speed->cpu_ns / speed->cpu_calls;
        panels[1].values[j + 1] = bench_at(&plugin->synchronised, 500);
        panels[2].values[j + 1] = plugin->idle.rss;
        panels[2].high[j + 1] = plugin->loaded.peak;
    }
}

static void draw(FILE *out, struct bench *bench)
{
    struct panel panels[PANELS];
    const int rows = (int)bench->plugin_count + 1;
    const int height = TITLE + PANELS * (HEAD + rows * LINE + GAP);
    fill_speed(bench, panels);
    fill_rest(bench, panels + BENCH_EVENTS);
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>nrictl bench</title>\n<style>\n"
                  "text { font: 13px sans-serif; fill: #222 }\n"
                  ".top { font-size: 18px; font-weight: bold }\n"
                  ".head { font-weight: bold }\n.name { text-anchor: end }\n"
                  ".note { fill: #666 }\n.ratio { fill: #a33; font-weight: bold }\n"
                  "rect.floor { fill: #b6bcc4 }\nrect.plugin { fill: #3c78b4 }\n"
                  "line { stroke: #555; stroke-width: 1.5 }\n</style>\n"
                  "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                  WIDTH, height, WIDTH, height, WIDTH, height);
    (void)fprintf(out,
                  "<text class=\"top\" x=\"20\" y=\"30\">nrictl bench</text>\n"
                  "<text class=\"note\" x=\"20\" y=\"50\">%llu turns of %llu calls, %llu starts, "
                  "measured in turns; red: times the floor</text>\n",
                  (unsigned long long)bench->rounds, (unsigned long long)bench->calls,
                  (unsigned long long)bench->starts);
    for (int i = 0, y = TITLE; i < PANELS; i++)
        y = draw_panel(out, bench, &panels[i], y);
    (void)fputs("</svg>\n", out);
}

bool bench_chart(struct bench *bench)
{
    const char *end = strrchr(bench->chart, '.');
    const bool page = end != NULL && (strcmp(end, ".html") == 0 || strcmp(end, ".htm") == 0);
    FILE *out = fopen(bench->chart, "we");
    if (out == NULL)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "%s: %s", bench->chart, strerror(errno));
    if (page)
        (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/>"
                    "<title>nrictl bench</title></head>\n<body>\n",
                    out);
    else
        (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    draw(out, bench);
    if (page)
        (void)fputs("</body>\n</html>\n", out);
    const bool good = ferror(out) == 0;
    if (fclose(out) != 0 || !good)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "%s: %s", bench->chart, strerror(errno));
    return true;
}
