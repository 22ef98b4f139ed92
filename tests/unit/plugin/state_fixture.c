/* SPDX-License-Identifier: Apache-2.0 */
#include "state_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define INIT(type)    nri__pkg__api__v1alpha1__##type##__init

#define MOST          64 /* objects of a Synchronize of words */

/* ---- what is told ---- */

static void note_down(struct state_fixture *f, const char *sign, const char *id, const char *behind)
{
    const size_t used = strlen(f->journal);
    if (f->quiet)
        return;
    assert_true(used + 128 < JOURNAL_ROOM);
    (void)snprintf(f->journal + used, JOURNAL_ROOM - used, "%s%s%s ", sign, id, behind);
}

static void tell(struct state_fixture *f, const char *sign, const char *id,
                 enum nri_state_cause cause)
{
    static const char *const causes[] = {":event", ":sync", ":pod", ":freed"};
    note_down(f, sign, id, causes[cause]);
}

static void pod_added(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause, void *user)
{
    assert_ptr_equal(nri_state_find_pod(state, nri_pod_id(nri_state_pod_get(pod))), pod);
    tell(user, "+", nri_pod_id(nri_state_pod_get(pod)), cause);
}

static void pod_changed(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause,
                        void *user)
{
    assert_ptr_equal(nri_state_find_pod(state, nri_pod_id(nri_state_pod_get(pod))), pod);
    tell(user, "~", nri_pod_id(nri_state_pod_get(pod)), cause);
}

static void pod_removed(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause,
                        void *user)
{
    assert_null(nri_state_find_pod(state, nri_pod_id(nri_state_pod_get(pod))));
    tell(user, "-", nri_pod_id(nri_state_pod_get(pod)), cause);
}

static void container_added(nri_state *state, nri_state_container *container,
                            enum nri_state_cause cause, void *user)
{
    const char *id = nri_container_id(nri_state_container_get(container));
    assert_ptr_equal(nri_state_find_container(state, id), container);
    tell(user, "+", id, cause);
}

static void container_changed(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user)
{
    const char *id = nri_container_id(nri_state_container_get(container));
    assert_ptr_equal(nri_state_find_container(state, id), container);
    tell(user, "~", id, cause);
}

static void container_removed(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user)
{
    const char *id = nri_container_id(nri_state_container_get(container));
    assert_null(nri_state_find_container(state, id));
    tell(user, "-", id, cause);
}

static void synchronized(nri_state *state, void *user)
{
    assert_true(nri_state_is_synchronized(state));
    note_down(user, "=", "", "");
}

static void take_log(void *user, const nri_log_record *record)
{
    struct state_fixture *f = user;
    (void)snprintf(f->log, sizeof f->log, "%s", nri_log_record_text(record));
    f->logged++;
}

/* ---- the host and the store ---- */

static uint64_t host_now(void *context)
{
    (void)context;
    return NRI_SEC;
}

static int host_random(void *context, void *bytes, size_t count)
{
    (void)context;
    memset(bytes, 0x5a, count);
    return 0;
}

static const struct nri_host host = {.now = host_now, .random = host_random};

static int store_load(void *context, struct nri_buf *content, bool *found, struct nri_error *error)
{
    struct memory_store *store = context;
    store->loads++;
    *found = store->exists;
    if (store->load_code != 0)
        return nri_error_set(error, store->load_code, "load failed");
    return store->exists ? nri_buf_append(content, store->bytes, store->count) : 0;
}

static int store_save(void *context, const uint8_t *bytes, size_t count, struct nri_error *error)
{
    struct memory_store *store = context;
    store->saves++;
    if (store->save_code != 0)
        return nri_error_set(error, store->save_code, "save failed");
    assert_true(count <= STORE_ROOM);
    memcpy(store->bytes, bytes, count);
    store->count = count;
    store->exists = true;
    return 0;
}

static int store_set_aside(void *context, const char *suffix, struct nri_error *error)
{
    struct memory_store *store = context;
    if (store->aside_code != 0)
        return nri_error_set(error, store->aside_code, "rename failed");
    (void)snprintf(store->aside, sizeof store->aside, "%s", suffix);
    store->exists = false;
    return 0;
}

static void store_release(void *context)
{
    ((struct memory_store *)context)->releases++;
}

void state_fixture_use_store(struct state_fixture *f)
{
    f->config.store = (struct nri_state_store){
        .context = &f->store,
        .name = "/memory",
        .load = store_load,
        .save = store_save,
        .set_aside = store_set_aside,
        .release = store_release,
    };
}

/* ---- life ---- */

void state_fixture_init(struct state_fixture *f)
{
    memset(f, 0, sizeof *f);
    fail_alloc_init(&f->memory, NULL);
    assert_int_equal(nri_lock_init(&f->shared.lock), 0);
    struct nri_alloc plain;
    assert_int_equal(nri_alloc_resolve(&plain, NULL), 0);
    nri_arena_init(&f->arena, &plain, 0, SIZE_MAX);
    f->config = (struct nri_state_config){
        .ops =
            {
                .pod_added = pod_added,
                .pod_changed = pod_changed,
                .pod_removed = pod_removed,
                .container_added = container_added,
                .container_changed = container_changed,
                .container_removed = container_removed,
                .synchronized = synchronized,
            },
        .user = f,
        .alloc = fail_alloc_resolved(&f->memory),
        .host = &host,
        .log = take_log,
        .log_user = f,
        .max_note_bytes = 4096,
        .max_checkpoint_bytes = STORE_ROOM,
    };
}

int state_fixture_open(struct state_fixture *f, struct nri_error *error)
{
    return nri_state_make(&f->state, &f->config, error);
}

void state_fixture_close(struct state_fixture *f)
{
    f->state = nri_state_free(f->state);
}

void state_fixture_fini(struct state_fixture *f)
{
    state_fixture_close(f);
    nri_arena_fini(&f->arena);
    nri_lock_fini(&f->shared.lock);
    assert_int_equal(f->memory.live_blocks, 0);
}

int state_fixture_setup(void **state)
{
    struct state_fixture *f = malloc(sizeof *f);
    if (f == NULL)
        return 1;
    state_fixture_init(f);
    assert_int_equal(state_fixture_open(f, NULL), 0);
    *state = f;
    return 0;
}

int state_fixture_teardown(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_fini(f);
    free(f);
    return 0;
}

/* ---- requests ---- */

static char *text_of(struct state_fixture *f, const char *text, size_t length)
{
    char *copy = nri_arena_text(&f->arena, text, length);
    assert_non_null(copy);
    return copy;
}

static char *name_of(struct state_fixture *f, unsigned version)
{
    char name[32];
    (void)snprintf(name, sizeof name, "name-%u", version);
    return text_of(f, name, strlen(name));
}

static MESSAGE(PodSandbox) *
    make_pod(struct state_fixture *f, const char *id, size_t length, unsigned version)
{
    MESSAGE(PodSandbox) *pod = nri_arena_zero(&f->arena, sizeof *pod);
    assert_non_null(pod);
    nri__pkg__api__v1alpha1__pod_sandbox__init(pod);
    pod->id = text_of(f, id, length);
    pod->name = name_of(f, version);
    return pod;
}

static MESSAGE(Container) * make_container(struct state_fixture *f, const char *id, size_t length,
                                           const char *pod, unsigned version)
{
    MESSAGE(Container) *container = nri_arena_zero(&f->arena, sizeof *container);
    assert_non_null(container);
    nri__pkg__api__v1alpha1__container__init(container);
    container->id = text_of(f, id, length);
    if (pod != NULL)
        container->pod_sandbox_id = text_of(f, pod, strlen(pod));
    container->name = name_of(f, version);
    return container;
}

static int run(struct state_fixture *f, nri_request *request)
{
    const struct nri_state_hooks *hooks = nri_state_hooks_of(f->state);
    const int code = hooks->before(f->state, request);
    assert_int_equal(request->failure, code);
    (void)snprintf(f->failure, sizeof f->failure, "%s",
                   request->failure_text != NULL ? request->failure_text : "");
    if (code == 0 && f->handler != NULL)
        (void)f->handler(f, request);
    hooks->after(f->state, request);
    return code;
}

static nri_request make_request(struct state_fixture *f, enum nri_event event)
{
    return (nri_request){
        .event = event,
        .shared = &f->shared,
        .arena = &f->arena,
        .state = NRI_REQUEST_HANDED,
        .pod = nri_pod_view(NULL),
        .container = nri_container_view(NULL),
    };
}

int state_fixture_event(struct state_fixture *f, enum nri_event event, const char *pod,
                        const char *container, unsigned version)
{
    nri_arena_reset(&f->arena);
    nri_request request = make_request(f, event);
    if (pod != NULL)
        request.pod = nri_pod_view(make_pod(f, pod, strlen(pod), version));
    if (container != NULL)
        request.container =
            nri_container_view(make_container(f, container, strlen(container), pod, version));
    return run(f, &request);
}

int state_fixture_sync(struct state_fixture *f, const char *pods, const char *containers,
                       unsigned version, bool more)
{
    nri_arena_reset(&f->arena);
    MESSAGE(PodSandbox) * pod_list[MOST];
    MESSAGE(Container) * container_list[MOST];
    MESSAGE(SynchronizeRequest) message;
    nri__pkg__api__v1alpha1__synchronize_request__init(&message);
    message.pods = pod_list;
    message.containers = container_list;
    char *words = text_of(f, pods, strlen(pods)), *rest = NULL;
    for (char *w = strtok_r(words, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest))
        pod_list[message.n_pods++] = make_pod(f, w, strlen(w), version);
    words = text_of(f, containers, strlen(containers));
    for (char *w = strtok_r(words, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
        char *slash = strchr(w, '/');
        const size_t length = slash != NULL ? (size_t)(slash - w) : strlen(w);
        container_list[message.n_containers++] =
            make_container(f, w, length, slash != NULL ? slash + 1 : NULL, version);
    }
    struct nri_sync_part part = {.message = &message};
    nri_request request =
        make_request(f, more ? NRI_EVENT_SYNCHRONIZE_PART : NRI_EVENT_SYNCHRONIZE);
    request.parts = &part;
    request.pods = message.n_pods;
    request.containers = message.n_containers;
    request.more = more;
    return run(f, &request);
}

void state_fixture_connected(struct state_fixture *f)
{
    nri_state_hooks_of(f->state)->connected(f->state);
}
