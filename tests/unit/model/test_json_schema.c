/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JSON functions take for granted of nri.proto, checked against the facts that
 * api-fields.txt states: which messages there are, which types fields have, which names they go by.
 */
#include <stdio.h>

#include "fixture.h"
#include "model/json_schema.h"
#include "wire/message.h"

static const char *facts;

static void test_no_message_is_missing(void **state)
{
    (void)state;
    char line[256], name[128];
    size_t count = 0;
    FILE *file = fopen(facts, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "message %127s", name) != 1)
            continue;
        if (nri_json_type_find(name) == NULL)
            fail_msg("%s is missing", name);
        count++;
    }
    fclose(file);
    assert_true(count > 80);
    assert_int_equal(nri_json_type_count(), count);
    assert_null(nri_json_type_find("LabelsEntry"));
    assert_null(nri_json_type_find("container"));
    assert_null(nri_json_type_find(""));
    assert_null(nri_json_type_at(count));
}

static void check_type(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return;
    default:
        fail_msg("%s has a type that JSON functions do not know", field->name);
    }
}

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < nri_json_type_count(); i++) {
        const ProtobufCMessageDescriptor *type = nri_json_type_at(i);
        assert_true(type->n_fields <= NRI_JSON_FIELDS);
        for (unsigned k = 0; k < type->n_fields; k++) {
            const ProtobufCFieldDescriptor *field = &type->fields[k];
            check_type(field);
            /* Written in the order of the numbers. */
            assert_true(k == 0 || field[-1].id < field->id);
            if (!nri_message_field_is_map(field))
                continue;
            const ProtobufCMessageDescriptor *entry = field->descriptor;
            assert_true(entry->fields[0].type == PROTOBUF_C_TYPE_STRING ||
                        entry->fields[0].type == PROTOBUF_C_TYPE_INT32);
            check_type(&entry->fields[1]);
        }
    }
}

static void test_wrappers(void **state)
{
    (void)state;
    static const char *const names[] = {
        "OptionalString", "OptionalRepeatedString", "OptionalInt",
        "OptionalInt32",  "OptionalUInt32",         "OptionalInt64",
        "OptionalUInt64", "OptionalBool",           "OptionalFileMode"};
    size_t wrappers = 0;
    for (size_t i = 0; i < nri_json_type_count(); i++)
        wrappers += nri_json_is_wrapper(nri_json_type_at(i));
    assert_int_equal(wrappers, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < wrappers; i++)
        assert_true(nri_json_is_wrapper(nri_json_type_find(names[i])));
}

/* lower, Camel, Camel of lower: made here in another way than the library compares. */
static void spell(const char *name, int how, char out[64])
{
    size_t length = 0;
    bool raise = false;
    for (; *name != '\0'; name++) {
        bool capital = *name >= 'A' && *name <= 'Z';
        bool small = *name >= 'a' && *name <= 'z';
        char c = capital && how != 1 ? (char)(*name + 32) : *name;
        if (how != 2 && *name == '_') {
            raise = true;
            continue;
        }
        if (raise && (small || (capital && how != 1)))
            c = (char)((c >= 'a' && c <= 'z') ? c - 32 : c);
        raise = false;
        out[length++] = c;
    }
    out[length] = '\0';
}

static void test_names(void **state)
{
    (void)state;
    char spelled[64];
    for (size_t i = 0; i < nri_json_type_count(); i++) {
        const ProtobufCMessageDescriptor *type = nri_json_type_at(i);
        for (unsigned k = 0; k < type->n_fields; k++) {
            const ProtobufCFieldDescriptor *field = &type->fields[k];
            assert_ptr_equal(nri_json_field_find(type, field->name), field);
            /* No spelling of one is a spelling of another. */
            for (int how = 0; how < 3; how++) {
                spell(field->name, how, spelled);
                assert_ptr_equal(nri_json_field_find(type, spelled), field);
            }
        }
    }
    const ProtobufCMessageDescriptor *container = nri_json_type_find("Container");
    static const char *const wrong[] = {
        "",           "CDI_Devices",  "cDI_devices",    "CDIdevices",
        "cdi_device", "cdi_devicess", "PodSandboxId",   "NAME",
        "name_",      "_name",        "pod__sandbox_id"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(nri_json_field_find(container, wrong[i]));
    static const char *const right[] = {"CDI_devices", "cdi_devices", "CDIDevices", "cdiDevices"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_string_equal(nri_json_field_find(container, right[i])->name, "CDI_devices");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_message_is_missing),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_wrappers),
        cmocka_unit_test(test_names),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s api-fields.txt\n", argv[0]);
        return 2;
    }
    facts = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
