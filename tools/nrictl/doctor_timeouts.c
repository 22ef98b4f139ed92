/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time-outs of plugins, in Go's form of durations: too short for a busy node, or as long as the
 * kubelet waits for the request that a plugin is part of.
 */
#include <string.h>

#include "doctor.h"

#define SECOND           1000.0
#define LEAST_REGISTER   (1 * SECOND)
#define LEAST_REQUEST    (0.5 * SECOND)
#define KUBELET_CONFIG   "/var/lib/kubelet/config.yaml"
#define KUBELET_DEFAULT  "2m0s"
#define DEFAULT_REGISTER "5s"
#define DEFAULT_REQUEST  "2s"

/* One piece, "1.5s"; false: it is none. */
static bool take_piece(const char **text, double *sum)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"ns", 1e-6}, {"us", 1e-3},       {"\xc2\xb5s", 1e-3}, {"ms", 1},
                 {"h", 3.6e6}, {"m", 60 * SECOND}, {"s", SECOND}};
    double value = 0, place = 1;
    size_t digits = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++, digits++)
        value = 10 * value + (*at - '0');
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++, digits++)
            value += (*at - '0') * (place /= 10);
    }
    if (digits == 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i].unit);
        if (strncmp(at, units[i].unit, length) != 0)
            continue;
        *sum += value * units[i].factor;
        *text = at + length;
        return true;
    }
    return false;
}

/* False: it is no duration. */
static bool parse(const char *text, double *milliseconds)
{
    const bool negative = *text == '-';
    *milliseconds = 0;
    text += *text == '-' || *text == '+';
    if (strcmp(text, "0") == 0)
        return true;
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        if (!take_piece(&text, milliseconds))
            return false;
    }
    if (negative)
        *milliseconds = -*milliseconds;
    return true;
}

/* ---- the kubelet ---- */

/* "runtimeRequestTimeout: 15m0s" stands alone on a line of the outermost level. */
static const char *kubelet_timeout(struct doctor *doctor)
{
    static const char key[] = "runtimeRequestTimeout:";
    char *text;
    size_t length;
    double milliseconds;
    if (doctor_root_read(&doctor->root, KUBELET_CONFIG, DOCTOR_MOST_BYTES, &text, &length) != 0)
        return NULL;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (strncmp(line, key, sizeof key - 1) != 0)
            continue;
        line += sizeof key - 1;
        line += strspn(line, " \t\"'");
        line[strcspn(line, " \t\r\"'#")] = '\0';
        if (parse(line, &milliseconds) && milliseconds > 0)
            return line;
    }
    return KUBELET_DEFAULT;
}

/* ---- one time-out ---- */

static void check(struct doctor *doctor, const struct doctor_runtime *runtime, const char *key,
                  const char *text, const char *where, double least, const char *usual)
{
    double milliseconds;
    const char *fix = doctor_setting(doctor, runtime, key, DOCTOR_TEXT(doctor, "\"%s\"", usual));
    if (text == NULL)
        return;
    if (!parse(text, &milliseconds) || milliseconds < 0)
        DOCTOR_FIND(doctor, TIMEOUT_INVALID, where, fix,
                    "%s is \"%s\", which is no duration such as \"%s\"", key, text, usual);
    else if (milliseconds > 0 && milliseconds < least)
        DOCTOR_FIND(doctor, TIMEOUT_SHORT, where, fix, "%s is %s; the default is %s", key, text,
                    usual);
}

static void check_kubelet(struct doctor *doctor, const struct doctor_runtime *runtime)
{
    double request, limit;
    const char *kubelet = kubelet_timeout(doctor);
    if (kubelet == NULL || runtime->request == NULL || !parse(runtime->request, &request) ||
        !parse(kubelet, &limit) || request < limit)
        return;
    DOCTOR_FIND(doctor, TIMEOUT_LONG, runtime->request_at,
                DOCTOR_TEXT(doctor, "in %s: runtimeRequestTimeout: 15m0s\nor %s", KUBELET_CONFIG,
                            doctor_setting(doctor, runtime, runtime->request_key,
                                           "\"" DEFAULT_REQUEST "\"")),
                "%s is %s, and the kubelet waits for %s", runtime->request_key, runtime->request,
                kubelet);
}

void doctor_timeouts_check(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->runtime_count; i++) {
        const struct doctor_runtime *runtime = &doctor->runtimes[i];
        if (!runtime->enabled || runtime->request_key == NULL)
            continue;
        check(doctor, runtime, runtime->registration_key, runtime->registration,
              runtime->registration_at, LEAST_REGISTER, DEFAULT_REGISTER);
        check(doctor, runtime, runtime->request_key, runtime->request, runtime->request_at,
              LEAST_REQUEST, DEFAULT_REQUEST);
        check_kubelet(doctor, runtime);
    }
}
