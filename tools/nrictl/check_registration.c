/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration.*: the forms in which plugins are started, and what they say first.
 */
#include <stdio.h>
#include <string.h>

#include "check_group.h"
#include "check_step.h"

/* What runtimes give a plugin that they launch, unless told otherwise. */
#define REGISTRATION_MS 5000

/* ---- forms ---- */

static bool same(struct run *run, const char *what, const char *seen, const char *expected)
{
    if (strcmp(seen, expected) == 0)
        return true;
    return run_fail(run, "the %s '%s' instead of '%s'", what, seen, expected);
}

static bool finish(struct run *run, const struct step_registration *registration)
{
    return peer_answer(run, registration->stream, 0, "") && step_configure(run) &&
           step_synchronize(run) && step_alive(run);
}

static void external(struct run *run, int argument)
{
    struct step_registration registration;
    const char *const *argv = run->suite->argv;
    (void)argument;
    if (!subject_has(argv, "{socket}")) {
        (void)run_skip(run, "the command line has no {socket}");
        return;
    }
    if (!step_start_as(run, SUBJECT_EXTERNAL) || !step_registration(run, &registration))
        return;
    if (subject_has(argv, "{name}") && !same(run, "name", registration.name, SUBJECT_NAME))
        return;
    if (subject_has(argv, "{index}") && !same(run, "index", registration.index, SUBJECT_INDEX))
        return;
    (void)finish(run, &registration);
}

static void environment(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    if (!subject_has(run->suite->argv, "{socket}")) {
        (void)run_skip(run, "the command line has no {socket}");
        return;
    }
    (void)(step_start_as(run, SUBJECT_ENVIRONMENT) && step_registration(run, &registration) &&
           same(run, "name", registration.name, SUBJECT_NAME) &&
           same(run, "index", registration.index, SUBJECT_INDEX) && finish(run, &registration));
}

/* Go runtimes go by the names that they launched it by, whatever it says: a plugin of one's own
 * name is not wrong, one without any is. */
static void launched(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    (void)(step_start_as(run, SUBJECT_LAUNCHED) && step_registration(run, &registration) &&
           same(run, "name", registration.name, SUBJECT_LAUNCHED_NAME) &&
           same(run, "index", registration.index, SUBJECT_LAUNCHED_INDEX) &&
           finish(run, &registration));
}

/* ---- what is said ---- */

static bool is_name(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-") ==
               strlen(text);
}

static bool is_index(const char *text)
{
    return strlen(text) == 2 && strspn(text, "0123456789") == 2;
}

static void identity(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    if (!step_start(run) || !step_registration(run, &registration))
        return;
    if (!is_name(registration.name))
        (void)run_fail(run, "the name '%s'", registration.name);
    else if (!is_index(registration.index))
        (void)run_fail(run, "the index '%s'", registration.index);
}

static void first(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    if (!step_start(run) || !step_registration(run, &registration))
        return;
    if (registration.stream != 1)
        (void)run_fail(run, "RegisterPlugin on stream %u", registration.stream);
    else
        (void)finish(run, &registration);
}

static void in_time(struct run *run, int argument)
{
    struct step_registration registration;
    const uint64_t began = run_now(), limit = REGISTRATION_MS * run->suite->slow;
    (void)argument;
    if (!step_start(run) || !step_registration(run, &registration))
        return;
    const uint64_t took = run_now() - began;
    if (took > limit)
        (void)run_fail(run, "RegisterPlugin after %llu ms; the limit is %llu ms",
                       (unsigned long long)took, (unsigned long long)limit);
}

static void refused(struct run *run, int argument)
{
    enum { UNKNOWN = 2 };
    struct step_registration registration;
    bool back = false;
    (void)argument;
    (void)(step_start(run) && step_registration(run, &registration) &&
           peer_answer(run, registration.stream, UNKNOWN, "invalid plugin index \"4\"") &&
           step_closed(run, &back));
}

static const struct check checks[] = {
    {.id = "registration.external",
     .title = "start it with a socket, a name and an index in its arguments",
     .expected = "it registers with that name and index, and takes an event",
     .why = "how plugins run as daemons and in containers (NRI README; nri #202)",
     .run = external},
    {.id = "registration.environment",
     .title = "start it with NRI_PLUGIN_NAME and NRI_PLUGIN_IDX in its environment",
     .expected = "it registers with that name and index",
     .why = "the Go stub and what is built on it take their identity from there (nri #249)",
     .severity = CHECK_SHOULD,
     .run = environment},
    {.id = "registration.launched",
     .title = "start it as a runtime launches it: descriptor 3, nothing but NRI_PLUGIN_* set",
     .expected = "it registers there with the name and index of its environment",
     .why = "how runtimes start plugins of /opt/nri/plugins, without even PATH",
     .run = launched},
    {.id = "registration.identity",
     .title = "look at the name and the index that it registers with",
     .expected = "a name of A-Z a-z 0-9 _ . + -, an index of two digits",
     .why = "runtimes refuse others (\"must be 2 digits\"; names since NRI 0.12)",
     .run = identity},
    {.id = "registration.first",
     .title = "look at what it sends first",
     .expected = "RegisterPlugin of nri.pkg.api.v1alpha1.Runtime on connection 2, stream 1",
     .why = "runtimes wait for it and for nothing else",
     .run = first},
    {.id = "registration.time",
     .title = "measure the time from its start to RegisterPlugin",
     .expected = "at most 5 s (times --slow)",
     .why = "runtimes give up on a plugin that they launched after 5 s",
     .run = in_time},
    {.id = "registration.refused",
     .title = "refuse RegisterPlugin, as for a wrong index, and close",
     .expected = "it ends, or comes back",
     .why = "a plugin that hangs there looks healthy to its supervisor",
     .run = refused},
};
const struct check_group check_registration = CHECK_GROUP("registration", checks);
