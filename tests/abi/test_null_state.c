/* SPDX-License-Identifier: Apache-2.0 */
/* nri/state.h with NULL: no state is empty, no object says nothing, and what changes one is refused
 * or does nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

static void test_no_state(void **state)
{
    nri_error *error = NULL;
    (void)state;
    nri_state_ops_init(NULL, sizeof(struct nri_state_ops));
    nri_state_options_init(NULL, sizeof(struct nri_state_options));
    assert_int_equal(nri_state_new(NULL, NULL, NULL, NULL, &error), NRI_E_INVALID);
    assert_null(nri_state_free(NULL));
    assert_int_equal(nri_state_pod_count(NULL), 0);
    assert_int_equal(nri_state_container_count(NULL), 0);
    assert_false(nri_state_is_synchronized(NULL));
    assert_null(nri_state_find_pod(NULL, "p"));
    assert_null(nri_state_find_container(NULL, "c"));
    assert_null(nri_state_next_pod(NULL, NULL));
    assert_null(nri_state_next_container(NULL, NULL));
    assert_int_equal(nri_state_save(NULL, &error), NRI_E_INVALID);
    assert_string_equal(nri_state_checkpoint_error(NULL), "");
    assert_null(error);
}

static void test_no_object(void **state)
{
    int data = 0;
    (void)state;
    assert_string_equal(nri_pod_id(nri_state_pod_get(NULL)), "");
    assert_null(nri_state_pod_next_container(NULL, NULL));
    assert_null(nri_state_pod_data(NULL));
    nri_state_pod_set_data(NULL, &data, NULL);
    assert_string_equal(nri_container_id(nri_state_container_get(NULL)), "");
    assert_null(nri_state_container_pod(NULL));
    assert_null(nri_state_container_data(NULL));
    nri_state_container_set_data(NULL, &data, NULL);
    assert_string_equal(nri_state_container_note(NULL), "");
    assert_int_equal(nri_state_container_set_note(NULL, "a"), NRI_E_INVALID);
}

/* A state, and NULL for what is asked of it; all defaults. */
static void test_nothing_asked(void **state)
{
    nri_state *made = NULL;
    (void)state;
    assert_int_equal(nri_state_new(&made, NULL, NULL, NULL, NULL), 0);
    assert_null(nri_state_find_pod(made, NULL));
    assert_null(nri_state_find_container(made, NULL));
    assert_null(nri_state_next_pod(made, NULL));
    assert_null(nri_state_next_container(made, NULL));
    assert_int_equal(nri_state_save(made, NULL), 0);
    assert_string_equal(nri_state_checkpoint_error(made), "");
    assert_null(nri_state_free(made));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_state),
        cmocka_unit_test(test_no_object),
        cmocka_unit_test(test_nothing_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
