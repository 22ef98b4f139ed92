/* SPDX-License-Identifier: Apache-2.0 */
/* The default validator: its configuration, what it forbids, which plugins it requires. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "runtime/default_validator.h"
#include "runtime/required.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)

static int adjust_much(nri_request *request, struct rt_fixture *fixture)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_adjustment_set_sysctl(adjustment, "net.core.somaxconn", "1");
}

static int set_namespace(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_adjustment_add_namespace(nri_request_adjustment(request), "uts", "/proc/1/ns/uts");
}

/* Creates a container with one plugin, and gives what came of it. */
static struct rt_done *run(struct rt_fixture *fixture, const char *config, rt_handler handler,
                           const char *key, const char *value)
{
    struct nri_default_validator *validator;

    assert_int_equal(nri_default_validator_new(&validator, NULL, config, NULL), 0);
    fixture->config.validator = validator;
    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, handler);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    if (key != NULL)
        assert_int_equal(nri_pod_set_annotation(pod, key, value), 0);
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    nri_default_validator_free(validator);
    fixture->config.validator = NULL;
    return done;
}

static void test_sysctl(void **state)
{
    struct rt_done *done =
        run(*state, "{\"reject_sysctl_adjustment\": true}", adjust_much, NULL, NULL);

    assert_done(done, NRI_E_REJECTED);
    assert_string_equal(nri_outcome_text(done->outcome),
                        "default validator: plugin(s) \"10-one\" attempted restricted sysctl "
                        "adjustment: net.core.somaxconn");
}

static void test_sysctl_allowed(void **state)
{
    assert_done(run(*state, "", adjust_much, NULL, NULL), 0);
}

static void test_disabled(void **state)
{
    assert_done(run(*state, "{\"reject_sysctl_adjustment\": true, \"enable\": false}", adjust_much,
                    NULL, NULL),
                0);
}

static void test_namespace(void **state)
{
    struct rt_done *done =
        run(*state, "{\"reject_namespace_adjustment\": true}", set_namespace, NULL, NULL);

    assert_done(done, NRI_E_REJECTED);
    assert_contains(nri_outcome_text(done->outcome), "namespace adjustment: uts");
}

static void test_required_by_configuration(void **state)
{
    struct rt_done *done =
        run(*state, "{\"required_plugins\": [\"10-one\", \"two\"]}", NULL, NULL, NULL);

    assert_done(done, NRI_E_NOT_FOUND);
    assert_contains(nri_outcome_text(done->outcome), "required plugin \"two\" did not take part");
}

static void test_required_by_annotation(void **state)
{
    struct rt_done *done = run(*state, NULL, NULL, "required-plugins.noderesource.dev/pod",
                               "- one\n- \"gpu\"  # the vendor's\n");

    assert_done(done, NRI_E_NOT_FOUND);
    assert_contains(nri_outcome_text(done->outcome), "required plugin \"gpu\"");
}

static void test_required_and_there(void **state)
{
    assert_done(run(*state, NULL, NULL, "required-plugins.noderesource.dev", "[ one, 10-one ]"), 0);
}

static void test_tolerated(void **state)
{
    assert_done(run(*state,
                    "{\"required_plugins\": [\"gone\"], "
                    "\"tolerate_missing_plugins_annotation\": \"tolerate.example\"}",
                    NULL, "tolerate.example", "true"),
                0);
}

static void test_annotation_that_is_none(void **state)
{
    struct rt_done *done = run(*state, NULL, NULL, "required-plugins.noderesource.dev", "one, two");

    assert_done(done, NRI_E_SYNTAX);
    assert_contains(nri_outcome_text(done->outcome),
                    "annotation \"required-plugins.noderesource.dev\": no \"- \" at byte 0");
}

/* ---- S42 ---- */

static struct rt_done *create(struct rt_fixture *fixture, const char *tolerate, const char *name)
{
    nri_pod *pod = rt_pod("p");

    if (tolerate != NULL)
        assert_int_equal(nri_pod_set_annotation(pod, "tolerate.example", tolerate), 0);
    assert_int_equal(
        nri_pod_set_annotation(pod, "required-plugins.noderesource.dev/container.c1", "[y]"), 0);
    nri_container *container = rt_container(name, "p");
    assert_int_equal(nri_container_set_name(container, name), 0);
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    return done;
}

static void test_S42_no_container_without_a_required_plugin(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_default_validator *validator;

    assert_int_equal(
        nri_default_validator_new(&validator, NULL,
                                  "{\"required_plugins\": [\"x\"], "
                                  "\"tolerate_missing_plugins_annotation\": \"tolerate.example\"}",
                                  NULL),
        0);
    fixture->config.validator = validator;
    rt_start(fixture);
    /* None is connected. */
    struct rt_done *done = create(fixture, NULL, "c2");
    assert_done(done, NRI_E_NOT_FOUND);
    assert_contains(nri_outcome_text(done->outcome), "required plugin \"x\"");
    assert_done(create(fixture, "true", "c2"), 0);
    done = create(fixture, "maybe", "c2");
    assert_done(done, NRI_E_SYNTAX);
    assert_contains(nri_outcome_text(done->outcome), "annotation \"tolerate.example\": \"maybe\"");
    /* One of the two is. */
    (void)rt_plugin(fixture, "10", "x", CREATE, NULL);
    rt_settle(fixture);
    done = create(fixture, NULL, "c1");
    assert_done(done, NRI_E_NOT_FOUND);
    assert_contains(nri_outcome_text(done->outcome), "required plugin \"y\"");
    assert_done(create(fixture, NULL, "c2"), 0);
    nri_default_validator_free(validator);
    fixture->config.validator = NULL;
}

static void test_wrong_configuration(void **state)
{
    static const struct {
        const char *json, *text;
    } table[] = {
        {"[]", "must be an object"},
        {"{\"enabel\": true}", "\"enabel\": no such key"},
        {"{\"enable\": 1}", "default validator:1:12: \"enable\": must be true or false"},
        {"{\"required_plugins\": \"a\"}", "must be an array"},
        {"{\"required_plugins\": [\"a b\"]}", "must be names of plugins"},
        {"{\"tolerate_missing_plugins_annotation\": []}", "must be the key"},
        {"{", "default validator:1"},
    };
    struct nri_default_validator *validator;
    struct nri_error error;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_not_equal(nri_default_validator_new(&validator, NULL, table[i].json, &error), 0);
        assert_contains(error.text, table[i].text);
    }
}

static int collect(void *user, const char *name, size_t length)
{
    char *text = user;

    (void)strncat(text, name, length);
    (void)strcat(text, ";");
    return 0;
}

static void test_lists(void **state)
{
    static const struct {
        const char *text, *names; /* NULL: wrong */
    } table[] = {
        {"", ""},
        {"[]", ""},
        {"[a,b]", "a;b;"},
        {" [ \"a\" , 'b', ] ", "a;b;"},
        {"- a\n-  b\n", "a;b;"},
        {"# none\n- a", "a;"},
        {"- a # one\n#\n  # two\n- b #", "a;b;"},
        {"[#\na]", "a;"},
        {"a", NULL},
        {"[a", NULL},
        {"[a b]", NULL},
        {"[a]]", NULL},
        {"-a", NULL},
        {"-", NULL},
        {"- ", NULL},
        {"[\"a]", NULL},
        {"{a: b}", NULL},
    };
    char names[64];

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        names[0] = '\0';
        const int code =
            nri_required_read(table[i].text, strlen(table[i].text), collect, names, NULL);
        assert_int_equal(code, table[i].names == NULL ? NRI_E_SYNTAX : 0);
        if (table[i].names != NULL)
            assert_string_equal(names, table[i].names);
    }
}

/* More than a stack has room for, if each comment took any. */
static void test_comments_take_no_stack(void **state)
{
    const size_t count = 4u << 20;
    char *text = malloc(2 * count + 4), names[8] = "";

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + 2 * i, "#\n", 2);
    memcpy(text + 2 * count, "- a", 4);
    assert_int_equal(nri_required_read(text, 2 * count + 3, collect, names, NULL), 0);
    assert_string_equal(names, "a;");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_sysctl),
        rt_test(test_sysctl_allowed),
        rt_test(test_disabled),
        rt_test(test_namespace),
        rt_test(test_required_by_configuration),
        rt_test(test_required_by_annotation),
        rt_test(test_required_and_there),
        rt_test(test_tolerated),
        rt_test(test_annotation_that_is_none),
        rt_test(test_S42_no_container_without_a_required_plugin),
        cmocka_unit_test(test_wrong_configuration),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_comments_take_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
