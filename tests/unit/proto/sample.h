/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container and a Synchronize request with something in every kind of field, large enough that
 * unpacking either takes more than 200 allocations.
 */
#ifndef NRI_TEST_PROTO_SAMPLE_H
#define NRI_TEST_PROTO_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/nri.pb-c.h"

enum { SAMPLE_ITEMS = 36, SAMPLE_BYTES = 32768 };

struct sample {
    Nri__Pkg__Api__V1alpha1__Container container;
    Nri__Pkg__Api__V1alpha1__LinuxContainer linux;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources;
    Nri__Pkg__Api__V1alpha1__LinuxMemory memory;
    Nri__Pkg__Api__V1alpha1__OptionalInt64 limit;
    Nri__Pkg__Api__V1alpha1__OptionalUInt64 swappiness;
    Nri__Pkg__Api__V1alpha1__Image image;
    Nri__Pkg__Api__V1alpha1__User user;
    Nri__Pkg__Api__V1alpha1__PodSandbox pod;
    Nri__Pkg__Api__V1alpha1__SynchronizeRequest sync;

    Nri__Pkg__Api__V1alpha1__Container__LabelsEntry label[SAMPLE_ITEMS];
    Nri__Pkg__Api__V1alpha1__Container__LabelsEntry *labels[SAMPLE_ITEMS];
    Nri__Pkg__Api__V1alpha1__Mount mount[SAMPLE_ITEMS];
    Nri__Pkg__Api__V1alpha1__Mount *mounts[SAMPLE_ITEMS];
    Nri__Pkg__Api__V1alpha1__Container *containers[2];
    Nri__Pkg__Api__V1alpha1__PodSandbox *pods[2];
    char *strings[SAMPLE_ITEMS];
    char text[SAMPLE_ITEMS][24];
    uint32_t gids[3];
    ProtobufCMessageUnknownField unknown[4];
};

/* The sample points into itself. With unknown: four fields of a newer peer in four messages. */
void sample_build(struct sample *sample, bool unknown);

/* The packed bytes; buffer holds SAMPLE_BYTES. */
size_t sample_pack(const ProtobufCMessage *message, uint8_t *buffer);

#endif
