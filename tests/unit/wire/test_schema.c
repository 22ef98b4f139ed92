/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoder and the encoder take for granted of every message of NRI and ttRPC (see
 * wire/field.h), and what they say of maps.
 */
#include <ctype.h>

#include "support.h"
#include "wire/field.h"

struct schema {
    const ProtobufCMessageDescriptor *types[256];
    size_t count;
    size_t maps;
};

/* The depth of a message: 1 and that of the deepest within. No message holds itself. */
static unsigned walk(struct schema *schema, const ProtobufCMessageDescriptor *type, unsigned above)
{
    unsigned deepest = 0;
    assert_true(above < NRI_MESSAGE_DEPTH);
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            const unsigned depth = walk(schema, type->fields[i].descriptor, above + 1);
            deepest = depth > deepest ? depth : deepest;
        }
    }
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->types[i] == type) {
            return 1 + deepest;
        }
    }
    assert_true(schema->count < 256);
    schema->types[schema->count++] = type;
    return 1 + deepest;
}

static unsigned walk_all(struct schema *schema)
{
    const ProtobufCServiceDescriptor *services[] = {
        &nri__pkg__api__v1alpha1__plugin__descriptor,
        &nri__pkg__api__v1alpha1__runtime__descriptor,
        &nri__pkg__api__v1alpha1__host_functions__descriptor,
    };
    unsigned deepest = 0;
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        for (unsigned j = 0; j < services[i]->n_methods; j++) {
            const unsigned in = walk(schema, services[i]->methods[j].input, 0);
            const unsigned out = walk(schema, services[i]->methods[j].output, 0);
            deepest = in > deepest ? in : deepest;
            deepest = out > deepest ? out : deepest;
        }
    }
    walk(schema, &ttrpc__request__descriptor, 0);
    walk(schema, &ttrpc__response__descriptor, 0);
    return deepest;
}

/* net_devices: NetDevicesEntry. */
static void entry_name(const char *field, char *name)
{
    bool first = true;
    for (; *field != '\0'; field++) {
        if (*field == '_') {
            first = true;
        } else {
            *name++ = first ? (char)toupper(*field) : *field;
            first = false;
        }
    }
    memcpy(name, "Entry", sizeof "Entry");
}

static void check_field(struct schema *schema, const ProtobufCFieldDescriptor *field)
{
    assert_true(field->label == PROTOBUF_C_LABEL_NONE || field->label == PROTOBUF_C_LABEL_REPEATED);
    assert_int_equal(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF, 0);
    assert_true(field->type <= PROTOBUF_C_TYPE_MESSAGE);
    assert_true(nri_field_size(field) > 0);
    if (field->type == PROTOBUF_C_TYPE_STRING && field->label == PROTOBUF_C_LABEL_NONE) {
        assert_ptr_equal(field->default_value, protobuf_c_empty_string);
    }
    bool map = false;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && field->label == PROTOBUF_C_LABEL_REPEATED) {
        char name[256];
        const ProtobufCMessageDescriptor *entry = field->descriptor;
        entry_name(field->name, name);
        map = strcmp(entry->short_name, name) == 0;
        if (map) {
            assert_string_equal(entry->fields[0].name, "key");
            assert_string_equal(entry->fields[1].name, "value");
        }
    }
    assert_int_equal(nri_message_field_is_map(field), map);
    schema->maps += map;
}

static void test_every_message_has_the_known_form(void **state)
{
    (void)state;
    struct schema schema = {.count = 0};
    const unsigned deepest = walk_all(&schema);
    assert_true(deepest <= 8);
    assert_true(schema.count > 80);
    size_t short_way = 0;
    for (size_t i = 0; i < schema.count; i++) {
        const ProtobufCMessageDescriptor *type = schema.types[i];
        assert_non_null(type->message_init);
        /* No gaps, and nearly always from 1: the decoder's short way. */
        assert_true(type->n_fields == 0 || type->n_field_ranges == 1);
        short_way += type->n_fields == 0 || nri_field_table(type).count == type->n_fields;
        for (unsigned j = 0; j < type->n_fields; j++) {
            const ProtobufCFieldDescriptor *field = &type->fields[j];
            check_field(&schema, field);
            assert_ptr_equal(nri_field_find(type, field->id), field);
            assert_true(j == 0 || field->id == type->fields[j - 1].id + 1);
        }
        assert_null(nri_field_find(type, 0));
        assert_null(nri_field_find(type, 1023));
        assert_null(nri_field_find(type, UINT64_MAX));
        assert_null(nri_field_find(type, (UINT64_C(1) << 32) + 1));
    }
    assert_true(schema.count - short_way <= 2); /* ConfigureResponse, ContainerAdjustment */
    /* Labels and annotations of pods and containers, those of the adjustment, two of sysctls, two
     * of net devices, unified, and four of owners. */
    assert_int_equal(schema.maps, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_message_has_the_known_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
