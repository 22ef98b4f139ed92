/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generated descriptors against the facts of the public API, in both directions, so that
 * lib/proto can neither lose nor gain anything unnoticed.
 *
 * Arguments: the data file with the facts, and the generated header proto/nri.pb-c.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"
#include "schema.h"

static const char *facts_path;
static const char *header_path;

/* Prints what only one side has; the number of such lines. Both sides must be sorted. */
static size_t print_difference(const struct schema_lines *left, const char *left_name,
                               const struct schema_lines *right, const char *right_name)
{
    size_t l = 0, r = 0, differences = 0;
    while (l < left->count || r < right->count) {
        int order;
        if (l == left->count)
            order = 1;
        else if (r == right->count)
            order = -1;
        else
            order = strcmp(left->line[l], right->line[r]);
        if (order != 0) {
            print_error("only in %s: %s\n", order < 0 ? left_name : right_name,
                        order < 0 ? left->line[l] : right->line[r]);
            differences++;
        }
        if (order <= 0)
            l++;
        if (order >= 0)
            r++;
    }
    return differences;
}

static void test_U15_descriptors_equal_facts(void **state)
{
    (void)state;
    struct schema_walk walk;
    struct schema_lines generated = {0}, facts = {0};
    schema_walk_nri(&walk);
    schema_from_walk(&generated, &walk);
    bool readable = schema_from_file(&facts, facts_path);
    schema_sort(&generated);
    schema_sort(&facts);
    size_t differences =
        readable ? print_difference(&generated, "lib/proto/nri.proto", &facts, "facts") : 0;
    size_t count = facts.count;
    schema_free(&generated);
    schema_free(&facts);

    assert_true(readable);
    assert_int_equal(differences, 0);
    print_message("%zu facts compared\n", count);
}

/* Figures of their own, so that an emptied data file with an emptied schema does not pass. */
static void test_U15_counts_of_0_12_2(void **state)
{
    (void)state;
    assert_int_equal(nri__pkg__api__v1alpha1__container__descriptor.n_fields, 22);

    const ProtobufCEnumDescriptor *event = &nri__pkg__api__v1alpha1__event__descriptor;
    unsigned events = 0;
    for (unsigned i = 0; i < event->n_values; i++) {
        int value = event->values[i].value;
        if (value != NRI__PKG__API__V1ALPHA1__EVENT__UNKNOWN &&
            value != NRI__PKG__API__V1ALPHA1__EVENT__LAST)
            events++;
    }
    assert_int_equal(events, 14);

    const ProtobufCEnumDescriptor *field = &nri__pkg__api__v1alpha1__field__descriptor;
    assert_int_equal(field->n_values - 1, 40);
    assert_int_equal(NRI__PKG__API__V1ALPHA1__FIELD__MemoryPolicy, 40);

    assert_int_equal(nri__pkg__api__v1alpha1__runtime__descriptor.n_methods, 2);
    assert_int_equal(nri__pkg__api__v1alpha1__plugin__descriptor.n_methods, 18);
    assert_int_equal(nri__pkg__api__v1alpha1__host_functions__descriptor.n_methods, 1);
}

/* Every type the header defines: struct and enum typedefs, services as NAME_Service. */
static bool types_of_header(struct schema_lines *types, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    char line[2048], name[512];
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "typedef struct %*s %511[A-Za-z0-9_];", name) == 1 ||
            sscanf(line, "typedef enum _%511[A-Za-z0-9_]", name) == 1)
            schema_add(types, "%s", name);
    }
    bool good = ferror(file) == 0;
    fclose(file);
    return good;
}

/* protobuf-c has no list of a file's types, so a type that nothing refers to is found here. */
static void test_U15_no_type_escapes_the_walk(void **state)
{
    (void)state;
    struct schema_walk walk;
    struct schema_lines walked = {0}, header = {0};
    schema_walk_nri(&walk);
    for (size_t i = 0; i < walk.n_messages; i++)
        schema_add(&walked, "%s", walk.message[i]->c_name);
    for (size_t i = 0; i < walk.n_enums; i++)
        schema_add(&walked, "%s", walk.enumeration[i]->c_name);
    for (size_t i = 0; i < sizeof schema_services / sizeof schema_services[0]; i++)
        schema_add(&walked, "%s_Service", schema_services[i]->c_name);
    bool readable = types_of_header(&header, header_path);
    schema_sort(&walked);
    schema_sort(&header);
    size_t differences = print_difference(&walked, "the walk", &header, "nri.pb-c.h");
    schema_free(&walked);
    schema_free(&header);

    assert_true(readable);
    assert_int_equal(differences, 0);
}

static void test_services_are_found_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        SCHEMA_PACKAGE ".Runtime",
        SCHEMA_PACKAGE ".Plugin",
        SCHEMA_PACKAGE ".HostFunctions",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const ProtobufCServiceDescriptor *service = schema_services[i];
        assert_string_equal(service->name, names[i]);
        assert_string_equal(service->package, SCHEMA_PACKAGE);
        for (unsigned m = 0; m < service->n_methods; m++) {
            const ProtobufCMethodDescriptor *method = &service->methods[m];
            assert_ptr_equal(
                protobuf_c_service_descriptor_get_method_by_name(service, method->name), method);
        }
        assert_null(protobuf_c_service_descriptor_get_method_by_name(service, "NoSuchMethod"));
    }
}

static void test_fields_are_found_by_name_and_number(void **state)
{
    (void)state;
    struct schema_walk walk;
    schema_walk_nri(&walk);
    for (size_t i = 0; i < walk.n_messages; i++) {
        const ProtobufCMessageDescriptor *message = walk.message[i];
        assert_string_equal(message->package_name, SCHEMA_PACKAGE);
        for (unsigned f = 0; f < message->n_fields; f++) {
            const ProtobufCFieldDescriptor *field = &message->fields[f];
            assert_ptr_equal(protobuf_c_message_descriptor_get_field(message, field->id), field);
            assert_ptr_equal(protobuf_c_message_descriptor_get_field_by_name(message, field->name),
                             field);
        }
    }
}

static void test_maps_are_recognised(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *pod = &nri__pkg__api__v1alpha1__pod_sandbox__descriptor;
    const ProtobufCMessageDescriptor *adjust =
        &nri__pkg__api__v1alpha1__container_adjustment__descriptor;
    assert_true(schema_is_map(protobuf_c_message_descriptor_get_field_by_name(pod, "labels")));
    assert_false(schema_is_map(protobuf_c_message_descriptor_get_field_by_name(pod, "ips")));
    /* env is repeated KeyValue: key = 1 and value = 2 as in a map, and yet an ordered list. */
    assert_false(schema_is_map(protobuf_c_message_descriptor_get_field_by_name(adjust, "env")));
}

static void check_field(const ProtobufCMessageDescriptor *message, unsigned number,
                        const char *name, ProtobufCType type, ProtobufCLabel label)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(message, number);
    assert_non_null(field);
    assert_string_equal(field->name, name);
    assert_int_equal(field->type, type);
    assert_int_equal(field->label, label);
}

static void test_ttrpc_envelope(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *request = &ttrpc__request__descriptor;
    const ProtobufCMessageDescriptor *response = &ttrpc__response__descriptor;
    const ProtobufCMessageDescriptor *pair = &ttrpc__key_value__descriptor;
    const ProtobufCMessageDescriptor *status = &google__rpc__status__descriptor;
    const ProtobufCMessageDescriptor *any = &google__protobuf__any__descriptor;
    const ProtobufCLabel one = PROTOBUF_C_LABEL_NONE, many = PROTOBUF_C_LABEL_REPEATED;

    assert_string_equal(request->name, "ttrpc.Request");
    assert_int_equal(request->n_fields, 5);
    check_field(request, 1, "service", PROTOBUF_C_TYPE_STRING, one);
    check_field(request, 2, "method", PROTOBUF_C_TYPE_STRING, one);
    check_field(request, 3, "payload", PROTOBUF_C_TYPE_BYTES, one);
    check_field(request, 4, "timeout_nano", PROTOBUF_C_TYPE_INT64, one);
    check_field(request, 5, "metadata", PROTOBUF_C_TYPE_MESSAGE, many);
    assert_ptr_equal(request->fields[4].descriptor, pair);

    assert_string_equal(response->name, "ttrpc.Response");
    assert_int_equal(response->n_fields, 2);
    check_field(response, 1, "status", PROTOBUF_C_TYPE_MESSAGE, one);
    check_field(response, 2, "payload", PROTOBUF_C_TYPE_BYTES, one);
    assert_ptr_equal(response->fields[0].descriptor, status);

    assert_string_equal(pair->name, "ttrpc.KeyValue");
    assert_int_equal(pair->n_fields, 2);
    check_field(pair, 1, "key", PROTOBUF_C_TYPE_STRING, one);
    check_field(pair, 2, "value", PROTOBUF_C_TYPE_STRING, one);

    assert_string_equal(status->name, "google.rpc.Status");
    assert_int_equal(status->n_fields, 3);
    check_field(status, 1, "code", PROTOBUF_C_TYPE_INT32, one);
    check_field(status, 2, "message", PROTOBUF_C_TYPE_STRING, one);
    check_field(status, 3, "details", PROTOBUF_C_TYPE_MESSAGE, many);
    assert_ptr_equal(status->fields[2].descriptor, any);

    assert_string_equal(any->name, "google.protobuf.Any");
    assert_int_equal(any->n_fields, 2);
    check_field(any, 1, "type_url", PROTOBUF_C_TYPE_STRING, one);
    check_field(any, 2, "value", PROTOBUF_C_TYPE_BYTES, one);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_U15_descriptors_equal_facts),
        cmocka_unit_test(test_U15_counts_of_0_12_2),
        cmocka_unit_test(test_U15_no_type_escapes_the_walk),
        cmocka_unit_test(test_services_are_found_by_name),
        cmocka_unit_test(test_fields_are_found_by_name_and_number),
        cmocka_unit_test(test_maps_are_recognised),
        cmocka_unit_test(test_ttrpc_envelope),
    };
    if (argc != 3) {
        fprintf(stderr, "usage: %s api-fields.txt nri.pb-c.h\n", argv[0]);
        return 1;
    }
    facts_path = argv[1];
    header_path = argv[2];
    return cmocka_run_group_tests_name("proto descriptor", tests, NULL, NULL);
}
