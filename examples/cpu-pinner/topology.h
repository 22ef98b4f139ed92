/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's CPUs: which are online, which share a core, which NUMA node they are of. Read once
 * from sysfs, or from a tree that is laid out like it.
 */
#ifndef PINNER_TOPOLOGY_H
#define PINNER_TOPOLOGY_H

#include <nri/cpuset.h>
#include <stddef.h>

#define TOPOLOGY_DEFAULT_SYSFS "/sys"
/* CPUs: well above what Linux can be built for. */
#define TOPOLOGY_MAX_CPUS 16384
#define TOPOLOGY_TEXT     512

struct topology_cpu {
    unsigned number;
    unsigned core; /* the lowest number of the CPUs that share its core */
    unsigned node; /* its NUMA node; 0 where the machine has none */
};

struct topology {
    nri_cpuset *online;
    struct topology_cpu *cpus; /* those online, by number */
    size_t count;
    unsigned *nodes; /* the NUMA nodes that have a CPU, by number */
    size_t node_count;
};

/*
 * Reads SYSFS/devices/system/{cpu,node}. Cores and nodes may be missing there (each CPU is a core,
 * all are of node 0); the list of CPUs that are online may not. 0, or -1 with a text that names the
 * file. topology_free() is needed in any case.
 */
int topology_read(struct topology *topology, const char *sysfs, char text[TOPOLOGY_TEXT]);
/* Reads which CPUs are online now. 0, or -1 with a text. */
int topology_read_online(nri_cpuset *online, const char *sysfs, char text[TOPOLOGY_TEXT]);
void topology_free(struct topology *topology);

/* One CPU by its number; NULL when it is not online. */
const struct topology_cpu *topology_cpu(const struct topology *topology, unsigned number);
/* Sets `nodes` to the NUMA nodes of a set of CPUs. 0, or -1 without memory. */
int topology_nodes(const struct topology *topology, const nri_cpuset *cpus, nri_cpuset *nodes);

#endif
