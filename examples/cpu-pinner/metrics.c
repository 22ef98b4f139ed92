/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# TYPE nri_cpu_pinner_%s %s\n# HELP nri_cpu_pinner_%s %s\n", name, type, name,
            help);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", help);
    fprintf(out, "nri_cpu_pinner_%s_total %" PRIu64 "\n", name, value);
}

static void gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "gauge", help);
    fprintf(out, "nri_cpu_pinner_%s %" PRIu64 "\n", name, value);
}

static void put_cpus(FILE *out, const struct keeper *keeper)
{
    const struct pool *pool = keeper->ledger.pool;
    const struct {
        const char *name;
        const nri_cpuset *cpus;
    } sets[] = {{"reserved", pool_reserved(pool)},
                {"exclusive", pool_exclusive(pool)},
                {"shared", pool_shared(pool)}};
    head(out, "cpus", "gauge", "CPUs of each part of the machine.");
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        fprintf(out, "nri_cpu_pinner_cpus{set=\"%s\"} %zu\n", sets[i].name,
                nri_cpuset_count(sets[i].cpus));
    gauge(out, "cpus_available", "CPUs that containers could be given exclusively.",
          pool_available(pool));
    head(out, "node_cpus_available", "gauge",
         "Shared CPUs of each NUMA node that nobody is pinned to.");
    for (size_t i = 0; i < keeper->topology.node_count; i++)
        fprintf(out, "nri_cpu_pinner_node_cpus_available{node=\"%u\"} %zu\n",
                keeper->topology.nodes[i], pool_available_on(pool, keeper->topology.nodes[i]));
}

static void put_containers(FILE *out, const struct ledger *ledger)
{
    static const char *const names[KINDS] = {"shared", "exclusive", "kept"};
    size_t counts[KINDS] = {0}, denied = 0;
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (one->stage == STAGE_ENDED)
            continue;
        counts[one->kind]++;
        denied += one->denied;
    }
    head(out, "containers", "gauge", "Containers by the CPUs that they run on.");
    for (size_t i = 0; i < KINDS; i++)
        fprintf(out, "nri_cpu_pinner_containers{cpus=\"%s\"} %zu\n", names[i], counts[i]);
    gauge(out, "containers_unsatisfied",
          "Containers that share, since the exclusive CPUs that they ask for cannot be had.",
          denied);
}

static void put_counts(FILE *out, const struct counts *counts, const struct audits *audits)
{
    counter(out, "allocations", "Containers that were given exclusive CPUs.", counts->given);
    counter(out, "releases", "Containers that gave them back.", counts->returned);
    counter(out, "resizes", "Containers whose exclusive CPUs became more or fewer.",
            counts->resized);
    counter(out, "refusals", "Containers that were refused, since theirs could not be had.",
            counts->refused);
    counter(out, "adoptions", "Allocations that were found after a restart.", counts->adopted);
    counter(out, "conflicts", "CPUs that were found in two hands, or could not be kept.",
            counts->conflicts);
    counter(out, "expirations", "Containers that never came to be.", counts->expired);
    counter(out, "updates", "Containers whose CPUs the runtime was told anew.", counts->updates);
    counter(out, "update_failures", "Containers that it could not move.", counts->failures);
    counter(out, "audits", "Rounds of the audit.", audits->rounds);
    counter(out, "drifts", "Containers that the audit found on other CPUs.", counts->drifts);
    counter(out, "unreadable_cgroups", "Cgroups that the audit could not read.",
            audits->unreadable);
    gauge(out, "cpus_offline", "CPUs of the start that the last audit found offline.",
          audits->offline);
    gauge(out, "cpus_added", "CPUs that came online since, which are not used.", audits->added);
    gauge(out, "absent_cgroups", "Containers without a cgroup in the last round of the audit.",
          audits->absent);
}

char *metrics_text(struct keeper *keeper)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    pthread_mutex_lock(&keeper->lock);
    put_cpus(out, keeper);
    put_containers(out, &keeper->ledger);
    put_counts(out, &keeper->ledger.counts, &keeper->audits);
    pthread_mutex_unlock(&keeper->lock);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
