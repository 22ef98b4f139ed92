/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes of containers, and the checkpoint that keeps them.
 *
 * The happy path: the checkpoint is read -> each note waits -> its container comes and takes it ->
 * notes are set, and go with their containers -> what changed is written after the handler. Failure
 * modes: the checkpoint is damaged, too large or of a later version (set aside, said, begun anew);
 * it cannot even be set aside (no state: it would be overwritten); it cannot be written (said once,
 * tried again after each handler); a container never comes (its note goes with the first whole
 * Synchronize, or with its removal).
 */
#include <string.h>

#include "base/text.h"
#include "plugin/state.h"
#include "plugin/state_checkpoint.h"

/* Of the memory for a checkpoint that is kept for the next one. */
#define KEPT_BYTES ((size_t)64 * 1024)

/* A note whose container is not known yet. */
struct waiting {
    char *note; /* of its own memory, which the container takes over */
    char id[];
};

void nri_state_note_init(nri_state *state)
{
    nri_map_init(&state->waiting, &state->config.alloc, state->seed);
    nri_buf_init(&state->content, &state->config.alloc, state->config.max_checkpoint_bytes);
}

static void release_waiting(nri_state *state, struct waiting *waiting)
{
    nri_alloc_release(&state->config.alloc, waiting->note);
    nri_alloc_release(&state->config.alloc, waiting);
}

static void expire(void *user, const void *id, size_t length, void *waiting)
{
    nri_state *state = user;
    (void)nri_map_remove(&state->waiting, id, length);
    release_waiting(state, waiting);
    state->changed = true;
}

void nri_state_note_expire_all(nri_state *state)
{
    nri_map_each(&state->waiting, expire, state);
}

void nri_state_note_expire(nri_state *state, const char *id, size_t length)
{
    struct waiting *waiting = nri_map_get(&state->waiting, id, length);
    if (waiting != NULL)
        expire(state, id, length, waiting);
}

void nri_state_note_fini(nri_state *state)
{
    nri_state_note_expire_all(state);
    nri_map_fini(&state->waiting);
    nri_buf_fini(&state->content);
}

int nri_state_note_wait(nri_state *state, const char *id, size_t id_length, const char *note,
                        size_t length)
{
    const struct nri_alloc *alloc = &state->config.alloc;
    struct waiting *waiting = nri_alloc_raw(alloc, sizeof *waiting + id_length);
    if (waiting == NULL)
        return NRI_E_NOMEM;
    memcpy(waiting->id, id, id_length);
    waiting->note = nri_alloc_text(alloc, note, length);
    if (waiting->note == NULL ||
        nri_map_set(&state->waiting, waiting->id, id_length, waiting, NULL) != 0) {
        release_waiting(state, waiting);
        return NRI_E_NOMEM;
    }
    return 0;
}

void nri_state_note_claim(nri_state_container *container)
{
    nri_state *state = container->state;
    struct waiting *waiting =
        nri_map_remove(&state->waiting, container->node.id, container->node.id_length);
    if (waiting == NULL)
        return;
    container->note = waiting->note;
    waiting->note = NULL;
    release_waiting(state, waiting);
}

void nri_state_note_drop(nri_state_container *container)
{
    if (container->note == NULL)
        return;
    nri_alloc_release(&container->state->config.alloc, container->note);
    container->note = NULL;
    container->state->changed = true;
}

const char *nri_state_container_note(const nri_state_container *container)
{
    return container != NULL && container->note != NULL ? container->note : "";
}

int nri_state_container_set_note(nri_state_container *container, const char *note)
{
    if (container == NULL)
        return NRI_E_INVALID;
    nri_state *state = container->state;
    const size_t length = note != NULL ? strlen(note) : 0;
    if (length > state->config.max_note_bytes)
        return NRI_E_LIMIT;
    if (!nri_utf8_valid(note != NULL ? note : "", length, NULL))
        return NRI_E_UTF8;
    if (strcmp(nri_state_container_note(container), note != NULL ? note : "") == 0)
        return 0;
    char *copy = NULL;
    if (length != 0) {
        copy = nri_alloc_text(&state->config.alloc, note, length);
        if (copy == NULL)
            return NRI_E_NOMEM;
    }
    nri_alloc_release(&state->config.alloc, container->note);
    container->note = copy;
    state->changed = true;
    return 0;
}

/* ---- the checkpoint ---- */

static bool has_store(const nri_state *state)
{
    return state->config.store.save != NULL;
}

static void write_waiting(void *checkpoint, const void *id, size_t length, void *waiting)
{
    const char *note = ((const struct waiting *)waiting)->note;
    nri_state_checkpoint_note(checkpoint, id, length, note, strlen(note));
}

static int make_content(nri_state *state, struct nri_error *error)
{
    struct nri_state_checkpoint checkpoint;
    nri_state_checkpoint_begin(&checkpoint, &state->content);
    for (const struct nri_state_node *node = state->containers.live.first; node != NULL;
         node = node->next) {
        const char *note =
            nri_state_container_note((const nri_state_container *)(const void *)node);
        if (note[0] != '\0')
            nri_state_checkpoint_note(&checkpoint, node->id, node->id_length, note, strlen(note));
    }
    nri_map_each(&state->waiting, write_waiting, &checkpoint);
    const int code = nri_state_checkpoint_end(&checkpoint);
    if (code == NRI_E_LIMIT)
        return nri_error_set(error, code,
                             "the checkpoint %s would be larger than %zu bytes "
                             "(max_checkpoint_bytes)",
                             state->config.store.name, state->config.max_checkpoint_bytes);
    if (code != 0)
        return nri_error_set(error, code, "the checkpoint %s: %s", state->config.store.name,
                             nri_strerror(code));
    return 0;
}

/* A full disk must not fill the log too: what was said is not said again, even if it alternates
 * with something else, or has another text (a full disk fails at one step or another). */
static void report(nri_state *state, const struct nri_error *error)
{
    const uint32_t bit = UINT32_C(1) << (-error->code % 32);
    if (error->code == 0 && state->trouble.code != 0)
        nri_state_log(state, NRI_LOG_INFO, "the checkpoint %s is written again",
                      state->config.store.name);
    if (error->code == 0)
        state->told = 0;
    else if ((state->told & bit) == 0)
        nri_state_log(state, NRI_LOG_ERROR,
                      "%s; notes are not safe from a crash until it can be written", error->text);
    if (error->code != 0)
        state->told |= bit;
    nri_error_copy(&state->trouble, error);
}

int nri_state_save(nri_state *state, nri_error **error)
{
    struct nri_error why;
    nri_error_clear(&why);
    if (state == NULL)
        return NRI_E_INVALID;
    if (!state->changed || !has_store(state))
        return 0;
    const struct nri_state_store *store = &state->config.store;
    struct nri_buf *content = &state->content;
    int code = make_content(state, &why);
    if (code == 0)
        code = store->save(store->context, content->data + content->start, nri_buf_size(content),
                           &why);
    nri_buf_reset(content, KEPT_BYTES);
    if (code == 0)
        state->changed = false;
    report(state, &why);
    if (code != 0)
        nri_error_export(&why, &state->config.alloc, error);
    return code;
}

const char *nri_state_checkpoint_error(const nri_state *state)
{
    return state != NULL && state->trouble.code != 0 ? state->trouble.text : "";
}

static int keep(void *state, const char *id, size_t id_length, const char *note, size_t length)
{
    return nri_state_note_wait(state, id, id_length, note, length);
}

/* Moves away what cannot be read, so that it is not overwritten, and says so. */
static int set_aside(nri_state *state, struct nri_error *why, struct nri_error *error)
{
    const struct nri_state_store *store = &state->config.store;
    const bool newer = why->code == NRI_E_UNSUPPORTED;
    const char *suffix = newer ? ".newer" : ".damaged";
    const char *what = newer ? "is of a later version" : "is damaged";
    const int code = store->set_aside(store->context, suffix, error);
    if (code != 0) {
        (void)nri_error_prefix(error, "the checkpoint %s %s (%s) and cannot be set aside",
                               store->name, what, why->text);
        return code;
    }
    (void)nri_error_set(&state->trouble, why->code,
                        "the checkpoint %s %s: %s; it was renamed to %s%s, and there are no notes",
                        store->name, what, why->text, store->name, suffix);
    nri_state_log(state, NRI_LOG_WARN, "%s", state->trouble.text);
    return 0;
}

int nri_state_load(nri_state *state, struct nri_error *error)
{
    const struct nri_state_store *store = &state->config.store;
    struct nri_buf *content = &state->content;
    struct nri_error why;
    bool found = false;
    if (!has_store(state))
        return 0;
    nri_error_clear(&why);
    int code = store->load(store->context, content, &found, &why);
    if (code == 0 && found)
        code = nri_state_checkpoint_read(content->data + content->start, nri_buf_size(content),
                                         &state->config.alloc, state->seed, keep, state, &why);
    nri_buf_reset(content, KEPT_BYTES);
    if (code == NRI_E_SYNTAX || code == NRI_E_UNSUPPORTED || code == NRI_E_LIMIT)
        return set_aside(state, &why, error);
    if (code == NRI_E_NOMEM)
        return nri_error_set(error, code, "no memory for the checkpoint %s", store->name);
    nri_error_copy(error, &why);
    return code;
}
