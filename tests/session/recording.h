/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded session: what a Go plugin said to a real containerd, by stream, so that a plugin can
 * say the same again and be compared.
 */
#ifndef NRI_TESTS_RECORDING_H
#define NRI_TESTS_RECORDING_H

#include "capture.h"
#include "fake_runtime.h"
#include "go_reader.h"

#define RECORDING_ROOM 64

/* One message, taken apart. */
struct recorded {
    uint32_t id, stream;
    uint8_t type;
    int32_t grpc;
    char text[256];
    char method[64];           /* of a response: of the request it answers */
    ProtobufCMessage *message; /* NULL with a status */
};

struct recording {
    struct nri_arena arena;
    size_t count;
    struct recorded messages[RECORDING_ROOM];
};

/* Reads the messages of a byte stream of the plugin's; the runtime's stream tells which methods its
 * responses answer. Both must be readable by a strict Go reader, but a message of the runtime's
 * that is too long for it, which ends the session there. */
void recording_init(struct recording *recording, const void *plugin, size_t plugin_size,
                    const void *runtime, size_t runtime_size);
void recording_fini(struct recording *recording);
/* NULL when there is none. */
const struct recorded *recording_find(const struct recording *recording, uint32_t id,
                                      uint32_t stream);
/* The request with this method; NULL when there is none. */
const struct recorded *recording_request(const struct recording *recording, const char *method);

#endif
