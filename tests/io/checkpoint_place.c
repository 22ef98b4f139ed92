/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "plugin/state.h"

static void take_log(void *user, const nri_log_record *record)
{
    struct checkpoint_place *place = user;
    (void)snprintf(place->log, sizeof place->log, "%s", nri_log_record_text(record));
    place->errors += nri_log_record_level(record) == NRI_LOG_ERROR;
    place->written_again += strstr(place->log, "is written again") != NULL;
}

int checkpoint_place_setup(void **state)
{
    struct checkpoint_place *place = calloc(1, sizeof *place);
    const char *base = getenv("TMPDIR");
    if (place == NULL)
        return -1;
    place->fds = fixture_count_fds();
    (void)snprintf(place->directory, sizeof place->directory, "%.40s/nri-checkpoint-XXXXXX",
                   base != NULL && strlen(base) <= 40 ? base : "/tmp");
    if (mkdtemp(place->directory) == NULL)
        return -1;
    (void)snprintf(place->path, sizeof place->path, "%s/notes", place->directory);
    state_place_init(&place->base);
    place->base.options.checkpoint_path = place->path;
    place->base.options.log = take_log;
    place->base.options.log_user = place;
    *state = place;
    return 0;
}

const char *checkpoint_beside(struct checkpoint_place *place, const char *suffix)
{
    (void)snprintf(place->other, sizeof place->other, "%s%s", place->path, suffix);
    return place->other;
}

int checkpoint_place_teardown(void **state)
{
    static const char *const suffixes[] = {"", ".tmp", ".damaged", ".newer"};
    struct checkpoint_place *place = *state;
    state_place_fini(&place->base);
    assert_int_equal(fixture_count_fds(), place->fds);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *path = checkpoint_beside(place, suffixes[i]);
        if (unlink(path) != 0)
            (void)rmdir(path);
    }
    assert_int_equal(rmdir(place->directory), 0); /* nothing else was left */
    free(place);
    return 0;
}

nri_state_container *checkpoint_add(nri_state *state, const char *id)
{
    nri_container *container;
    assert_int_equal(nri_container_new(&container, NULL), 0);
    assert_int_equal(nri_container_set_id(container, id), 0);
    assert_int_equal(
        nri_state_put_container(state, container, NULL, NRI_STATE_ADD, NRI_STATE_EVENT), 0);
    nri_container_free(container);
    return nri_state_find_container(state, id);
}

int checkpoint_note(struct checkpoint_place *place, const char *text)
{
    assert_int_equal(nri_state_container_set_note(checkpoint_add(place->base.state, "c1"), text),
                     0);
    place->base.error = nri_error_free(place->base.error);
    return nri_state_save(place->base.state, &place->base.error);
}

void checkpoint_crash(struct checkpoint_place *place)
{
    place->base.state->changed = false;
    place->base.state = nri_state_free(place->base.state);
}

void checkpoint_expect_note(struct checkpoint_place *place, const char *text)
{
    if (place->base.state != NULL)
        checkpoint_crash(place);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_string_equal(nri_state_container_note(checkpoint_add(place->base.state, "c1")), text);
}
