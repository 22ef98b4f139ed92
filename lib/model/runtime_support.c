/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runtimes do with what their NRI brings them. NRI hands an adjustment over; the runtime's own
 * code puts it into the container's OCI spec, and there releases differ. Each row is a feature that
 * a runtime began to act on later than its NRI had it, or that it has not acted on yet.
 *
 * How sure a row is: the first releases of containerd and CRI-O stand on a single source, the
 * feature tables that come with NRI, unless another one is named. Of them tests/e2e checks ARGS and
 * CDI_DEVICES against the containerd that is there; no CRI-O and no Docker has been asked.
 */
#include <string.h>

#include "model/model.h"

#define MAJOR_NEVER 255

struct row {
    uint8_t feature;  /* fits: enum nri_feature ends at 44 */
    uint8_t since[3]; /* the runtime's first release that acts on it */
};

/* clang-format off */
#define SINCE(name, major, minor, patch) {NRI_FEATURE_##name, {major, minor, patch}}
#define NEVER(name)                      {NRI_FEATURE_##name, {MAJOR_NEVER, 0, 0}}
/* clang-format on */

/* The code that containerd and CRI-O share with NRI takes only the limit of what there is of
 * memory when a container is made, and never sees the removal of what no plugin set. Nobody acts
 * on evictions. All four stand on reading that code, as of NRI 0.12; tests/e2e notes what
 * becomes of REMOVE_ENV. */
#define OF_THE_GO_GENERATOR                                                                        \
    NEVER(MEMORY_OTHER), NEVER(EVICTIONS), NEVER(REMOVE_ENV), NEVER(REMOVE_DEVICE)

static const struct row containerd[] = {
    OF_THE_GO_GENERATOR,        SINCE(POD_IPS, 2, 1, 0),     SINCE(CDI_DEVICES, 2, 1, 0),
    SINCE(ARGS, 2, 2, 0),       SINCE(IO_PRIORITY, 2, 2, 0), SINCE(SECCOMP_POLICY, 2, 2, 0),
    SINCE(NAMESPACES, 2, 2, 0), SINCE(SYSCTL, 2, 2, 1),      SINCE(NET_DEVICES, 2, 2, 1),
    SINCE(SCHEDULER, 2, 2, 1),  SINCE(RDT, 2, 2, 1),
};

/* CONTAINER_PID stands on one plugin alone, which refuses older releases for want of it. */
static const struct row crio[] = {
    OF_THE_GO_GENERATOR,         SINCE(POD_IPS, 1, 32, 0),     SINCE(CDI_DEVICES, 1, 34, 0),
    SINCE(ARGS, 1, 34, 0),       SINCE(IO_PRIORITY, 1, 34, 0), SINCE(SECCOMP_POLICY, 1, 34, 0),
    SINCE(NAMESPACES, 1, 34, 0), SINCE(SYSCTL, 1, 35, 0),      SINCE(NET_DEVICES, 1, 35, 0),
    SINCE(SCHEDULER, 1, 35, 0),  SINCE(RDT, 1, 35, 0),         SINCE(CONTAINER_PID, 1, 36, 0),
};

/* Docker asks plugins only when it makes a container, so that they see none that runs or has ended;
 * it takes variables and mounts, and refuses the rest. All of it stands on reading its code of one
 * day, with NRI 0.12.2 inside: that other releases do the same is an assumption. */
static const struct row docker[] = {
    OF_THE_GO_GENERATOR,
    NEVER(RLIMITS),
    NEVER(CDI_DEVICES),
    NEVER(PIDS_LIMIT),
    NEVER(OOM_SCORE_ADJ),
    NEVER(POD_IPS),
    NEVER(UPDATE_POD),
    NEVER(ARGS),
    NEVER(IO_PRIORITY),
    NEVER(SECCOMP_POLICY),
    NEVER(NAMESPACES),
    NEVER(SYSCTL),
    NEVER(NET_DEVICES),
    NEVER(SCHEDULER),
    NEVER(RDT),
    NEVER(MEMORY_POLICY),
    NEVER(ANNOTATIONS),
    NEVER(HOOKS),
    NEVER(DEVICES),
    NEVER(DEVICE_RULES),
    NEVER(CPU),
    NEVER(MEMORY_LIMIT),
    NEVER(HUGEPAGE_LIMITS),
    NEVER(UNIFIED),
    NEVER(BLOCKIO_CLASS),
    NEVER(RDT_CLASS),
    NEVER(CGROUPS_PATH),
    NEVER(UPDATES),
    NEVER(UNSOLICITED_UPDATES),
    NEVER(POD_EVENTS),
    NEVER(EXIT_STATUS),
    NEVER(CONTAINER_PID),
};

#define EVENT(name) NRI_EVENT_BIT(NRI_EVENT_##name)

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

static const struct runtime {
    const char *name;
    const struct row *rows;
    size_t count;
    uint32_t no_events; /* that no release of it has */
    bool refuses;       /* what it does not act on, rather than to ignore it */
} runtimes[] = {
    {"containerd", ROWS(containerd), 0, false},
    {"v2", ROWS(containerd), 0, false},
    /* The event is missing in the code of one day, read once. */
    {"cri-o", ROWS(crio), EVENT(POST_UPDATE_POD_SANDBOX), false},
    {"docker", ROWS(docker),
     NRI_EVENTS_ALL & ~(EVENT(CREATE_CONTAINER) | EVENT(VALIDATE_CONTAINER_ADJUSTMENT)), true},
};

static const struct runtime *find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        if (strcmp(runtimes[i].name, name) == 0)
            return &runtimes[i];
    }
    return NULL;
}

/* A release that cannot be read counts as the newest. */
static bool is_before(const char *version, const uint8_t since[3])
{
    unsigned release[3];
    if (since[0] == MAJOR_NEVER)
        return true;
    if (!nri_version_parse(version, release))
        return false;
    for (int i = 0; i < 3; i++) {
        if (release[i] != since[i])
            return release[i] < since[i];
    }
    return false;
}

static bool lacks(const char *runtime_name, const char *runtime_version, enum nri_feature feature)
{
    const struct runtime *runtime = find(runtime_name);
    for (size_t i = 0; runtime != NULL && i < runtime->count; i++) {
        if (runtime->rows[i].feature == (unsigned)feature)
            return is_before(runtime_version, runtime->rows[i].since);
    }
    return false;
}

bool nri_feature_supported(const char *runtime_name, const char *runtime_version,
                           const char *nri_version, enum nri_feature feature)
{
    nri_version = nri_version_of(nri_version, runtime_name, runtime_version);
    return nri_version_supports(nri_version, feature) &&
           !lacks(runtime_name, runtime_version, feature);
}

bool nri_feature_refused(const char *runtime_name, const char *nri_version,
                         enum nri_feature feature)
{
    const struct runtime *runtime = find(runtime_name);
    if (runtime == NULL || !runtime->refuses || !nri_version_supports(nri_version, feature))
        return false;
    /* Removals end in the code that all runtimes share with NRI. */
    return feature != NRI_FEATURE_REMOVE_ENV && feature != NRI_FEATURE_REMOVE_DEVICE &&
           lacks(runtime_name, NULL, feature);
}

bool nri_event_supported(const char *runtime_name, const char *runtime_version,
                         const char *nri_version, int event)
{
    const struct runtime *runtime = find(runtime_name);
    if (event < NRI_EVENT_RUN_POD_SANDBOX || event > NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        return false;
    nri_version = nri_version_of(nri_version, runtime_name, runtime_version);
    if (nri_version == NULL)
        return false;
    uint32_t events = nri_version_events(nri_version);
    if (runtime != NULL)
        events &= ~runtime->no_events;
    return (events & NRI_EVENT_BIT(event)) != 0;
}
