/* SPDX-License-Identifier: Apache-2.0 */
#include "voice.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/socket.h"
#include "memory.h"
#include "wire/message.h"
#include "wire/writer.h"

#define RUNTIME_SERVICE "nri.pkg.api.v1alpha1.Runtime"
#define MOST_WAITING    ((size_t)256 << 20)

static int note(struct session *session, const struct voice *voice, enum recording_kind kind,
                enum recording_direction direction, const uint8_t *bytes, size_t size)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const struct recording_record record = {.time = (uint64_t)now.tv_sec * 1000000000 +
                                                    (uint64_t)now.tv_nsec,
                                            .kind = kind,
                                            .direction = direction,
                                            .connection = voice->connection,
                                            .data = bytes,
                                            .size = (uint32_t)size};
    return session_take(session, &record);
}

int voice_open(struct voice *voice, const char *socket, uint32_t connection,
               struct session *session, struct nri_error *error)
{
    *voice = (struct voice){.fd = -1, .connection = connection};
    memory_buf(&voice->out, MOST_WAITING);
    const int code = nri_socket_connect(socket, &voice->fd, error);
    if (code != 0)
        return code;
    return note(session, voice, RECORDING_OPEN, RECORDING_NO_DIRECTION, NULL, 0) == 0
               ? 0
               : nri_error_set(error, NRI_E_NOMEM, "no memory");
}

void voice_close(struct voice *voice)
{
    if (voice->fd >= 0)
        (void)close(voice->fd);
    voice->fd = -1;
    nri_buf_fini(&voice->out);
    voice->told = 0;
}

static int begin(struct voice *voice, bool response, uint32_t stream, size_t size, uint8_t **data)
{
    return nri_wire_begin(&voice->out, response ? NRI_MUX_PLUGIN_ID : NRI_MUX_RUNTIME_ID, stream,
                          response ? NRI_TTRPC_RESPONSE : NRI_TTRPC_REQUEST, 0, (uint32_t)size,
                          data);
}

int voice_say(struct voice *voice, bool response, uint32_t stream, const uint8_t *envelope,
              size_t size)
{
    uint8_t *data;
    const int code = begin(voice, response, stream, size, &data);
    if (code != 0)
        return code;
    if (size > 0)
        memcpy(data, envelope, size);
    nri_wire_commit(&voice->out, (uint32_t)size);
    return 0;
}

int voice_say_message(struct voice *voice, uint32_t stream, const ProtobufCMessage *answer)
{
    struct nri_error error;
    uint8_t *data;
    size_t size;
    int code = nri_message_size(answer, &size, &error);
    if (code != 0)
        return code;
    const size_t whole = nri_rpc_reply_size(size);
    code = begin(voice, true, stream, whole, &data);
    if (code != 0)
        return code;
    nri_rpc_reply_encode(answer, size, data);
    nri_wire_commit(&voice->out, (uint32_t)whole);
    return 0;
}

int voice_say_status(struct voice *voice, uint32_t stream, int status, const char *text)
{
    uint8_t *data;
    const size_t size = nri_rpc_status_size(status, strlen(text));
    const int code = begin(voice, true, stream, size, &data);
    if (code != 0)
        return code;
    nri_rpc_status_encode(status, text, strlen(text), data);
    nri_wire_commit(&voice->out, (uint32_t)size);
    return 0;
}

int voice_say_call(struct voice *voice, uint32_t stream, const char *method,
                   const ProtobufCMessage *request)
{
    struct nri_rpc_outgoing outgoing = {
        .service = RUNTIME_SERVICE, .method = method, .message = request};
    struct nri_error error;
    uint8_t *data;
    int code = nri_message_size(request, &outgoing.payload_size, &error);
    if (code != 0)
        return code;
    const size_t size = nri_rpc_request_size(&outgoing);
    code = begin(voice, false, stream, size, &data);
    if (code != 0)
        return code;
    nri_rpc_request_encode(&outgoing, data);
    nri_wire_commit(&voice->out, (uint32_t)size);
    return 0;
}

int voice_send(struct voice *voice, struct session *session)
{
    struct nri_error error;
    while (voice->fd >= 0 && nri_buf_size(&voice->out) > 0) {
        const uint8_t *bytes = voice->out.data + voice->out.start;
        const size_t all = nri_buf_size(&voice->out);
        size_t moved;
        if (voice->told < all && note(session, voice, RECORDING_BYTES, RECORDING_TO_RUNTIME,
                                      bytes + voice->told, all - voice->told) != 0)
            return NRI_E_NOMEM;
        voice->told = all;
        const enum nri_socket_result result =
            nri_socket_send(voice->fd, bytes, all, &moved, &error);
        if (result == NRI_SOCKET_AGAIN)
            return 0;
        if (result != NRI_SOCKET_MOVED) { /* what it said before it closed is still to be read */
            nri_buf_consume(&voice->out, all);
            voice->told = 0;
            return 0;
        }
        nri_buf_consume(&voice->out, moved);
        voice->told -= moved;
    }
    return 0;
}

int voice_receive(struct voice *voice, struct session *session)
{
    uint8_t bytes[65536];
    struct nri_error error;
    size_t moved;
    for (;;) {
        const enum nri_socket_result result =
            nri_socket_receive(voice->fd, bytes, sizeof bytes, &moved, &error);
        if (result == NRI_SOCKET_AGAIN)
            return 0;
        if (result != NRI_SOCKET_MOVED) {
            voice_close(voice);
            return 0;
        }
        if (note(session, voice, RECORDING_BYTES, RECORDING_TO_PLUGIN, bytes, moved) != 0)
            return NRI_E_NOMEM;
    }
}
