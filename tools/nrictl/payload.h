/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of a message as a JSON document, with what it is about.
 */
#ifndef NRICTL_PAYLOAD_H
#define NRICTL_PAYLOAD_H

#include "session.h"
#include "json/json.h"

struct payload {
    struct nri_arena arena;
    struct nri_json *json; /* NULL: not decoded, `why` says why; an object else */
    char why[NRI_ERROR_TEXT_SIZE];
    size_t unknown_fields; /* that NRI 0.12 has not, in all messages of it: not in `json` */
    const char *event;     /* of a StateChange: "START_CONTAINER"; else "" */
};

void payload_init(struct payload *payload);
void payload_fini(struct payload *payload);
/* Replaces what was there. NRI_E_NOMEM; 0, whatever the payload is. */
int payload_decode(struct payload *payload, const struct session_message *message);
/* Bytes of a message of that type, as payload_decode(). */
int payload_decode_bytes(struct payload *payload, const ProtobufCMessageDescriptor *type,
                         const uint8_t *bytes, size_t size);
/* Values of environment variables become PAYLOAD_HIDDEN, wherever there are some. 0, NRI_E_NOMEM.
 */
#define PAYLOAD_HIDDEN "***"
int payload_hide(struct payload *payload);
/* As the value that is due in a writer; null when it was not decoded. */
void payload_write(const struct payload *payload, struct nri_json_writer *writer);
/* The same with any document whose numbers are whole. */
void payload_write_value(const struct nri_json *value, struct nri_json_writer *writer);
/* Whether it is about a pod sandbox or container: by name, "namespace/name", or the beginning of an
 * id. */
bool payload_has_pod(const struct payload *payload, const char *wanted);
bool payload_has_container(const struct payload *payload, const char *wanted);
/* What a line tells of it: "default/web nginx", "10-logger"; cut when it is long. */
void payload_subject(const struct payload *payload, char *text, size_t room);

#endif
