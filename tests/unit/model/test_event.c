/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void parses(const char *text, uint32_t wanted)
{
    uint32_t mask = 0;
    nri_error *error = NULL;
    assert_int_equal(nri_event_mask_parse(text, &mask, &error), 0);
    assert_null(error);
    assert_int_equal(mask, wanted);
    mask = 0;
    assert_int_equal(nri_event_mask_parse(text, &mask, NULL), 0);
    assert_int_equal(mask, wanted);
}

static void refuses(const char *text, const char *start)
{
    uint32_t mask = 0x55;
    nri_error *error = NULL;
    assert_int_equal(nri_event_mask_parse(text, &mask, &error), NRI_E_SYNTAX);
    assert_int_equal(nri_event_mask_parse(text, &mask, NULL), NRI_E_SYNTAX);
    assert_int_equal(mask, 0x55);
    assert_non_null(error);
    assert_int_equal(nri_error_get_code(error), NRI_E_SYNTAX);
    assert_int_equal(strncmp(nri_error_get_text(error), start, strlen(start)), 0);
    nri_error_free(error);
}

static void test_S28_mask_parse(void **state)
{
    (void)state;
    parses("all", 0x3fff);
    parses("pod", 0x1807);
    parses("container", 0x27f8);
    parses("RunPodSandbox, stopcontainer", 0x0201);
    refuses("bogus", "event \"bogus\" at offset 0: no such event");
}

static void test_words(void **state)
{
    (void)state;
    parses("podsandbox", 0x1807);
    parses("validatecontaineradjustment", 0x2000);
    parses("ALL", 0x3fff);
    parses(" \tPod ,\nCONTAINER\r\n", 0x3fff);
    parses("RUNPODSANDBOX,RunPodSandbox", 1);
    for (int event = 1; event <= 14; event++)
        parses(nri_event_name((enum nri_event)event), UINT32_C(1) << (event - 1));
}

static void test_refusals_name_word_and_place(void **state)
{
    (void)state;
    refuses("", "event \"\" at offset 0");
    refuses("   ", "event \"\" at offset 3");
    refuses("pod,", "event \"\" at offset 4");
    refuses("pod,,all", "event \"\" at offset 4");
    refuses("pod, Run PodSandbox ,all", "event \"Run PodSandbox\" at offset 5");
    refuses("Configure", "event \"Configure\" at offset 0");
    refuses("Unknown", "event \"Unknown\" at offset 0");
    refuses("runpodsandboxx", "event \"runpodsandboxx\"");
    refuses("runpodsandbo", "event \"runpodsandbo\"");
    refuses("\xff", "event \"\\xff\" at offset 0");
    refuses("bogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusb",
            "event \"bogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogusbogus"
            "bogus...\" at offset 0");
}

static void test_null_arguments(void **state)
{
    (void)state;
    uint32_t mask = 0x55;
    nri_error *error = NULL;
    assert_int_equal(nri_event_mask_parse(NULL, &mask, &error), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error), "event mask: text is NULL");
    assert_int_equal(mask, 0x55);
    error = nri_error_free(error);
    assert_int_equal(nri_event_mask_parse("all", NULL, &error), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error), "event mask: mask is NULL");
    nri_error_free(error);
    assert_int_equal(nri_event_mask_parse(NULL, NULL, NULL), NRI_E_INVALID);
}

static void formats(uint32_t mask, const char *wanted)
{
    char text[512];
    memset(text, 'x', sizeof text);
    assert_int_equal(nri_event_mask_format(mask, text, sizeof text), strlen(wanted));
    assert_string_equal(text, wanted);
}

static void test_format(void **state)
{
    (void)state;
    formats(0, "");
    formats(1, "RunPodSandbox");
    formats(0x0201, "RunPodSandbox,StopContainer");
    formats(0x80002000, "ValidateContainerAdjustment,bit 31");
    formats(0x4000, "bit 14");
    char text[512];
    uint32_t mask = 0;
    for (uint32_t wanted = 1; wanted <= NRI_EVENTS_ALL; wanted += 37) {
        nri_event_mask_format(wanted, text, sizeof text);
        assert_int_equal(nri_event_mask_parse(text, &mask, NULL), 0);
        assert_int_equal(mask, wanted);
    }
}

static void test_format_into_any_room(void **state)
{
    (void)state;
    static const char whole[] = "RunPodSandbox,StopContainer";
    for (size_t size = 0; size <= sizeof whole + 1; size++) {
        char text[sizeof whole + 2];
        memset(text, '#', sizeof text);
        assert_int_equal(nri_event_mask_format(0x0201, text, size), sizeof whole - 1);
        size_t kept = size == 0 ? 0 : size < sizeof whole ? size - 1 : sizeof whole - 1;
        assert_memory_equal(text, whole, kept);
        if (size > 0)
            assert_int_equal(text[kept], '\0');
        for (size_t i = size == 0 ? 0 : kept + 1; i < sizeof text; i++)
            assert_int_equal(text[i], '#');
    }
    assert_int_equal(nri_event_mask_format(0x0201, NULL, 0), sizeof whole - 1);
}

static void test_names_and_bits(void **state)
{
    (void)state;
    assert_string_equal(nri_event_name(NRI_EVENT_RUN_POD_SANDBOX), "RunPodSandbox");
    assert_string_equal(nri_event_name(NRI_EVENT_REMOVE_CONTAINER), "RemoveContainer");
    assert_string_equal(nri_event_name(NRI_EVENT_POST_UPDATE_POD_SANDBOX), "PostUpdatePodSandbox");
    assert_string_equal(nri_event_name(NRI_EVENT_CONFIGURE), "Configure");
    assert_string_equal(nri_event_name(NRI_EVENT_SYNCHRONIZE), "Synchronize");
    assert_string_equal(nri_event_name(NRI_EVENT_SYNCHRONIZE_PART), "SynchronizePart");
    assert_string_equal(nri_event_name(NRI_EVENT_SHUTDOWN), "Shutdown");
    assert_string_equal(nri_event_name(NRI_EVENT_CONNECTED), "Connected");
    assert_string_equal(nri_event_name(NRI_EVENT_DISCONNECTED), "Disconnected");
    static const int none[] = {-1, 0, 15, 63, 70, INT32_MAX};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_string_equal(nri_event_name((enum nri_event)none[i]), "Unknown");
        assert_int_equal(nri_event_bit((enum nri_event)none[i]), 0);
    }
    assert_int_equal(nri_event_bit(NRI_EVENT_RUN_POD_SANDBOX), 1);
    assert_int_equal(nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT), 0x2000);
    assert_int_equal(nri_event_bit(NRI_EVENT_CONFIGURE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_S28_mask_parse),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_refusals_name_word_and_place),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_into_any_room),
        cmocka_unit_test(test_names_and_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
