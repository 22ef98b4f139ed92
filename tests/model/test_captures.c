/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model_captures CAPTURE...: every NRI message of recorded sessions, both ways. Decoded and
 * packed again it is what was recorded, byte for byte, or, where Go packs fields or a map's entries
 * in another order, as long and the same once decoded again; fields of newer versions are kept. As
 * JSON and back it loses nothing. And all that pods, containers, adjustments and updates hold comes
 * through the readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"
#include "go_reader.h"
#include "model/model.h"
#include "model_read.h"
#include "proto/ttrpc.pb-c.h"
#include "schema.h"
#include "wire/message.h"

#define PLUGIN_ID 1u /* the mux connection on which a runtime calls its plugin */
#define REQUEST   1u

static int name_count;
static char **names;

static const uint64_t seed[2] = {3, 5};

struct session {
    const char *name;
    struct nri_arena arena;
    struct go_reader ways[2]; /* plugin to runtime, runtime to plugin */
    size_t messages, identical, reordered, unknown, objects;
};

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes pack(struct session *session, const ProtobufCMessage *message)
{
    struct bytes bytes = {NULL, 0};
    assert_int_equal(nri_message_size(message, &bytes.size, NULL), 0);
    bytes.data = nri_arena_alloc(&session->arena, bytes.size + 1);
    assert_non_null(bytes.data);
    nri_message_encode(message, bytes.data);
    return bytes;
}

static ProtobufCMessage *unpack(struct session *session, const ProtobufCMessageDescriptor *type,
                                const uint8_t *data, size_t size)
{
    ProtobufCMessage *message;
    struct nri_error error;
    static const uint8_t none;
    if (nri_message_decode(type, size == 0 ? &none : data, size, &session->arena, seed, &message,
                           &error) != 0)
        fail_msg("%s: %s", session->name, error.text);
    return message;
}

static bool is_same(struct bytes a, const void *data, size_t size)
{
    return a.size == size && (size == 0 || memcmp(a.data, data, size) == 0);
}

/* ---- through the readers ---- */

static void check_object(struct session *session, struct model_reading *reading,
                         ProtobufCMessage *sent, ProtobufCMessage *read)
{
    if (reading->broken != NULL)
        fail_msg("%s: %s", session->name, reading->broken);
    assert_false(model_read_has_nul(sent));
    ProtobufCMessage *copy = nri_message_copy(sent, &session->arena);
    assert_non_null(copy);
    model_read_normalise(copy);
    model_read_normalise(read);
    const struct bytes packed = pack(session, read);
    if (!is_same(pack(session, copy), packed.data, packed.size))
        fail_msg("%s: a %s is not what its readers say", session->name,
                 sent->descriptor->short_name);
    session->objects++;
}

static void read_object(struct session *session, ProtobufCMessage *message)
{
    struct model_reading reading = {.arena = &session->arena};
    if (message->descriptor == &nri__pkg__api__v1alpha1__pod_sandbox__descriptor) {
        check_object(session, &reading, message,
                     &model_read_pod(&reading, nri_pod_view((MODEL(PodSandbox) *)message))->base);
    } else if (message->descriptor == &nri__pkg__api__v1alpha1__container__descriptor) {
        check_object(
            session, &reading, message,
            &model_read_container(&reading, nri_container_view((MODEL(Container) *)message))->base);
    } else if (message->descriptor == &nri__pkg__api__v1alpha1__container_adjustment__descriptor) {
        nri_adjustment *view =
            nri_adjustment_view(&session->arena, (MODEL(ContainerAdjustment) *)message, -1, "");
        assert_non_null(view);
        check_object(session, &reading, message, &model_read_adjustment(&reading, view)->base);
    }
}

/* The objects among the fields of a request or a response. */
static void read_objects(struct session *session, const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const char *member = (const char *)message + field->offset;
        ProtobufCMessage *one, **list = &one;
        size_t count = 1;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
            memcpy(&list, member, sizeof list);
        } else {
            memcpy(&one, member, sizeof one);
        }
        for (size_t k = 0; k < count; k++) {
            if (list[k] != NULL)
                read_object(session, list[k]);
        }
    }
}

/* ---- one message ---- */

static bool has_unknown(const ProtobufCMessage *message)
{
    return message->n_unknown_fields > 0;
}

static void check_json(struct session *session, const ProtobufCMessage *message,
                       struct bytes packed)
{
    const char *type = schema_short_name(message->descriptor->name);
    char *text = NULL, *bytes = NULL;
    size_t length = 0, size = 0;
    nri_error *error = NULL;
    if (nri_json_from_protobuf(type, packed.data, packed.size, NULL, &text, &length, &error) != 0 ||
        nri_json_to_protobuf(type, text, length, NULL, &bytes, &size, &error) != 0)
        fail_msg("%s: %s: %s", session->name, type, nri_error_get_text(error));
    if (!is_same(packed, bytes, size))
        fail_msg("%s: %s is another message after JSON", session->name, type);
    nri_json_free(text);
    nri_json_free(bytes);
}

static void check_message(struct session *session, const ProtobufCMessageDescriptor *type,
                          const ProtobufCBinaryData *recorded)
{
    ProtobufCMessage *message = unpack(session, type, recorded->data, recorded->len);
    const struct bytes packed = pack(session, message);
    session->messages++;
    session->unknown += has_unknown(message);
    if (packed.size != recorded->len)
        fail_msg("%s: %s: %zu bytes packed to %zu", session->name, type->short_name, recorded->len,
                 packed.size);
    if (is_same(packed, recorded->data, recorded->len)) {
        session->identical++;
    } else {
        const ProtobufCMessage *again = unpack(session, type, packed.data, packed.size);
        assert_true(is_same(pack(session, again), packed.data, packed.size));
        session->reordered++;
    }
    if (!has_unknown(message)) /* which JSON has no names for */
        check_json(session, message, packed);
    read_objects(session, message);
}

/* ---- sessions ---- */

static const ProtobufCMethodDescriptor *find_method(const Ttrpc__Request *request)
{
    const ProtobufCServiceDescriptor *service = strstr(request->service, "Runtime") != NULL
                                                    ? &nri__pkg__api__v1alpha1__runtime__descriptor
                                                    : &nri__pkg__api__v1alpha1__plugin__descriptor;
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, request->method);
    assert_non_null(method);
    return method;
}

/* The request that a response answers: on the other way, with its connection and stream. */
static const Ttrpc__Request *find_request(struct session *session, const struct go_reader *way,
                                          const struct go_message *response)
{
    struct go_message message;
    for (size_t i = 0; go_reader_message(way, i, &message); i++) {
        if (message.type == REQUEST && message.id == response->id &&
            message.stream == response->stream)
            return (const Ttrpc__Request *)unpack(session, &ttrpc__request__descriptor,
                                                  message.data, message.length);
    }
    return NULL;
}

static void check_way(struct session *session, size_t way)
{
    struct go_message message;
    for (size_t i = 0; go_reader_message(&session->ways[way], i, &message); i++) {
        if (message.type == REQUEST) {
            const Ttrpc__Request *request = (const Ttrpc__Request *)unpack(
                session, &ttrpc__request__descriptor, message.data, message.length);
            check_message(session, find_method(request)->input, &request->payload);
            continue;
        }
        const Ttrpc__Response *response = (const Ttrpc__Response *)unpack(
            session, &ttrpc__response__descriptor, message.data, message.length);
        const Ttrpc__Request *request = find_request(session, &session->ways[1 - way], &message);
        if (request != NULL && (response->status == NULL || response->status->code == 0))
            check_message(session, find_method(request)->output, &response->payload);
    }
}

static void load(struct session *session, size_t way, const char *suffix)
{
    char name[256];
    struct capture capture;
    (void)snprintf(name, sizeof name, "%s.%s.bin", session->name, suffix);
    assert_true(capture_load(&capture, name));
    go_reader_init(&session->ways[way]);
    assert_int_equal(go_reader_feed(&session->ways[way], capture.bytes, capture.size), 0);
    capture_free(&capture);
}

static void test_every_message_comes_out_as_it_went_in(void **state)
{
    (void)state;
    static struct session session; /* large */
    struct nri_alloc alloc;
    size_t objects = 0, unknown = 0;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    for (int i = 0; i < name_count; i++) {
        session = (struct session){.name = names[i]};
        nri_arena_init(&session.arena, &alloc, 0, SIZE_MAX);
        load(&session, 0, "p2r");
        load(&session, 1, "r2p");
        check_way(&session, 0);
        check_way(&session, 1);
        print_message("%s: %zu messages, %zu identical, %zu in another order, %zu with unknown "
                      "fields; %zu objects\n",
                      names[i], session.messages, session.identical, session.reordered,
                      session.unknown, session.objects);
        assert_true(session.messages >= 1);
        assert_int_equal(session.identical + session.reordered, session.messages);
        objects += session.objects;
        unknown += session.unknown;
        go_reader_fini(&session.ways[0]);
        go_reader_fini(&session.ways[1]);
        nri_arena_fini(&session.arena);
    }
    assert_true(objects > 100);
    assert_true(unknown > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_message_comes_out_as_it_went_in),
    };
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s CAPTURE...\n", argv[0]);
        return 2;
    }
    name_count = argc - 1;
    names = argv + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
