/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the members of a field stand. */
enum part { ADJUST, LINUX, RESOURCES, MEMORY, CPU, RDT, PARTS };

/*
 * How a field is set: a member whole (%d is a number), or a list or map, with an entry for a key
 * (%s, then %d) and an entry that removes one. %b is true or false.
 */
struct form {
    int field;
    enum part part;
    const char *member;   /* the name */
    const char *brackets; /* "[]", "{}"; NULL: no list */
    const char *set, *removal;
    const char *seen;        /* an entry of a container, when it is another */
    const char *const *keys; /* three */
};

static const char *const names[] = {"k0", "k1", "k-2"};
static const char *const paths[] = {"/p0", "/p1", "/p/2"};
static const char *const sizes[] = {"2MB", "1GB", "64KB"};
static const char *const types[] = {"pid", "network", "cgroup"};
static const char *const limits[] = {"RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_CPU"};

static const struct form forms[] = {
    {NRI_FIELD_ANNOTATIONS, ADJUST, "annotations", "{}", "\"%s\":\"%d\"", "\"-%s\":\"x\"", NULL,
     names},
    {NRI_FIELD_MOUNTS, ADJUST, "mounts", "[]", "{\"destination\":\"%s\",\"source\":\"/s%d\"}",
     "{\"destination\":\"-%s\"}", NULL, paths},
    {NRI_FIELD_OCI_HOOKS, ADJUST, "hooks", "{}", NULL, NULL, NULL, NULL},
    {NRI_FIELD_DEVICES, LINUX, "devices", "[]",
     "{\"path\":\"%s\",\"type\":\"c\",\"major\":\"%d\",\"file_mode\":438}", "{\"path\":\"-%s\"}",
     NULL, paths},
    {NRI_FIELD_CDI_DEVICES, ADJUST, "CDI_devices", "[]", "{\"name\":\"v/c=%s\"}", NULL, NULL,
     names},
    {NRI_FIELD_ENV, ADJUST, "env", "[]", "{\"key\":\"%s\",\"value\":\"%d=\"}", "{\"key\":\"-%s\"}",
     "\"%s=%d\"", names},
    {NRI_FIELD_ARGS, ADJUST, "args", NULL, "[\"a%d\",\"b\"]", "[\"\",\"c%d\"]", NULL, NULL},
    {NRI_FIELD_MEM_LIMIT, MEMORY, "limit", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_RESERVATION, MEMORY, "reservation", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_SWAP_LIMIT, MEMORY, "swap", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_KERNEL_LIMIT, MEMORY, "kernel", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_TCP_LIMIT, MEMORY, "kernel_tcp", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_SWAPPINESS, MEMORY, "swappiness", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_MEM_DISABLE_OOM_KILLER, MEMORY, "disable_oom_killer", NULL, "%b", NULL, NULL, NULL},
    {NRI_FIELD_MEM_USE_HIERARCHY, MEMORY, "use_hierarchy", NULL, "%b", NULL, NULL, NULL},
    {NRI_FIELD_CPU_SHARES, CPU, "shares", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPU_QUOTA, CPU, "quota", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPU_PERIOD, CPU, "period", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPU_REALTIME_RUNTIME, CPU, "realtime_runtime", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPU_REALTIME_PERIOD, CPU, "realtime_period", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPUSET_CPUS, CPU, "cpus", NULL, "\"0-%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CPUSET_MEMS, CPU, "mems", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_PIDS_LIMIT, RESOURCES, "pids", NULL, "{\"limit\":\"%d\"}", NULL, NULL, NULL},
    {NRI_FIELD_HUGEPAGE_LIMITS, RESOURCES, "hugepage_limits", "[]",
     "{\"page_size\":\"%s\",\"limit\":\"%d\"}", NULL, NULL, sizes},
    {NRI_FIELD_BLOCKIO_CLASS, RESOURCES, "blockio_class", NULL, "\"c%d\"", NULL, NULL, NULL},
    {NRI_FIELD_RDT_CLASS, RESOURCES, "rdt_class", NULL, "\"c%d\"", NULL, NULL, NULL},
    {NRI_FIELD_CGROUPS_UNIFIED, RESOURCES, "unified", "{}", "\"%s\":\"%d\"", NULL, NULL, names},
    {NRI_FIELD_CGROUPS_PATH, LINUX, "cgroups_path", NULL, "\"/c%d\"", NULL, NULL, NULL},
    {NRI_FIELD_OOM_SCORE_ADJ, LINUX, "oom_score_adj", NULL, "\"%d\"", NULL, NULL, NULL},
    {NRI_FIELD_RLIMITS, ADJUST, "rlimits", "[]", "{\"type\":\"%s\",\"hard\":\"%d\"}", NULL, NULL,
     limits},
    {NRI_FIELD_IO_PRIORITY, LINUX, "io_priority", NULL, "{\"class\":1,\"priority\":%d}", NULL, NULL,
     NULL},
    {NRI_FIELD_SECCOMP_POLICY, LINUX, "seccomp_policy", NULL,
     "{\"default_action\":\"SCMP_ACT_ALLOW\",\"listener_path\":\"/l%d\"}", NULL, NULL, NULL},
    {NRI_FIELD_NAMESPACE, LINUX, "namespaces", "[]", "{\"type\":\"%s\",\"path\":\"/n%d\"}",
     "{\"type\":\"-%s\"}", NULL, types},
    {NRI_FIELD_SYSCTL, LINUX, "sysctl", "{}", "\"%s\":\"%d\"", "\"-%s\":\"\"", NULL, names},
    {NRI_FIELD_LINUX_NET_DEVICES, LINUX, "net_devices", "{}", "\"%s\":{\"name\":\"e%d\"}",
     "\"-%s\":{}", NULL, names},
    {NRI_FIELD_LINUX_SCHED, LINUX, "scheduler", NULL, "{\"policy\":2,\"priority\":%d}", NULL, NULL,
     NULL},
    {NRI_FIELD_RDT_CLOS_ID, RDT, "clos_id", NULL, "\"c%d\"", "", NULL, NULL},
    {NRI_FIELD_RDT_SCHEMATA, RDT, "schemata", NULL, "[\"L3:%d\"]", "", NULL, NULL},
    {NRI_FIELD_RDT_ENABLE_MONITORING, RDT, "enable_monitoring", NULL, "%b", "", NULL, NULL},
    {NRI_FIELD_MEMORY_POLICY, LINUX, "memory_policy", NULL, "{\"mode\":2,\"nodes\":\"%d\"}", NULL,
     NULL, NULL},
    /* nobody's: rules of the device cgroup */
    {NRI_FIELD_NONE, RESOURCES, "devices", NULL,
     "[{\"allow\":true,\"type\":\"c\",\"major\":\"%d\"}]", NULL, NULL, NULL},
};
#define FORMS (sizeof forms / sizeof forms[0])

/* Text that grows. */
struct text {
    char at[SCENARIO_TEXT];
    size_t length;
};

/* What is being made. */
struct making {
    uint64_t random;
    struct scenario_counts *counts;
    struct text parts[PARTS];
    /* Fields that updates of a container have set so far, by container. */
    uint64_t updated[3];
};

static unsigned roll(struct making *making, unsigned sides)
{
    making->random ^= making->random << 13;
    making->random ^= making->random >> 7;
    making->random ^= making->random << 17;
    return (unsigned)(making->random >> 33) % sides;
}

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size =
        vsnprintf(text->at + text->length, sizeof text->at - text->length, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text->at - text->length)
        abort(); /* a test's own buffer */
    text->length += (size_t)size;
}

static void comma(struct text *text)
{
    if (text->length > 0 && strchr("{[", text->at[text->length - 1]) == NULL)
        add(text, ",");
}

/* A form with its key and its number put in. */
static void fill(struct making *making, struct text *text, const char *form, const char *key)
{
    for (const char *at = form; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 's')
            add(text, "%s", key);
        else if (at[0] == '%' && at[1] == 'd')
            add(text, "%u", roll(making, 8));
        else if (at[0] == '%' && at[1] == 'b')
            add(text, "%s", roll(making, 2) == 0 ? "false" : "true");
        else {
            add(text, "%c", *at);
            continue;
        }
        at++;
    }
}

static void add_hooks(struct making *making, struct text *text)
{
    static const char *const stages[] = {"prestart",        "create_runtime", "create_container",
                                         "start_container", "poststart",      "poststop"};
    for (size_t i = 0; i < 6; i++) {
        if (roll(making, 3) == 0) {
            comma(text);
            add(text, "\"%s\":[{\"path\":\"/h%u\",\"timeout\":\"%u\"}]", stages[i], roll(making, 9),
                roll(making, 9));
        }
    }
}

/* Entries for some of the keys: in a container only sets, in a reply removals too, sometimes both,
 * and rarely, in a list, the same key twice. */
static void add_entries(struct making *making, struct text *text, const struct form *form, int seen)
{
    const char *set = seen && form->seen != NULL ? form->seen : form->set;
    for (size_t i = 0; i < 3; i++) {
        unsigned what = roll(making, 10);
        if (what >= 7)
            continue;
        int removal = !seen && form->removal != NULL && what < 2;
        if (removal) {
            comma(text);
            fill(making, text, form->removal, form->keys[i]);
            making->counts->removed[form->field]++;
        }
        if (!removal || (what == 0 && form->field != NRI_FIELD_NAMESPACE)) {
            comma(text);
            fill(making, text, set, form->keys[i]);
            making->counts->set[form->field] += !seen;
        }
        if (!seen && form->brackets[0] == '[' && roll(making, 60) == 0) {
            comma(text);
            fill(making, text, form->set, form->keys[i]);
        }
    }
}

static void add_rdt_removal(struct making *making)
{
    if (strstr(making->parts[RDT].at, "\"remove\"") != NULL)
        return;
    comma(&making->parts[RDT]);
    add(&making->parts[RDT], "\"remove\":true");
    for (int field = NRI_FIELD_RDT_CLOS_ID; field <= NRI_FIELD_RDT_ENABLE_MONITORING; field++)
        making->counts->removed[field]++;
}

/* One field into its part; `seen`: of a container or of a request's resources. */
static void add_field(struct making *making, const struct form *form, int seen)
{
    struct text *text = &making->parts[form->part];
    int removal = !seen && form->removal != NULL && roll(making, 4) == 0;
    if (form->part == RDT && removal)
        add_rdt_removal(making);
    comma(text);
    add(text, "\"%s\":", form->member);
    if (form->field == NRI_FIELD_OCI_HOOKS) {
        add(text, "{");
        add_hooks(making, text);
        add(text, "}");
        making->counts->set[form->field] += !seen;
    } else if (form->brackets != NULL) {
        add(text, "%c", form->brackets[0]);
        add_entries(making, text, form, seen);
        add(text, "%c", form->brackets[1]);
    } else if (removal && form->part != RDT) {
        fill(making, text, roll(making, 8) == 0 ? "[\"\"]" : form->removal, NULL);
        making->counts->removed[form->field]++;
    } else {
        fill(making, text, form->set, NULL);
        making->counts->set[form->field] += !seen;
    }
}

static void begin(struct making *making)
{
    for (size_t i = 0; i < PARTS; i++) {
        making->parts[i].length = 0;
        making->parts[i].at[0] = '\0';
    }
}

/* A part as a member of the one around it, unless it is empty. */
static void nest(struct making *making, enum part inner, enum part outer, const char *name)
{
    if (making->parts[inner].length == 0)
        return;
    comma(&making->parts[outer]);
    add(&making->parts[outer], "\"%s\":{%s}", name, making->parts[inner].at);
}

static void nest_resources(struct making *making)
{
    nest(making, MEMORY, RESOURCES, "memory");
    nest(making, CPU, RESOURCES, "cpu");
}

static int in_update(const struct form *form)
{
    return form->part >= RESOURCES && form->part <= CPU;
}

static const char *resources(struct making *making)
{
    begin(making);
    for (size_t i = 0; i < FORMS; i++) {
        if (in_update(&forms[i]) && roll(making, 4) == 0)
            add_field(making, &forms[i], 1);
    }
    nest_resources(making);
    return making->parts[RESOURCES].at;
}

static const char *container(struct making *making)
{
    begin(making);
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        if (form->field != NRI_FIELD_CDI_DEVICES && form->field != NRI_FIELD_MEMORY_POLICY &&
            roll(making, 3) == 0)
            add_field(making, form, 1);
    }
    nest_resources(making);
    nest(making, RESOURCES, LINUX, "resources");
    nest(making, RDT, LINUX, "rdt");
    if (roll(making, 4) != 0)
        nest(making, LINUX, ADJUST, "linux");
    comma(&making->parts[ADJUST]);
    add(&making->parts[ADJUST], "\"id\":\"c0\"");
    return making->parts[ADJUST].at;
}

/* The fields that a scenario is about: so few that plugins meet. */
static uint64_t choose(struct making *making, int updates_only)
{
    uint64_t chosen = 0;
    for (unsigned left = updates_only ? 3 : 1 + roll(making, 3); left > 0;) {
        unsigned i = roll(making, FORMS);
        if (updates_only ? !in_update(&forms[i]) : in_update(&forms[i]) && roll(making, 2) == 0)
            continue; /* what can be updated has its turn there */
        chosen |= UINT64_C(1) << i;
        left--;
    }
    return chosen;
}

static void adjustment(struct making *making, struct text *out, uint64_t chosen)
{
    begin(making);
    for (size_t i = 0; i < FORMS; i++) {
        if ((chosen >> i & 1) != 0 && roll(making, 5) < 4)
            add_field(making, &forms[i], 0);
    }
    nest_resources(making);
    nest(making, RESOURCES, LINUX, "resources");
    nest(making, RDT, LINUX, "rdt");
    if (making->parts[LINUX].length == 0 && roll(making, 8) == 0)
        add(&making->parts[ADJUST], "%s\"linux\":{}", making->parts[ADJUST].length > 0 ? "," : "");
    nest(making, LINUX, ADJUST, "linux");
    add(out, "\"adjust\":{%s}", making->parts[ADJUST].at);
}

/* One update of c0, c1 or c2; the first is the one that is created or updated. */
static void update(struct making *making, struct text *out, uint64_t chosen, unsigned id)
{
    int ignore = roll(making, 2) == 0;
    begin(making);
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        if ((chosen >> i & 1) == 0 || !in_update(form) || roll(making, 5) == 0)
            continue;
        add_field(making, form, 0);
        if (ignore && (making->updated[id] >> form->field & 1) != 0)
            making->counts->ignored[form->field]++;
        making->updated[id] |= UINT64_C(1) << form->field;
    }
    nest_resources(making);
    comma(out);
    add(out, "{\"container_id\":\"c%u\",\"ignore_failure\":%s", id, ignore ? "true" : "false");
    if (roll(making, 12) != 0)
        add(out, ",\"linux\":{\"resources\":{%s}}", making->parts[RESOURCES].at);
    add(out, "}");
}

static void reply(struct making *making, struct scenario *scenario, size_t plugin, uint64_t chosen)
{
    struct text out = {.length = 0};
    const int create = scenario->event == NRI_EVENT_CREATE_CONTAINER;
    unsigned updates = create ? (roll(making, 4) == 0) : 1 + roll(making, 3);
    add(&out, "{");
    if (create && roll(making, 12) != 0)
        adjustment(making, &out, chosen);
    if (updates > 0) {
        comma(&out);
        add(&out, "\"update\":[");
        while (updates-- > 0) {
            unsigned first = create && roll(making, 40) != 0;
            update(making, &out, chosen, first + roll(making, 3 - first));
        }
        add(&out, "]");
    }
    if (scenario->event != NRI_EVENT_STOP_CONTAINER && roll(making, 20) == 0) {
        comma(&out);
        add(&out, "\"evict\":[{\"container_id\":\"c2\",\"reason\":\"r\"}]");
    }
    add(&out, "}");
    memcpy(scenario->replies[plugin], out.at, out.length + 1);
}

void scenario_make(struct scenario *scenario, size_t index, struct scenario_counts *counts)
{
    struct making *making = calloc(1, sizeof *making);
    if (making == NULL)
        abort(); /* a test's own memory */
    making->random = (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    making->counts = counts;
    (void)roll(making, 2);
    unsigned kind = roll(making, 10);
    scenario->event = kind < 6   ? NRI_EVENT_CREATE_CONTAINER
                      : kind < 9 ? NRI_EVENT_UPDATE_CONTAINER
                                 : NRI_EVENT_STOP_CONTAINER;
    if (scenario->event == NRI_EVENT_CREATE_CONTAINER)
        snprintf(scenario->request, sizeof scenario->request, "{\"container\":{%s}}",
                 container(making));
    else if (scenario->event == NRI_EVENT_UPDATE_CONTAINER && roll(making, 8) != 0)
        snprintf(scenario->request, sizeof scenario->request,
                 "{\"container\":{\"id\":\"c0\"},\"linux_resources\":{%s}}", resources(making));
    else
        snprintf(scenario->request, sizeof scenario->request, "{\"container\":{\"id\":\"c0\"}}");
    uint64_t chosen = choose(making, scenario->event != NRI_EVENT_CREATE_CONTAINER);
    for (size_t i = 0; i < SCENARIO_PLUGINS; i++)
        reply(making, scenario, i, chosen);
    free(making);
}

int scenario_can_remove(int field)
{
    for (size_t i = 0; i < FORMS; i++) {
        if (forms[i].field == field)
            return forms[i].removal != NULL;
    }
    return 0;
}

int scenario_can_update(int field)
{
    for (size_t i = 0; i < FORMS; i++) {
        if (forms[i].field == field)
            return in_update(&forms[i]);
    }
    return 0;
}
