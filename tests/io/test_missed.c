/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that was dropped for a missed deadline can read so wherever it looks for the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define REASON                                                                                     \
    "the runtime closed the connection; CreateContainer (pod pod1, container ctr1) was not "       \
    "answered within 1 ms, which is why the runtime may have dropped the plugin"

/* A runtime that gives a millisecond, and is gone before the plugin reads any of it. */
static void write_session(struct peer *peer)
{
    Nri__Pkg__Api__V1alpha1__ConfigureRequest configure =
        NRI__PKG__API__V1ALPHA1__CONFIGURE_REQUEST__INIT;
    Nri__Pkg__Api__V1alpha1__CreateContainerRequest create =
        NRI__PKG__API__V1ALPHA1__CREATE_CONTAINER_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    struct peer_bytes bytes = {0};
    configure.runtime_name = (char *)"peer";
    configure.nri_version = (char *)"v0.12.2";
    pod.id = (char *)"pod1";
    container.id = (char *)"ctr1";
    container.pod_sandbox_id = (char *)"pod1";
    create.pod = &pod;
    create.container = &container;
    peer_bytes_answer(&bytes, 1, NULL);
    peer_bytes_call(&bytes, 1, "Configure", &configure.base);
    peer_bytes_call_within(&bytes, 3, "CreateContainer", &create.base, 1000000);
    assert_true(peer_send(peer, &bytes));
    peer_close(peer);
}

static int work_past_the_deadline(nri_request *request, struct witness *witness)
{
    (void)witness;
    while (nri_request_time_left(request) > 0)
        continue;
    return 0;
}

static void test_the_reason_of_a_dropped_plugin(void **state)
{
    struct log_book book = {0};
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = work_past_the_deadline};
    struct nri_plugin_options options = fixture_options(*state);
    struct peer peer;
    options.log = log_book_write;
    options.log_user = &book;
    peer_init(&peer, fixture_pair(&options));
    nri_plugin *plugin = witness_plugin(&witness, &options);
    write_session(&peer);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &witness), 0);
    while (drive_turn(plugin) == 1)
        continue;
    assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    assert_int_equal(witness.result, NRI_E_CLOSED);
    const char *text = nri_error_get_text(nri_plugin_last_error(plugin));
    assert_int_equal(nri_error_get_code(nri_plugin_last_error(plugin)), NRI_E_CLOSED);
    if (strstr(text, REASON) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", text, REASON);
    assert_string_equal(witness.reason_text, text);
    assert_non_null(strstr(book.text, REASON));
    nri_plugin_close(plugin, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_reason_of_a_dropped_plugin, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
