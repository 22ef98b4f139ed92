/* SPDX-License-Identifier: Apache-2.0 */
#include "story.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int on_event(nri_request *request, void *user)
{
    struct story *story = user;
    const enum nri_event event = nri_request_event(request);
    const int number = atomic_load(&story->seen);
    if (number < STORY_EVENTS)
        story->events[number] = event;
    atomic_store(&story->seen, number + 1);
    if (event == NRI_EVENT_DISCONNECTED) {
        const int end = atomic_load(&story->ends);
        if (end < STORY_EVENTS) {
            story->reasons[end] = nri_request_reason(request);
            story->nexts[end] = nri_request_next_attempt_ms(request);
        }
        (void)snprintf(story->reason_text, sizeof story->reason_text, "%s",
                       nri_request_reason_text(request));
    }
    const int rc = story->act != NULL ? story->act(request, story) : 0;
    /* Last: a script that waits for it may stop the plugin at once. */
    if (event == NRI_EVENT_DISCONNECTED)
        count_up(&story->ends);
    return rc;
}

static void on_log(void *user, const nri_log_record *record)
{
    struct story *story = user;
    const enum nri_log_level level = nri_log_record_level(record);
    story->records[level]++;
    if (strstr(nri_log_record_text(record), "next attempt in") != NULL)
        count_up(&story->waits);
    if (level < NRI_LOG_DEBUG)
        (void)snprintf(story->text, sizeof story->text, "%s", nri_log_record_text(record));
}

void story_init(struct story *story, struct fixture *fixture, bool (*script)(struct story *story))
{
    *story =
        (struct story){.fixture = fixture, .options = fixture_options(fixture), .script = script};
    story->options.reconnect = 1;
    story->options.reconnect_min_ms = STORY_LONG;
    story->options.reconnect_max_ms = STORY_LONG;
    story->options.log = on_log;
    story->options.log_user = story;
    story->options.log_level = NRI_LOG_DEBUG;
}

static void *play(void *context)
{
    struct story *story = context;
    story->good = story->script(story);
    nri_plugin_stop(story->plugin);
    return NULL;
}

int story_play(struct story *story, enum drive drive)
{
    struct nri_plugin_ops ops = witness_ops();
    nri_error *error = NULL;
    ops.on_configure = ops.on_synchronize = ops.on_create_container = on_event;
    ops.on_run_pod_sandbox = ops.on_shutdown = on_event;
    ops.on_connected = ops.on_disconnected = on_event;
    if (nri_plugin_new(&story->plugin, &ops, &story->options, story, &error) != 0)
        fail_msg("nri_plugin_new: %s", nri_error_get_text(error));
    if (story->script != NULL)
        assert_int_equal(pthread_create(&story->thread, NULL, play, story), 0);
    const int rc = drive_to_end(drive, story->plugin, &story->witness);
    if (story->script != NULL)
        (void)pthread_join(story->thread, NULL);
    nri_plugin_close(story->plugin, NULL, NULL);
    assert_int_equal(story_count(story, NRI_EVENT_CONNECTED),
                     story_count(story, NRI_EVENT_DISCONNECTED));
    return rc;
}

int story_count(const struct story *story, enum nri_event event)
{
    int count = 0;
    for (int i = 0; i < atomic_load(&story->seen) && i < STORY_EVENTS; i++)
        count += story->events[i] == event;
    return count;
}

void story_silence(struct story *story)
{
    if (story->fixture->listener >= 0)
        (void)close(story->fixture->listener);
    story->fixture->listener = -1;
}

void story_vanish(struct story *story)
{
    (void)unlink(story->fixture->path);
    story_silence(story);
}

bool story_listen(struct story *story)
{
    story_vanish(story);
    story->fixture->listener = fixture_listen(story->fixture->path, 16);
    return story->fixture->listener >= 0;
}

bool story_accept(struct story *story, struct peer *peer)
{
    struct pollfd wait = {.fd = story->fixture->listener, .events = POLLIN};
    if (poll(&wait, 1, PEER_PATIENCE * 1000) != 1)
        return false;
    const int fd = accept4(story->fixture->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        peer_init(peer, fd);
    return fd >= 0;
}

static void turned(nri_plugin *plugin, void *user)
{
    struct story *story = user;
    (void)plugin;
    count_up(&story->turns);
}

bool story_turn(struct story *story)
{
    /* The first may run in the turn that is on; the second comes in a later one. */
    for (int i = 0; i < 2; i++) {
        const int before = atomic_load(&story->turns);
        if (nri_plugin_post(story->plugin, turned, story) != 0 ||
            !count_reaches(&story->turns, before + 1))
            return false;
    }
    return true;
}

bool story_end(struct story *story, struct peer *peer)
{
    nri_plugin_stop(story->plugin);
    const bool good = peer_wait_end(peer);
    peer_close(peer);
    return good;
}

bool story_meet(struct story *story, struct peer *peer)
{
    return story_accept(story, peer) && peer_register(peer) && peer_synchronize(peer);
}
