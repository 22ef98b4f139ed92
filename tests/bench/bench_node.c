/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers have what makes real ones large: variables, mounts, labels and annotations. The last
 * variable fills each up to its size. A part is closed when the next object would make its call
 * larger than ttRPC lets it be, by the encoded size.
 */
#include "bench_node.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/nri.pb-c.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define INIT(type)    NRI__PKG__API__V1ALPHA1__##type##__INIT

#define LARGEST       ((4u << 20) - 128u) /* of a part: its call has service and method too */
#define PAIRS         8
#define MOUNTS        16
#define VARIABLES     64
#define TEXT          160

struct texts {
    char id[65], pod[65], name[TEXT], keys[PAIRS][TEXT], values[PAIRS][TEXT];
    char sources[MOUNTS][TEXT], destinations[MOUNTS][TEXT], env[VARIABLES][TEXT];
    char filler[NODE_SIZE];
};

struct part {
    uint8_t *bytes;
    size_t size;
};

static void *room(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL)
        die("no memory");
    return memory;
}

static void name_pod(char id[65], unsigned pod)
{
    snprintf(id, 65, "%016x%048x", 0xabcdu + pod, 7u * pod + 1);
}

static void end_part(struct node *node, struct part *part, bool more)
{
    if (node->count == NODE_PARTS)
        die("more parts than expected");
    if (more) {
        part->bytes[part->size++] = 0x18;
        part->bytes[part->size++] = 1;
    }
    peer_frame(&node->parts[node->count], "Synchronize", part->bytes, part->size);
    node->bytes += node->parts[node->count++].size;
    part->size = 0;
}

/* An element of a repeated field with messages. */
static void put(struct node *node, struct part *part, uint8_t tag, const ProtobufCMessage *message)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    if (part->size + size + 8 > LARGEST)
        end_part(node, part, true);
    part->bytes[part->size++] = tag;
    size_t left = size;
    for (; left >= 0x80; left >>= 7)
        part->bytes[part->size++] = (uint8_t)(left | 0x80);
    part->bytes[part->size++] = (uint8_t)left;
    part->size += protobuf_c_message_pack(message, part->bytes + part->size);
}

static void put_pod(struct node *node, struct part *part, unsigned index)
{
    char id[65], name[TEXT], uid[TEXT], namespace[] = "production";
    MESSAGE(PodSandbox) pod = INIT(POD_SANDBOX);
    name_pod(id, index);
    snprintf(name, sizeof name, "workload-%u-7d9c5b8f4-x2k%u", index / 3, index);
    snprintf(uid, sizeof uid, "6f1e3c0a-4b7d-4c55-9a01-%012x", index);
    pod.id = id;
    pod.name = name;
    pod.uid = uid;
    pod.namespace_ = namespace;
    put(node, part, 0x0a, &pod.base);
}

static void set_pairs(MESSAGE(Container) * container, struct texts *t, unsigned pod, unsigned index)
{
    static MESSAGE(Container__LabelsEntry) labels[PAIRS], *label[PAIRS];
    static MESSAGE(Container__AnnotationsEntry) annotations[PAIRS], *annotation[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        snprintf(t->keys[i], TEXT, "io.kubernetes.example/attribute-%d", i);
        snprintf(t->values[i], TEXT, "value %d of container %u in pod %u", i, index, pod);
        labels[i] = (MESSAGE(Container__LabelsEntry))INIT(CONTAINER__LABELS_ENTRY);
        annotations[i] = (MESSAGE(Container__AnnotationsEntry))INIT(CONTAINER__ANNOTATIONS_ENTRY);
        labels[i].key = annotations[i].key = t->keys[i];
        labels[i].value = annotations[i].value = t->values[i];
        label[i] = &labels[i];
        annotation[i] = &annotations[i];
    }
    container->n_labels = container->n_annotations = PAIRS;
    container->labels = label;
    container->annotations = annotation;
}

static void set_mounts(MESSAGE(Container) * container, struct texts *t)
{
    static MESSAGE(Mount) mounts[MOUNTS], *mount[MOUNTS];
    static char bind[] = "bind", ro[] = "ro", rbind[] = "rbind", *options[] = {rbind, ro};
    for (int i = 0; i < MOUNTS; i++) {
        snprintf(t->sources[i], TEXT, "/var/lib/kubelet/pods/%.32s/volumes/%d", t->pod, i);
        snprintf(t->destinations[i], TEXT, "/srv/volume/%d", i);
        mounts[i] = (MESSAGE(Mount))INIT(MOUNT);
        mounts[i].source = t->sources[i];
        mounts[i].destination = t->destinations[i];
        mounts[i].type = bind;
        mounts[i].n_options = 2;
        mounts[i].options = options;
        mount[i] = &mounts[i];
    }
    container->n_mounts = MOUNTS;
    container->mounts = mount;
}

static void put_container(struct node *node, struct part *part, unsigned pod, unsigned index)
{
    static struct texts t;
    char *env[VARIABLES + 1];
    MESSAGE(Container) container = INIT(CONTAINER);
    name_pod(t.pod, pod);
    snprintf(t.id, sizeof t.id, "%016x%048x", 0x1234u + pod, NODE_CONTAINERS * pod + index);
    snprintf(t.name, sizeof t.name, "container-%u", index);
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(t.env[i], TEXT, "SERVICE_%d_PORT_8080_TCP_ADDR=10.%u.%u.%d", i, pod % 250, index,
                 i);
        env[i] = t.env[i];
    }
    env[VARIABLES] = t.filler;
    container.id = t.id;
    container.pod_sandbox_id = t.pod;
    container.name = t.name;
    container.state = NRI__PKG__API__V1ALPHA1__CONTAINER_STATE__CONTAINER_RUNNING;
    container.n_env = VARIABLES + 1;
    container.env = env;
    set_pairs(&container, &t, pod, index);
    set_mounts(&container, &t);
    /* With a filler of 128 bytes or more its length takes two bytes, as that of any up to 16 kB. */
    memset(t.filler, 'x', 128);
    t.filler[128] = '\0';
    const size_t size = protobuf_c_message_get_packed_size(&container.base);
    if (size > NODE_SIZE)
        die("a container larger than expected");
    memset(t.filler, 'x', 128 + NODE_SIZE - size);
    t.filler[128 + NODE_SIZE - size] = '\0';
    put(node, part, 0x12, &container.base);
}

void node_build(struct node *node)
{
    struct part part = {.bytes = room(LARGEST + 16)};
    memset(node, 0, sizeof *node);
    for (unsigned pod = 0; pod < NODE_PODS; pod++)
        put_pod(node, &part, pod);
    for (unsigned pod = 0; pod < NODE_PODS; pod++)
        for (unsigned i = 0; i < NODE_CONTAINERS; i++)
            put_container(node, &part, pod, i);
    end_part(node, &part, false);
    free(part.bytes);
}
