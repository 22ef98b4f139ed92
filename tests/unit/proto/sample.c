/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of each wire type that a future field can have. */
static void add_unknown(struct sample *s)
{
    static uint8_t varint[] = {0x96, 0x01};
    static uint8_t fixed64[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static uint8_t prefixed[] = {3, 'n', 'e', 'w'};
    static uint8_t fixed32[] = {1, 2, 3, 4};
    const ProtobufCMessageUnknownField fields[] = {
        {1000, PROTOBUF_C_WIRE_TYPE_VARINT, sizeof varint, varint},
        {1001, PROTOBUF_C_WIRE_TYPE_64BIT, sizeof fixed64, fixed64},
        {1002, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, sizeof prefixed, prefixed},
        {1003, PROTOBUF_C_WIRE_TYPE_32BIT, sizeof fixed32, fixed32},
    };
    ProtobufCMessage *const newer[] = {
        &s->container.base,
        &s->resources.base,
        &s->mount[0].base,
        &s->sync.base,
    };
    memcpy(s->unknown, fields, sizeof fields);
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        newer[i]->n_unknown_fields = sizeof fields / sizeof fields[0];
        newer[i]->unknown_fields = s->unknown;
    }
}

static void build_lists(struct sample *s)
{
    for (int i = 0; i < SAMPLE_ITEMS; i++) {
        snprintf(s->text[i], sizeof s->text[i], "item-%d", i);
        s->strings[i] = s->text[i];

        nri__pkg__api__v1alpha1__container__labels_entry__init(&s->label[i]);
        s->label[i].key = s->text[i];
        s->label[i].value = s->text[SAMPLE_ITEMS - 1 - i];
        s->labels[i] = &s->label[i];

        nri__pkg__api__v1alpha1__mount__init(&s->mount[i]);
        s->mount[i].destination = s->text[i];
        s->mount[i].n_options = 2;
        s->mount[i].options = s->strings;
        s->mounts[i] = &s->mount[i];
    }
}

static void build_linux(struct sample *s)
{
    nri__pkg__api__v1alpha1__linux_container__init(&s->linux);
    nri__pkg__api__v1alpha1__linux_resources__init(&s->resources);
    nri__pkg__api__v1alpha1__linux_memory__init(&s->memory);
    nri__pkg__api__v1alpha1__optional_int64__init(&s->limit);
    nri__pkg__api__v1alpha1__optional_uint64__init(&s->swappiness);
    s->linux.resources = &s->resources;
    s->linux.cgroups_path = s->text[1];
    s->resources.memory = &s->memory;
    s->memory.limit = &s->limit;
    s->memory.swappiness = &s->swappiness; /* present and zero */
    s->limit.value = -1;
}

static void build_container(struct sample *s)
{
    Nri__Pkg__Api__V1alpha1__Container *c = &s->container;
    nri__pkg__api__v1alpha1__container__init(c);
    nri__pkg__api__v1alpha1__image__init(&s->image);
    nri__pkg__api__v1alpha1__user__init(&s->user);
    s->image.name = s->text[2];
    s->gids[0] = 10;
    s->gids[1] = 0;
    s->gids[2] = UINT32_MAX;
    s->user.n_additional_gids = 3;
    s->user.additional_gids = s->gids;
    c->id = s->text[3];
    c->state = NRI__PKG__API__V1ALPHA1__CONTAINER_STATE__CONTAINER_RUNNING;
    c->n_labels = SAMPLE_ITEMS;
    c->labels = s->labels;
    c->n_args = SAMPLE_ITEMS;
    c->args = s->strings;
    c->n_mounts = SAMPLE_ITEMS;
    c->mounts = s->mounts;
    c->linux = &s->linux;
    c->pid = 4711;
    c->exit_code = -1;
    c->user = &s->user;
    c->image = &s->image;
}

void sample_build(struct sample *s, bool unknown)
{
    memset(s, 0, sizeof *s);
    build_lists(s);
    build_linux(s);
    build_container(s);
    nri__pkg__api__v1alpha1__pod_sandbox__init(&s->pod);
    s->pod.id = s->text[4];
    s->pod.n_ips = 2;
    s->pod.ips = s->strings;
    nri__pkg__api__v1alpha1__synchronize_request__init(&s->sync);
    s->pods[0] = s->pods[1] = &s->pod;
    s->containers[0] = s->containers[1] = &s->container;
    s->sync.n_pods = 2;
    s->sync.pods = s->pods;
    s->sync.n_containers = 2;
    s->sync.containers = s->containers;
    s->sync.more = true;
    if (unknown)
        add_unknown(s);
}

size_t sample_pack(const ProtobufCMessage *message, uint8_t *buffer)
{
    if (protobuf_c_message_get_packed_size(message) > SAMPLE_BYTES) {
        fprintf(stderr, "sample: larger than its buffer\n");
        exit(1);
    }
    return protobuf_c_message_pack(message, buffer);
}
