/* SPDX-License-Identifier: Apache-2.0 */
#include "topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "textfile.h"

/* What is read with. */
struct reading {
    struct topology *topology;
    const char *sysfs;
    char *text; /* TEXTFILE_BYTES */
    nri_cpuset *set;
    char *fault; /* TOPOLOGY_TEXT */
};

static int fail(const struct reading *reading, const char *file, const char *why)
{
    snprintf(reading->fault, TOPOLOGY_TEXT, "%s/devices/system/%s: %s", reading->sysfs, file, why);
    return -1;
}

static int no_memory(const struct reading *reading)
{
    snprintf(reading->fault, TOPOLOGY_TEXT, "out of memory");
    return -1;
}

/* Reads a list of numbers into the reading's set. 0, -1 with a text; 1: there is no such file. */
static int read_list(struct reading *reading, const char *file)
{
    const int code =
        textfile_read(reading->text, TEXTFILE_BYTES, "%s/devices/system/%s", reading->sysfs, file);
    if (code == -ENOENT)
        return 1;
    if (code != 0)
        return fail(reading, file, strerror(-code));
    nri_error *error = NULL;
    const int parsed = nri_cpuset_parse(reading->set, reading->text, &error);
    if (parsed != 0)
        fail(reading, file, error != NULL ? nri_error_get_text(error) : nri_strerror(parsed));
    nri_error_free(error);
    return parsed != 0 ? -1 : 0;
}

static int read_online(struct reading *reading)
{
    struct topology *topology = reading->topology;
    const int code = read_list(reading, "cpu/online");
    if (code != 0)
        return code > 0 ? fail(reading, "cpu/online", strerror(ENOENT)) : code;
    const size_t count = nri_cpuset_count(reading->set);
    if (count == 0)
        return fail(reading, "cpu/online", "no CPU is online");
    if (count > TOPOLOGY_MAX_CPUS)
        return fail(reading, "cpu/online", "more CPUs than 16384");
    topology->cpus = calloc(count, sizeof *topology->cpus);
    topology->nodes = calloc(count, sizeof *topology->nodes);
    if (topology->cpus == NULL || topology->nodes == NULL ||
        nri_cpuset_copy(topology->online, reading->set) != 0)
        return no_memory(reading);
    for (unsigned number = 0; nri_cpuset_next(reading->set, number, &number); number++) {
        topology->cpus[topology->count++] =
            (struct topology_cpu){.number = number, .core = number, .node = 0};
    }
    return 0;
}

/* Kernels from 5.4 on call it core_cpus_list, and keep the old name. */
static int read_core(struct reading *reading, struct topology_cpu *cpu)
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char file[64];
        snprintf(file, sizeof file, "cpu/cpu%u/topology/%s", cpu->number, names[i]);
        const int code = read_list(reading, file);
        if (code > 0)
            continue;
        if (code < 0)
            return code;
        if (!nri_cpuset_contains(reading->set, cpu->number))
            return fail(reading, file, "the CPU itself is not in the list");
        /* A sibling that is offline must not name the core: it may come and go. */
        nri_cpuset_intersect(reading->set, reading->topology->online);
        nri_cpuset_next(reading->set, 0, &cpu->core);
        return 0;
    }
    return 0;
}

static int read_node(struct reading *reading, unsigned node)
{
    char file[64];
    snprintf(file, sizeof file, "node/node%u/cpulist", node);
    const int code = read_list(reading, file);
    if (code != 0)
        return code > 0 ? fail(reading, file, strerror(ENOENT)) : code;
    for (size_t i = 0; i < reading->topology->count; i++) {
        if (nri_cpuset_contains(reading->set, reading->topology->cpus[i].number))
            reading->topology->cpus[i].node = node;
    }
    return 0;
}

static int read_nodes(struct reading *reading, nri_cpuset *nodes)
{
    int code = read_list(reading, "node/online");
    if (code != 0)
        return code < 0 ? code : 0;
    if (nri_cpuset_copy(nodes, reading->set) != 0)
        return no_memory(reading);
    for (unsigned node = 0; code == 0 && nri_cpuset_next(nodes, node, &node); node++)
        code = read_node(reading, node);
    return code;
}

/* Of the nodes that are told some have memory alone, and a CPU may be of none of them. */
static int list_nodes(struct reading *reading, nri_cpuset *nodes)
{
    struct topology *topology = reading->topology;
    if (topology_nodes(topology, topology->online, nodes) != 0)
        return no_memory(reading);
    for (unsigned node = 0; nri_cpuset_next(nodes, node, &node); node++)
        topology->nodes[topology->node_count++] = node;
    return 0;
}

int topology_read(struct topology *topology, const char *sysfs, char text[TOPOLOGY_TEXT])
{
    *topology = (struct topology){0};
    struct reading reading = {
        .topology = topology, .sysfs = sysfs, .text = malloc(TEXTFILE_BYTES), .fault = text};
    nri_cpuset *nodes = NULL;
    int code = 0;
    text[0] = '\0';
    if (reading.text == NULL || nri_cpuset_new(&reading.set, NULL) != 0 ||
        nri_cpuset_new(&nodes, NULL) != 0 || nri_cpuset_new(&topology->online, NULL) != 0)
        code = no_memory(&reading);
    if (code == 0)
        code = read_online(&reading);
    for (size_t i = 0; code == 0 && i < topology->count; i++)
        code = read_core(&reading, &topology->cpus[i]);
    if (code == 0)
        code = read_nodes(&reading, nodes);
    if (code == 0)
        code = list_nodes(&reading, nodes);
    nri_cpuset_free(nodes);
    nri_cpuset_free(reading.set);
    free(reading.text);
    return code;
}

int topology_read_online(nri_cpuset *online, const char *sysfs, char text[TOPOLOGY_TEXT])
{
    struct reading reading = {
        .sysfs = sysfs, .text = malloc(TEXTFILE_BYTES), .set = online, .fault = text};
    text[0] = '\0';
    if (reading.text == NULL)
        return no_memory(&reading);
    const int code = read_list(&reading, "cpu/online");
    free(reading.text);
    return code > 0 ? fail(&reading, "cpu/online", strerror(ENOENT)) : code;
}

void topology_free(struct topology *topology)
{
    nri_cpuset_free(topology->online);
    free(topology->cpus);
    free(topology->nodes);
    *topology = (struct topology){0};
}

const struct topology_cpu *topology_cpu(const struct topology *topology, unsigned number)
{
    size_t first = 0, end = topology->count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (topology->cpus[middle].number == number)
            return &topology->cpus[middle];
        if (topology->cpus[middle].number < number)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

int topology_nodes(const struct topology *topology, const nri_cpuset *cpus, nri_cpuset *nodes)
{
    nri_cpuset_clear(nodes);
    for (unsigned number = 0; nri_cpuset_next(cpus, number, &number); number++) {
        const struct topology_cpu *cpu = topology_cpu(topology, number);
        if (cpu != NULL && nri_cpuset_add(nodes, cpu->node) != 0)
            return -1;
    }
    return 0;
}
