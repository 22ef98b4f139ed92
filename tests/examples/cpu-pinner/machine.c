/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void machine_make(struct topology *topology, unsigned nodes, unsigned cores, unsigned threads)
{
    const unsigned all = nodes * cores;
    *topology = (struct topology){.count = all * threads, .node_count = nodes};
    topology->cpus = calloc(topology->count, sizeof *topology->cpus);
    topology->nodes = calloc(nodes, sizeof *topology->nodes);
    assert_non_null(topology->cpus);
    assert_non_null(topology->nodes);
    assert_int_equal(nri_cpuset_new(&topology->online, NULL), 0);
    for (unsigned node = 0; node < nodes; node++)
        topology->nodes[node] = node;
    for (unsigned number = 0; number < topology->count; number++) {
        topology->cpus[number] = (struct topology_cpu){
            .number = number, .core = number % all, .node = number % all / cores};
        assert_int_equal(nri_cpuset_add(topology->online, number), 0);
    }
}

nri_cpuset *machine_set(const char *list)
{
    nri_cpuset *set = NULL;
    assert_int_equal(nri_cpuset_new(&set, NULL), 0);
    assert_int_equal(nri_cpuset_parse(set, list, NULL), 0);
    return set;
}

bool machine_is(const nri_cpuset *set, const char *list)
{
    char text[256];
    nri_cpuset_format(set, text, sizeof text);
    if (strcmp(text, list) == 0)
        return true;
    fprintf(stderr, "is \"%s\", should be \"%s\"\n", text, list);
    return false;
}
