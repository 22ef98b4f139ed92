/* SPDX-License-Identifier: Apache-2.0 */
/* Case U06: a key that is unknown, misplaced or there twice is an error, not something that has no
 * effect. */
#include "config_fixture.h"

#include "app/config_key.h"

static void test_U06_unknown(void **state)
{
    (void)state;
    settings_bad("{\"flag\": true,\n \"wrokers\": 5}",
                 "conf:2: wrokers: no such key; did you mean workers?");
    settings_bad("flag: true\n\nWorkers:\n  5\n",
                 "conf:3: Workers: no such key; did you mean workers?");
    settings_bad("timeouts:\n  connect: 1s\n  requst: 1s\n",
                 "conf:3: timeouts.requst: no such key; did you mean timeouts.request?");
    settings_bad("timeout:\n  request: 1s\n",
                 "conf:1: timeout: no such key; did you mean timeouts?");
    settings_bad("pool:\n  limit:\n    memory: 1Gi\n",
                 "conf:2: pool.limit: no such key; did you mean pool.limits?");
    /* Misplaced and misspelled. */
    settings_bad("requests: 1s\n", "conf:1: requests: no such key; did you mean timeouts.request?");
}

static void test_U06_unknown_without_a_near_one(void **state)
{
    (void)state;
    settings_bad("elephant: 5\n",
                 "conf:1: elephant: no such key; there are flag, workers, ratio, greeting, token, "
                 "timeouts, pool, mode, names, rules");
    settings_bad("pool:\n  elephant: 5\n",
                 "conf:2: pool.elephant: no such key; there are cpus, limits");
    settings_bad("{\"\": 5}",
                 "conf:1: \"\": no such key; there are flag, workers, ratio, greeting, "
                 "token, timeouts, pool, mode, names, rules");
    /* What could pretend to be something else is shown in quotes, and not without end. */
    settings_bad("{\"x: \\n\\u001b[31m\": 5}",
                 "conf:1: \"x: \\x0a\\x1b[31m\": no such key; there are flag, workers, ratio, "
                 "greeting, token, timeouts, pool, mode, names, rules");
    char text[600] = "{\"";
    memset(text + 2, 'z', 500);
    strcpy(text + 502, "\": 1}");
    settings_bad(text,
                 "conf:1: \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...\": "
                 "no such key; there are flag, workers, ratio, greeting, token, timeouts, pool, "
                 "mode, names, rules");
}

static void test_U06_misplaced(void **state)
{
    (void)state;
    settings_bad(
        "flag: true\nrequest: 5s\n",
        "conf:2: request: is misplaced: it belongs into \"timeouts\", as timeouts.request");
    settings_bad("{\"timeouts\": {\n\"flag\": true}}",
                 "conf:2: timeouts.flag: is misplaced: it belongs to the outermost level");
    settings_bad("pool:\n  memory: 1Gi\n", "conf:2: pool.memory: is misplaced: it belongs into "
                                           "\"pool.limits\", as pool.limits.memory");
    settings_bad("limits:\n  memory: 1Gi\n",
                 "conf:1: limits: is misplaced: it belongs into \"pool\", as pool.limits");
    /* A key with the point in it is not one within an object. */
    settings_bad("timeouts.request: 5s\n",
                 "conf:1: timeouts.request: is misplaced: write \"request\" within \"timeouts\"");
    settings_bad("pool:\n  limits.memory: 5\n",
                 "conf:2: pool.limits.memory: is misplaced: write \"memory\" within \"limits\"");
}

static void test_U06_no_object(void **state)
{
    (void)state;
    settings_bad("flag: true\ntimeouts: 5s\n",
                 "conf:2: timeouts: must be an object with keys, not a text");
    settings_bad("{\"timeouts\": [5]}",
                 "conf:1: timeouts: must be an object with keys, not a list");
    settings_bad("- flag\n", "conf:1: must be an object with keys, not a list");
    settings_bad("\n\nflag\n", "conf:3: must be an object with keys, not a text");
}

static void test_twice(void **state)
{
    (void)state;
    settings_bad("flag: true\nworkers: 5\nflag: true\n",
                 "conf:3: flag: is there twice; the first is in line 1");
    settings_bad("rules:\n  - {a: 1, b: 2,\n     a: 3}\n",
                 "conf:3: a: is there twice; the first is in line 2");
    settings_bad("{\"flag\": true,\n \"flag\": true}",
                 "conf:2:2: the key \"flag\" is in this object already");
    /* Keys of different objects do not meet, nor does a null. */
    struct app_config *config;
    settings_good(&config, "rules: [{a: 1}, {a: 2}]\nworkers: null\n");
    app_config_free(config);
    settings_bad("workers: null\nworkers: 1\n",
                 "conf:2: workers: is there twice; the first is in line 1");
}

static void test_distance(void **state)
{
    (void)state;
    char longest[APP_KEY_LENGTH + 2];
    memset(longest, 'x', sizeof longest);
    longest[APP_KEY_LENGTH + 1] = '\0';
    assert_int_equal(app_key_distance("", ""), 0);
    assert_int_equal(app_key_distance("", "abc"), 3);
    assert_int_equal(app_key_distance("abc", ""), 3);
    assert_int_equal(app_key_distance("abc", "abc"), 0);
    assert_int_equal(app_key_distance("ABC", "abc"), 0);
    assert_int_equal(app_key_distance("abc", "abd"), 1);
    assert_int_equal(app_key_distance("abc", "ac"), 1);
    assert_int_equal(app_key_distance("ac", "abc"), 1);
    assert_int_equal(app_key_distance("abcd", "abdc"), 1);
    assert_int_equal(app_key_distance("abcd", "badc"), 2);
    assert_int_equal(app_key_distance("kitten", "sitting"), 3);
    assert_true(app_key_distance(longest, "x") == SIZE_MAX);
    assert_true(app_key_distance("x", longest) == SIZE_MAX);
    longest[APP_KEY_LENGTH] = '\0';
    assert_int_equal(app_key_distance(longest, "x"), APP_KEY_LENGTH - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_U06_unknown),   cmocka_unit_test(test_U06_unknown_without_a_near_one),
        cmocka_unit_test(test_U06_misplaced), cmocka_unit_test(test_U06_no_object),
        cmocka_unit_test(test_twice),         cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
