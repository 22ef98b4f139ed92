/* SPDX-License-Identifier: Apache-2.0 */
/* What came with which version of NRI. */
#include "model/model.h"

struct feature {
    char name[20];
    uint8_t minor, patch; /* of NRI 0.x, the first that has it */
};

static const struct feature features[] = {
    [NRI_FEATURE_RLIMITS] = {"rlimits", 4, 0},
    [NRI_FEATURE_SPLIT_SYNC] = {"split-sync", 7, 0},
    [NRI_FEATURE_TIMEOUTS] = {"timeouts", 7, 0},
    [NRI_FEATURE_CDI_DEVICES] = {"cdi-devices", 7, 0},
    [NRI_FEATURE_PIDS_LIMIT] = {"pids-limit", 7, 0},
    [NRI_FEATURE_OOM_SCORE_ADJ] = {"oom-score-adj", 7, 0},
    [NRI_FEATURE_POD_IPS] = {"pod-ips", 8, 0},
    [NRI_FEATURE_UPDATE_POD] = {"update-pod", 10, 0},
    [NRI_FEATURE_VALIDATE] = {"validate", 10, 0},
    [NRI_FEATURE_ARGS] = {"args", 10, 0},
    [NRI_FEATURE_IO_PRIORITY] = {"io-priority", 10, 0},
    [NRI_FEATURE_SECCOMP_POLICY] = {"seccomp-policy", 10, 0},
    [NRI_FEATURE_NAMESPACES] = {"namespaces", 10, 0},
    [NRI_FEATURE_EXIT_STATUS] = {"exit-status", 10, 0},
    [NRI_FEATURE_USER] = {"user", 11, 0},
    [NRI_FEATURE_SYSCTL] = {"sysctl", 11, 0},
    [NRI_FEATURE_NET_DEVICES] = {"net-devices", 11, 0},
    [NRI_FEATURE_SCHEDULER] = {"scheduler", 11, 0},
    [NRI_FEATURE_RDT] = {"rdt", 11, 0},
    [NRI_FEATURE_NRI_VERSION] = {"nri-version", 12, 0},
    [NRI_FEATURE_EVENT_CALLS] = {"event-calls", 12, 0},
    [NRI_FEATURE_MEMORY_POLICY] = {"memory-policy", 12, 0},
    [NRI_FEATURE_IMAGE] = {"image", 12, 2},
    [NRI_FEATURE_ANNOTATIONS] = {"annotations", 2, 0},
    [NRI_FEATURE_MOUNTS] = {"mounts", 2, 0},
    [NRI_FEATURE_ENV] = {"env", 2, 0},
    [NRI_FEATURE_HOOKS] = {"hooks", 2, 0},
    [NRI_FEATURE_DEVICES] = {"devices", 2, 0},
    [NRI_FEATURE_DEVICE_RULES] = {"device-rules", 10, 0},
    [NRI_FEATURE_CPU] = {"cpu", 2, 0},
    [NRI_FEATURE_MEMORY_LIMIT] = {"memory-limit", 2, 0},
    [NRI_FEATURE_MEMORY_OTHER] = {"memory-other", 2, 0},
    [NRI_FEATURE_HUGEPAGE_LIMITS] = {"hugepage-limits", 2, 0},
    [NRI_FEATURE_UNIFIED] = {"unified", 2, 0},
    [NRI_FEATURE_BLOCKIO_CLASS] = {"blockio-class", 2, 0},
    [NRI_FEATURE_RDT_CLASS] = {"rdt-class", 2, 0},
    [NRI_FEATURE_CGROUPS_PATH] = {"cgroups-path", 2, 0},
    [NRI_FEATURE_UPDATES] = {"updates", 2, 0},
    [NRI_FEATURE_UNSOLICITED_UPDATES] = {"unsolicited-updates", 2, 0},
    [NRI_FEATURE_EVICTIONS] = {"evictions", 2, 0},
    [NRI_FEATURE_POD_EVENTS] = {"pod-events", 2, 0},
    [NRI_FEATURE_CONTAINER_PID] = {"container-pid", 2, 0},
    [NRI_FEATURE_REMOVE_ENV] = {"remove-env", 2, 0},
    [NRI_FEATURE_REMOVE_DEVICE] = {"remove-device", 2, 0},
};

#define FEATURE_COUNT ((int)(sizeof features / sizeof features[0]))

static const struct feature *find(enum nri_feature feature)
{
    int number = (int)feature; /* an enum may hold anything */
    bool known = number >= 0 && number < FEATURE_COUNT && features[number].name[0] != '\0';
    return known ? &features[number] : NULL;
}

const char *nri_feature_name(enum nri_feature feature)
{
    const struct feature *found = find(feature);
    return found != NULL ? found->name : "?";
}

bool nri_version_supports(const char *nri_version, enum nri_feature feature)
{
    unsigned has[3];
    const struct feature *wanted = find(feature);
    if (wanted == NULL || !nri_version_parse(nri_version, has))
        return false;
    if (has[0] != 0)
        return true;
    return has[1] > wanted->minor || (has[1] == wanted->minor && has[2] >= wanted->patch);
}
