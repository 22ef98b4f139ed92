/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NRI is inside a runtime, for runtimes before NRI 0.12, which do not say. Each row is the
 * first release with that NRI; it holds until the next row.
 */
#include <string.h>

#include "model/model.h"

struct row {
    unsigned release[3];
    const char *nri;
};

/* A commit between NRI 0.3.0 and 0.4.0, and one behind 0.9.0, that CRI-O carried. */
#define AFTER_0_3 "0.3.1-0.20230504231226-94185418e253"
#define AFTER_0_9 "0.9.1-0.20250219030224-e597e7849f24"

static const struct row containerd[] = {
    {{1, 7, 0}, "0.3.0"},  {{1, 7, 7}, "0.4.0"},  {{1, 7, 14}, "0.6.0"}, {{1, 7, 16}, "0.6.1"},
    {{1, 7, 26}, "0.8.0"}, {{2, 0, 0}, "0.8.0"},  {{2, 1, 0}, "0.8.0"},  {{2, 2, 0}, "0.10.0"},
    {{2, 2, 1}, "0.11.0"}, {{2, 3, 0}, "0.12.0"}, {{2, 4, 0}, "0.12.1"},
};

static const struct row crio[] = {
    {{1, 26, 0}, "0.2.0"},  {{1, 26, 2}, "0.3.0"},   {{1, 26, 4}, AFTER_0_3},
    {{1, 27, 0}, "0.3.0"},  {{1, 27, 1}, AFTER_0_3}, {{1, 28, 0}, AFTER_0_3},
    {{1, 29, 0}, "0.5.0"},  {{1, 29, 2}, "0.6.0"},   {{1, 30, 0}, "0.6.0"},
    {{1, 31, 0}, "0.6.1"},  {{1, 32, 0}, "0.9.0"},   {{1, 33, 0}, AFTER_0_9},
    {{1, 34, 0}, "0.10.0"}, {{1, 35, 0}, "0.11.0"},  {{1, 36, 0}, "0.11.0"},
    {{1, 37, 0}, "0.12.0"},
};

static const struct row docker[] = {
    {{29, 2, 0}, "0.11.0"},
    {{29, 5, 0}, "0.12.0"},
    {{29, 7, 0}, "0.12.1"},
};

#define ROWS(name, table)                                                                          \
    {                                                                                              \
        name, table, sizeof(table) / sizeof((table)[0])                                            \
    }

static const struct runtime {
    const char *name;
    const struct row *rows;
    size_t count;
} runtimes[] = {
    ROWS("containerd", containerd),
    ROWS("v2", containerd),
    ROWS("cri-o", crio),
    ROWS("docker", docker),
};

static bool is_at_least(const unsigned release[3], const unsigned first[3])
{
    for (int i = 0; i < 3; i++) {
        if (release[i] != first[i])
            return release[i] > first[i];
    }
    return true;
}

static const char *find_row(const struct runtime *runtime, const unsigned release[3])
{
    const char *nri = NULL;
    for (size_t i = 0; i < runtime->count; i++) {
        if (is_at_least(release, runtime->rows[i].release))
            nri = runtime->rows[i].nri;
    }
    return nri;
}

const char *nri_version_infer(const char *runtime_name, const char *runtime_version)
{
    unsigned release[3];
    if (runtime_name == NULL || !nri_version_parse(runtime_version, release))
        return NULL;
    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
        if (strcmp(runtimes[i].name, runtime_name) == 0)
            return find_row(&runtimes[i], release);
    }
    return NULL;
}

/* A version that Go's build information could not tell is "0.0.0-unknown" or "(devel)". */
const char *nri_version_of(const char *told, const char *runtime_name, const char *runtime_version)
{
    unsigned number[3];
    if (nri_version_parse(told, number) && (number[0] | number[1] | number[2]) != 0)
        return told;
    return nri_version_infer(runtime_name, runtime_version);
}
