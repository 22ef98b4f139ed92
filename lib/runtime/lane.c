/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events may not overlap: those of one container, and an event of a pod sandbox alone with
 * all of that pod sandbox. A lane is what is under way of one of them, in the order of the calls.
 *
 * To see whether an event may start, and what may once one is done, takes as many steps however
 * many are under way elsewhere.
 */
#include <string.h>

#include "base/hash.h"
#include "runtime/internal.h"

#define FIRST_BUCKETS 64u
#define SPARE_LANES   32u

/* ---- the events of a lane ---- */

static void put(struct nri_rt_line *line, nri_outcome *event, enum nri_rt_line_of of)
{
    struct nri_rt_in_line *place = &event->in_line[of];

    place->next = NULL;
    place->previous = line->last;
    if (line->last != NULL)
        line->last->in_line[of].next = event;
    else
        line->first = event;
    line->last = event;
}

static void take(struct nri_rt_line *line, nri_outcome *event, enum nri_rt_line_of of)
{
    struct nri_rt_in_line *place = &event->in_line[of];

    if (place->previous != NULL)
        place->previous->in_line[of].next = place->next;
    else
        line->first = place->next;
    if (place->next != NULL)
        place->next->in_line[of].previous = place->previous;
    else
        line->last = place->previous;
    place->next = place->previous = NULL;
}

/* ---- the lanes ---- */

static uint64_t hash_of(const struct nri_rt *rt, const char *pod, const char *container)
{
    const uint64_t hash = nri_hash(rt->seed, pod, strlen(pod));

    if (container == NULL)
        return hash;
    const uint64_t seed[2] = {rt->seed[0], rt->seed[1] ^ hash};
    return nri_hash(seed, container, strlen(container));
}

static struct nri_rt_lane **bucket_of(struct nri_rt_lanes *lanes, uint64_t hash)
{
    return &lanes->buckets[hash & (lanes->bucket_count - 1)];
}

/* The names are those of any event in it. */
static bool is_lane_of(const struct nri_rt_lane *lane, const char *pod, const char *container)
{
    const bool whole = lane->all.first != NULL;
    const struct nri_rt_about *about = whole ? &lane->all.first->about : &lane->own.first->about;

    if (whole != (container == NULL) || strcmp(about->pod, pod) != 0)
        return false;
    return whole || strcmp(about->container, container) == 0;
}

static bool grow(struct nri_rt *rt)
{
    struct nri_rt_lanes *lanes = &rt->lanes;
    const size_t old_count = lanes->bucket_count;
    struct nri_rt_lane **old = lanes->buckets;

    if (lanes->count < old_count)
        return true;
    const size_t count = old_count == 0 ? FIRST_BUCKETS : 2 * old_count;
    struct nri_rt_lane **grown = nri_alloc_zero(&rt->alloc, count * sizeof(struct nri_rt_lane *));
    if (grown == NULL)
        return false;
    lanes->buckets = grown;
    lanes->bucket_count = count;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i] != NULL) {
            struct nri_rt_lane *lane = old[i], **bucket = bucket_of(lanes, lane->hash);
            old[i] = lane->next;
            lane->next = *bucket;
            *bucket = lane;
        }
    }
    nri_alloc_release(&rt->alloc, old);
    return true;
}

/* The lane of a container, or of a pod sandbox where `container` is NULL; one without events when
 * there was none, and NULL without memory. */
static struct nri_rt_lane *get(struct nri_rt *rt, const char *pod, const char *container)
{
    struct nri_rt_lanes *lanes = &rt->lanes;
    const uint64_t hash = hash_of(rt, pod, container);

    if (!grow(rt))
        return NULL;
    struct nri_rt_lane *lane = *bucket_of(lanes, hash);
    while (lane != NULL && (lane->hash != hash || !is_lane_of(lane, pod, container)))
        lane = lane->next;
    if (lane != NULL)
        return lane;
    lane = lanes->spare;
    if (lane != NULL) {
        lanes->spare = lane->next;
        lanes->spare_count--;
    } else {
        lane = nri_alloc_zero(&rt->alloc, sizeof *lane);
        if (lane == NULL)
            return NULL;
    }
    *lane = (struct nri_rt_lane){.hash = hash, .next = *bucket_of(lanes, hash)};
    *bucket_of(lanes, hash) = lane;
    lanes->count++;
    return lane;
}

static void drop_empty(struct nri_rt *rt, struct nri_rt_lane *lane)
{
    struct nri_rt_lanes *lanes = &rt->lanes;

    if (lane->all.first != NULL || lane->own.first != NULL)
        return;
    struct nri_rt_lane **at = bucket_of(lanes, lane->hash);
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    lanes->count--;
    if (lanes->spare_count >= SPARE_LANES) {
        nri_alloc_release(&rt->alloc, lane);
        return;
    }
    lane->next = lanes->spare;
    lanes->spare = lane;
    lanes->spare_count++;
}

void nri_rt_lanes_fini(struct nri_rt *rt)
{
    struct nri_rt_lanes *lanes = &rt->lanes;

    while (lanes->spare != NULL) {
        struct nri_rt_lane *lane = lanes->spare;
        lanes->spare = lane->next;
        nri_alloc_release(&rt->alloc, lane);
    }
    nri_alloc_release(&rt->alloc, lanes->buckets);
}

/* ---- events come and go ---- */

bool nri_rt_lane_enter(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;
    const struct nri_rt_about *about = &event->about;
    struct nri_rt_lane *pod = get(rt, about->pod, NULL), *own = pod;

    if (pod == NULL)
        return false;
    put(&pod->all, event, NRI_RT_LINE_ALL);
    if (about->container != NULL)
        own = get(rt, about->pod, about->container);
    if (own == NULL) {
        take(&pod->all, event, NRI_RT_LINE_ALL);
        drop_empty(rt, pod);
        return false;
    }
    put(&own->own, event, NRI_RT_LINE_OWN);
    event->pod_lane = pod;
    event->lane = own;
    return true;
}

bool nri_rt_lane_is_free(const nri_outcome *event)
{
    const nri_outcome *alone = event->pod_lane->own.first;

    if (event->lane == event->pod_lane)
        return event->pod_lane->all.first == event;
    return event->lane->own.first == event && (alone == NULL || alone->number > event->number);
}

static void wake(nri_outcome *event)
{
    if (event != NULL && event->stage == NRI_RT_WAITING && nri_rt_lane_is_free(event))
        nri_rt_event_todo(event);
}

void nri_rt_lane_leave(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;
    struct nri_rt_lane *pod = event->pod_lane, *own = event->lane;
    nri_outcome *after = event->in_line[NRI_RT_LINE_ALL].next;

    take(&pod->all, event, NRI_RT_LINE_ALL);
    take(&own->own, event, NRI_RT_LINE_OWN);
    event->pod_lane = event->lane = NULL;
    if (own != pod) {
        wake(own->own.first);
        if (pod->all.first != own->own.first)
            wake(pod->all.first);
        drop_empty(rt, own);
    } else {
        /* Up to the next one that all behind it wait for. */
        bool alone = false;
        for (; after != NULL && !alone; after = after->in_line[NRI_RT_LINE_ALL].next) {
            alone = after->lane == pod;
            wake(after);
        }
    }
    drop_empty(rt, pod);
}
