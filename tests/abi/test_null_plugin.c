/* SPDX-License-Identifier: Apache-2.0 */
/* NULL for what keeps a plugin going: deadlines, threads, the bypass, metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

static int work(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static void posted(nri_plugin *plugin, void *argument)
{
    (void)plugin;
    (void)argument;
}

static void test_no_plugin(void **state)
{
    char *text = NULL;
    size_t length = 7;
    (void)state;
    nri_plugin_set_bypass(NULL, true);
    assert_false(nri_plugin_bypass(NULL));
    assert_false(nri_plugin_is_wedged(NULL));
    assert_false(nri_plugin_is_synchronized(NULL));
    assert_int_equal(nri_plugin_post_handler(NULL, posted, NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_post_handler(NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_count(NULL, NRI_COUNT_CONNECTIONS), 0);
    assert_int_equal(nri_plugin_count_event(NULL, NRI_EVENT_CREATE_CONTAINER, NRI_COUNT_REQUESTS),
                     0);
    assert_int_equal(nri_plugin_metrics(NULL, &text, &length), NRI_E_INVALID);
    assert_null(text);
    assert_int_equal(length, 0);
    assert_int_equal(nri_plugin_metrics(NULL, NULL, NULL), NRI_E_INVALID);
    nri_metrics_free(NULL);
}

static void test_no_request(void **state)
{
    (void)state;
    assert_int_equal(nri_request_offload(NULL, work, NULL), NRI_E_INVALID);
    assert_int_equal(nri_request_offload(NULL, NULL, NULL), NRI_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_plugin),
        cmocka_unit_test(test_no_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
