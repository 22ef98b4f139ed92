/* SPDX-License-Identifier: Apache-2.0 */
/* Events one by one, on a machine of 8 CPUs of one thread each in one node, of which 0 is reserved.
 */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include "pinner.h"

struct fixture {
    struct topology topology;
    struct ledger ledger;
    struct rules rules;
    uint64_t now;
    char text[PINNER_TEXT];
    unsigned said;
};

/* Fixture functions of cmocka: *state is the fixture. The second one checks the ledger. */
int fixture_make(void **state);
int fixture_remove(void **state);

/* What the runtime tells of a container of that id, in the one pod; the caller changes the rest. */
struct told tell(const char *id, size_t wanted);
/* Creates a container, which must get these CPUs; NULL: must be refused. */
void creates_told(struct fixture *fixture, const struct told *told, const char *cpus);
void creates(struct fixture *fixture, const char *id, size_t wanted, const char *cpus);
/* The runtime tells that it is there, or starts; what pinner_confirm() returned. */
int confirms(struct fixture *fixture, const char *id, bool starting);
/* Both. */
void lives(struct fixture *fixture, const char *id, size_t wanted, const char *cpus);
void synchronizes(struct fixture *fixture, const struct told *told, size_t count);

/* What must be so now: the shared CPUs; a container's. */
void shares(const struct fixture *fixture, const char *cpus);
void has(const struct fixture *fixture, const char *id, enum kind kind, const char *cpus);
/* The containers that are to be told, as "id=cpus id=cpus", which are told with that. */
void tells(struct fixture *fixture, const char *wanted);

#endif
