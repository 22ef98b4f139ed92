/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's side of a connection to a runtime: whole messages that wait to be sent, and bytes
 * that came. All of it goes into a session, which makes messages of it.
 */
#ifndef NRICTL_VOICE_H
#define NRICTL_VOICE_H

#include "base/buf.h"
#include "rpc/envelope.h"
#include "session.h"

struct voice {
    int fd; /* -1: over */
    uint32_t connection;
    struct nri_buf out;
    size_t told; /* of `out`: bytes that the session has */
};

/* 0; of nri/error.h. */
int voice_open(struct voice *voice, const char *socket, uint32_t connection,
               struct session *session, struct nri_error *error);
void voice_close(struct voice *voice);

/* A message for the runtime; `envelope` may be NULL with a size of 0. NRI_E_NOMEM, NRI_E_LIMIT. */
int voice_say(struct voice *voice, bool response, uint32_t stream, const uint8_t *envelope,
              size_t size);
int voice_say_message(struct voice *voice, uint32_t stream, const ProtobufCMessage *answer);
int voice_say_status(struct voice *voice, uint32_t stream, int status, const char *text);
int voice_say_call(struct voice *voice, uint32_t stream, const char *method,
                   const ProtobufCMessage *request);

/* Sends what it can. NRI_E_NOMEM. */
int voice_send(struct voice *voice, struct session *session);
/* Reads what is there, and closes at the end of the connection; messages are the session's to tell.
 * NRI_E_NOMEM. */
int voice_receive(struct voice *voice, struct session *session);

#endif
