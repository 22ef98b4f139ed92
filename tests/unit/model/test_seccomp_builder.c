/* SPDX-License-Identifier: Apache-2.0 */
/* A seccomp policy that is made. */
#include <stdio.h>

#include "model/seccomp_builder.h"
#include "refusal.h"
#include "wire/message.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxSeccomp seccomp_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxSyscall syscall_message;

static const char *const two_names[] = {"read", "write"};
static const uint32_t eperm = 1;

/* A policy of a builder of its own. */
struct policy {
    struct nri_builder builder;
    nri_seccomp *seccomp;
};

static void open_policy(struct fixture *fixture, struct policy *policy, const seccomp_message *from)
{
    nri_builder_init(&policy->builder, &fixture->arena, fixture_seed, 0, NULL);
    policy->seccomp = nri_seccomp_make(&policy->builder, from);
    assert_non_null(policy->seccomp);
}

static const seccomp_message *message_of(const struct policy *policy)
{
    return (const void *)policy->seccomp;
}

static void test_the_whole(void **state)
{
    struct policy p;
    uint32_t number;
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    OK(nri_seccomp_set_default_action(s, "SCMP_ACT_ERRNO"));
    OK(nri_seccomp_set_default_errno(s, 0));
    OK(nri_seccomp_set_default_errno(s, 4095));
    OK(nri_seccomp_set_listener_path(s, "/run/agent.sock"));
    OK(nri_seccomp_set_listener_metadata(s, "who"));
    OK(nri_seccomp_add_architecture(s, "SCMP_ARCH_X86_64"));
    OK(nri_seccomp_add_flag(s, "SECCOMP_FILTER_FLAG_LOG"));
    OK(nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, two_names, 2));
    OK(nri_seccomp_add_syscall(s, "SCMP_ACT_ERRNO", &eperm, two_names + 1, 1));
    OK(nri_seccomp_add_syscall_arg(s, 5, UINT64_MAX, 7, "SCMP_CMP_MASKED_EQ"));
    OK(nri_seccomp_add_syscall_arg(s, 0, 0, 0, "SCMP_CMP_NE"));
    OK(nri_seccomp_check(&p.builder, message_of(&p)));
    const nri_seccomp *read = (const void *)fixture_round_trip(*state, s);
    assert_string_equal(nri_seccomp_default_action(read), "SCMP_ACT_ERRNO");
    assert_true(nri_seccomp_default_errno(read, &number));
    assert_int_equal(number, 4095);
    assert_string_equal(nri_seccomp_listener_path(read), "/run/agent.sock");
    assert_string_equal(nri_seccomp_listener_metadata(read), "who");
    assert_string_equal(nri_seccomp_architecture(read, 0), "SCMP_ARCH_X86_64");
    assert_string_equal(nri_seccomp_flag(read, 0), "SECCOMP_FILTER_FLAG_LOG");
    assert_int_equal(nri_seccomp_syscall_count(read), 2);
    const nri_syscall *rule = nri_seccomp_syscall_at(read, 0);
    assert_int_equal(nri_syscall_name_count(rule), 2);
    assert_string_equal(nri_syscall_name(rule, 0), "read");
    assert_string_equal(nri_syscall_name(rule, 1), "write");
    assert_string_equal(nri_syscall_action(rule), "SCMP_ACT_ALLOW");
    assert_false(nri_syscall_errno(rule, NULL));
    assert_int_equal(nri_syscall_arg_count(rule), 0);
}

static void test_conditions(void **state)
{
    struct policy p;
    uint32_t argument;
    uint64_t value, two;
    const char *op;
    open_policy(*state, &p, NULL);
    OK(nri_seccomp_add_syscall(p.seccomp, "SCMP_ACT_TRACE", &eperm, two_names, 1));
    OK(nri_seccomp_add_syscall_arg(p.seccomp, 5, UINT64_MAX, 7, "SCMP_CMP_MASKED_EQ"));
    OK(nri_seccomp_add_syscall_arg(p.seccomp, 0, 1, 0, "SCMP_CMP_NE"));
    OK(nri_seccomp_add_syscall(p.seccomp, "SCMP_ACT_LOG", NULL, two_names, 1));
    OK(nri_seccomp_add_syscall_arg(p.seccomp, 1, 2, 0, "SCMP_CMP_GT"));
    const nri_seccomp *read = (const void *)fixture_round_trip(*state, p.seccomp);
    const nri_syscall *rule = nri_seccomp_syscall_at(read, 0);
    assert_int_equal(nri_syscall_arg_count(rule), 2);
    assert_true(nri_syscall_arg_at(rule, 0, &argument, &value, &two, &op));
    assert_int_equal(argument, 5);
    assert_true(value == UINT64_MAX);
    assert_int_equal(two, 7);
    assert_string_equal(op, "SCMP_CMP_MASKED_EQ");
    assert_true(nri_syscall_arg_at(rule, 1, &argument, &value, &two, &op));
    assert_int_equal(argument, 0);
    assert_string_equal(op, "SCMP_CMP_NE");
    rule = nri_seccomp_syscall_at(read, 1);
    assert_int_equal(nri_syscall_arg_count(rule), 1);
    assert_true(nri_syscall_arg_at(rule, 0, &argument, &value, NULL, NULL));
    assert_int_equal(argument, 1);
    assert_int_equal(value, 2);
}

/* Written out again, so that a name lost from a table is seen. */
static const char *const actions[] = {"KILL",  "KILL_PROCESS", "KILL_THREAD", "TRAP",  "ERRNO",
                                      "TRACE", "ALLOW",        "LOG",         "NOTIFY"};
static const char *const operators[] = {"NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"};
static const char *const architectures[] = {
    "X86",    "X86_64",   "X32",         "ARM",         "AARCH64", "MIPS",    "MIPS64", "MIPS64N32",
    "MIPSEL", "MIPSEL64", "MIPSEL64N32", "PPC",         "PPC64",   "PPC64LE", "S390",   "S390X",
    "PARISC", "PARISC64", "RISCV64",     "LOONGARCH64", "M68K",    "SH",      "SHEB"};
static const char *const flags[] = {"TSYNC", "LOG", "SPEC_ALLOW", "WAIT_KILLABLE_RECV"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *joined(char out[64], const char *prefix, const char *name)
{
    snprintf(out, 64, "%s%s", prefix, name);
    return out;
}

static void test_every_name(void **state)
{
    struct policy p;
    char name[64];
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    for (size_t i = 0; i < COUNT(actions); i++) {
        joined(name, "SCMP_ACT_", actions[i]);
        OK(nri_seccomp_set_default_action(s, name));
        assert_string_equal(message_of(&p)->default_action, name);
        OK(nri_seccomp_add_syscall(s, name, NULL, two_names, 1));
        assert_string_equal(message_of(&p)->syscalls[i]->action, name);
    }
    for (size_t i = 0; i < COUNT(operators); i++) {
        joined(name, "SCMP_CMP_", operators[i]);
        OK(nri_seccomp_add_syscall_arg(s, 0, 0, 0, name));
        assert_string_equal(message_of(&p)->syscalls[COUNT(actions) - 1]->args[i]->op, name);
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(architectures); i++) {
            OK(nri_seccomp_add_architecture(s, joined(name, "SCMP_ARCH_", architectures[i])));
            assert_string_equal(message_of(&p)->architectures[i], name);
        }
        for (size_t i = 0; i < COUNT(flags); i++) {
            OK(nri_seccomp_add_flag(s, joined(name, "SECCOMP_FILTER_FLAG_", flags[i])));
            assert_string_equal(message_of(&p)->flags[i], name);
        }
    }
    assert_int_equal(message_of(&p)->n_architectures, COUNT(architectures));
    assert_int_equal(message_of(&p)->n_flags, COUNT(flags));
}

/* ---- refusals ---- */

/* A call that fails with this text, and changes nothing. */
#define REFUSES(policy, call, expected, message)                                                   \
    do {                                                                                           \
        size_t before, after;                                                                      \
        nri_error_clear(&(policy)->builder.error);                                                 \
        assert_int_equal(nri_message_size(&message_of(policy)->base, &before, NULL), 0);           \
        assert_int_equal(call, expected);                                                          \
        assert_int_equal((policy)->builder.error.code, expected);                                  \
        assert_string_equal((policy)->builder.error.text, message);                                \
        assert_int_equal(nri_message_size(&message_of(policy)->base, &after, NULL), 0);            \
        assert_int_equal(before, after);                                                           \
    } while (0)

#define ACTION_RULE                                                                                \
    "must be SCMP_ACT_ and one of ALLOW, ERRNO, KILL, KILL_PROCESS, KILL_THREAD, LOG, NOTIFY, "    \
    "TRACE, TRAP"
#define OPERATOR_RULE "must be SCMP_CMP_ and one of NE, LT, LE, EQ, GE, GT, MASKED_EQ"
#define ARCH_RULE                                                                                  \
    "must be an architecture of the OCI runtime spec, such as SCMP_ARCH_X86_64, "                  \
    "SCMP_ARCH_AARCH64 or SCMP_ARCH_RISCV64"
#define FLAG_RULE                                                                                  \
    "must be SECCOMP_FILTER_FLAG_ and one of TSYNC, LOG, SPEC_ALLOW, WAIT_KILLABLE_RECV"

static void test_refused_values(void **state)
{
    struct policy p;
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    REFUSES(&p, nri_seccomp_set_default_action(s, "ERRNO"), NRI_E_INVALID,
            "seccomp default action \"ERRNO\": " ACTION_RULE);
    REFUSES(&p, nri_seccomp_set_default_action(s, ""), NRI_E_INVALID,
            "seccomp default action \"\": " ACTION_RULE);
    REFUSES(&p, nri_seccomp_set_default_action(s, NULL), NRI_E_INVALID,
            "seccomp default action NULL: must be a text");
    REFUSES(&p, nri_seccomp_set_default_action(s, "\xff"), NRI_E_UTF8,
            "seccomp default action \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSES(&p, nri_seccomp_set_default_errno(s, 4096), NRI_E_RANGE,
            "seccomp default errno 4096: must be 0 to 4095");
    REFUSES(&p, nri_seccomp_set_listener_path(s, "run/agent"), NRI_E_INVALID,
            "seccomp listener path \"run/agent\": must be an absolute path");
    REFUSES(&p, nri_seccomp_set_listener_path(s, ""), NRI_E_INVALID,
            "seccomp listener path \"\": must not be empty");
    REFUSES(&p, nri_seccomp_set_listener_path(s, NULL), NRI_E_INVALID,
            "seccomp listener path NULL: must be a text");
    REFUSES(&p, nri_seccomp_set_listener_metadata(s, NULL), NRI_E_INVALID,
            "seccomp listener metadata NULL: must be a text");
    REFUSES(&p, nri_seccomp_set_listener_metadata(s, "a\xff"), NRI_E_UTF8,
            "seccomp listener metadata \"a\\xff\": must be UTF-8; the byte at offset 1 is not");
    REFUSES(&p, nri_seccomp_add_architecture(s, "X86"), NRI_E_INVALID,
            "seccomp architecture \"X86\": " ARCH_RULE);
    REFUSES(&p, nri_seccomp_add_architecture(s, NULL), NRI_E_INVALID,
            "seccomp architecture NULL: must be a text");
    REFUSES(&p, nri_seccomp_add_flag(s, "SECCOMP_FILTER_FLAG_NEW_LISTENER"), NRI_E_INVALID,
            "seccomp flag \"SECCOMP_FILTER_FLAG_NEW_LISTENER\": " FLAG_RULE);
    REFUSES(&p, nri_seccomp_add_flag(s, NULL), NRI_E_INVALID, "seccomp flag NULL: must be a text");
}

static void test_refused_rules(void **state)
{
    static const char *const with_empty[] = {"read", ""}, *const with_null[] = {NULL};
    const uint32_t above = 4096;
    struct policy p;
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    REFUSES(&p, nri_seccomp_add_syscall(s, "allow", NULL, two_names, 1), NRI_E_INVALID,
            "seccomp rule action \"allow\": " ACTION_RULE);
    REFUSES(&p, nri_seccomp_add_syscall(s, NULL, NULL, two_names, 1), NRI_E_INVALID,
            "seccomp rule action NULL: must be a text");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ERRNO", &above, two_names, 1), NRI_E_RANGE,
            "seccomp rule errno 4096: must be 0 to 4095");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", &eperm, two_names, 1), NRI_E_INVALID,
            "seccomp rule errno 1: goes only with the action SCMP_ACT_ERRNO or SCMP_ACT_TRACE");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, two_names, 0), NRI_E_INVALID,
            "seccomp rule names of count 0: must be one system call at least");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, NULL, 2), NRI_E_INVALID,
            "seccomp rule name NULL: must be as many texts as the count says");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, with_empty, 2), NRI_E_INVALID,
            "seccomp rule name[1] \"\": must not be empty");
    REFUSES(&p, nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, with_null, 1), NRI_E_INVALID,
            "seccomp rule name[0] NULL: must be a text");
    assert_int_equal(message_of(&p)->n_syscalls, 0);
}

#define NO_RULE                                                                                    \
    "seccomp argument: there is no rule for it: a call of nri_seccomp_add_syscall() that "         \
    "succeeds must come first"

static void test_refused_conditions(void **state)
{
    struct policy p;
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 0, 0, 0, "SCMP_CMP_EQ"), NRI_E_STATE, NO_RULE);
    OK(nri_seccomp_add_syscall(s, "SCMP_ACT_ALLOW", NULL, two_names, 1));
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 6, 0, 0, "SCMP_CMP_EQ"), NRI_E_RANGE,
            "seccomp argument 6: must be 0 to 5");
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 0, 0, 0, "=="), NRI_E_INVALID,
            "seccomp argument operator \"==\": " OPERATOR_RULE);
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 0, 0, 0, NULL), NRI_E_INVALID,
            "seccomp argument operator NULL: must be a text");
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 0, 1, 2, "SCMP_CMP_EQ"), NRI_E_INVALID,
            "seccomp argument second value 2: must be 0 but with the operator SCMP_CMP_MASKED_EQ");
    assert_int_equal(message_of(&p)->syscalls[0]->n_args, 0);
    /* A refused condition leaves the rule open, a refused rule does not. */
    OK(nri_seccomp_add_syscall_arg(s, 0, 1, 0, "SCMP_CMP_EQ"));
    assert_int_equal(nri_seccomp_add_syscall(s, "x", NULL, two_names, 1), NRI_E_INVALID);
    REFUSES(&p, nri_seccomp_add_syscall_arg(s, 0, 0, 0, "SCMP_CMP_EQ"), NRI_E_STATE, NO_RULE);
    assert_int_equal(message_of(&p)->syscalls[0]->n_args, 1);
}

static void test_check(void **state)
{
    struct policy p;
    open_policy(*state, &p, NULL);
    nri_seccomp *s = p.seccomp;
    REFUSES(&p, nri_seccomp_check(&p.builder, message_of(&p)), NRI_E_INVALID,
            "seccomp default action \"\": must be set, by nri_seccomp_set_default_action()");
    OK(nri_seccomp_set_default_action(s, "SCMP_ACT_ALLOW"));
    OK(nri_seccomp_check(&p.builder, message_of(&p)));
    OK(nri_seccomp_set_default_errno(s, 5));
    REFUSES(&p, nri_seccomp_check(&p.builder, message_of(&p)), NRI_E_INVALID,
            "seccomp default errno 5: goes only with the default action SCMP_ACT_ERRNO or "
            "SCMP_ACT_TRACE");
    OK(nri_seccomp_set_default_action(s, "SCMP_ACT_TRACE"));
    OK(nri_seccomp_check(&p.builder, message_of(&p)));
    OK(nri_seccomp_set_listener_metadata(s, "who"));
    REFUSES(&p, nri_seccomp_check(&p.builder, message_of(&p)), NRI_E_INVALID,
            "seccomp listener metadata \"who\": needs a listener path, "
            "nri_seccomp_set_listener_path()");
    OK(nri_seccomp_set_listener_metadata(s, ""));
    OK(nri_seccomp_check(&p.builder, message_of(&p)));
    OK(nri_seccomp_set_listener_metadata(s, "who"));
    OK(nri_seccomp_set_listener_path(s, "/a"));
    OK(nri_seccomp_check(&p.builder, message_of(&p)));
}

/* The adjustment asks for the check. */
static void test_a_policy_of_an_adjustment(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    nri_seccomp *s = nri_adjustment_edit_seccomp_policy(a);
    assert_non_null(s);
    assert_ptr_equal(nri_adjustment_edit_seccomp_policy(a), s);
    assert_int_equal(nri_adjustment_check(a), NRI_E_INVALID);
    assert_string_equal(
        nri_adjustment_error_text(a),
        "seccomp default action \"\": must be set, by nri_seccomp_set_default_action()");
    nri_adjustment_clear_error(a);
    OK(nri_seccomp_set_default_action(s, "SCMP_ACT_LOG"));
    OK(nri_adjustment_check(a));
    assert_string_equal(fixture_adjustment(*state, a)->linux->seccomp_policy->default_action,
                        "SCMP_ACT_LOG");
    nri_adjustment_seal(a);
    assert_int_equal(nri_seccomp_set_default_action(s, "SCMP_ACT_LOG"), NRI_E_STATE);
    assert_int_equal(nri_seccomp_set_default_errno(s, 1), NRI_E_STATE);
    assert_int_equal(nri_seccomp_add_architecture(s, "SCMP_ARCH_SH"), NRI_E_STATE);
    assert_int_equal(nri_seccomp_add_flag(s, "SECCOMP_FILTER_FLAG_LOG"), NRI_E_STATE);
    assert_int_equal(nri_seccomp_set_listener_path(s, "/a"), NRI_E_STATE);
    assert_int_equal(nri_seccomp_set_listener_metadata(s, "a"), NRI_E_STATE);
    assert_int_equal(nri_seccomp_add_syscall(s, "SCMP_ACT_LOG", NULL, two_names, 1), NRI_E_STATE);
    assert_int_equal(nri_seccomp_add_syscall_arg(s, 0, 0, 0, "SCMP_CMP_EQ"), NRI_E_STATE);
}

/* What was there stays, grows, and is no rule that was just added. */
static void test_adopt(void **state)
{
    struct policy first, second;
    open_policy(*state, &first, NULL);
    OK(nri_seccomp_set_default_action(first.seccomp, "SCMP_ACT_LOG"));
    OK(nri_seccomp_add_architecture(first.seccomp, "SCMP_ARCH_SH"));
    OK(nri_seccomp_add_syscall(first.seccomp, "SCMP_ACT_LOG", NULL, two_names, 1));
    const ProtobufCMessage *was = (const void *)first.seccomp;
    ProtobufCMessage *copy = nri_message_copy(was, &((struct fixture *)*state)->arena);
    assert_non_null(copy);
    open_policy(*state, &second, (void *)copy);
    assert_int_equal(nri_seccomp_add_syscall_arg(second.seccomp, 0, 0, 0, "SCMP_CMP_EQ"),
                     NRI_E_STATE);
    OK(nri_seccomp_add_architecture(second.seccomp, "SCMP_ARCH_SH"));
    OK(nri_seccomp_add_architecture(second.seccomp, "SCMP_ARCH_SHEB"));
    for (int i = 0; i < 10; i++)
        OK(nri_seccomp_add_syscall(second.seccomp, "SCMP_ACT_ALLOW", NULL, two_names, 2));
    const seccomp_message *message = fixture_round_trip(*state, second.seccomp);
    assert_string_equal(message->default_action, "SCMP_ACT_LOG");
    assert_int_equal(message->n_architectures, 2);
    assert_int_equal(message->n_syscalls, 11);
    assert_string_equal(message->syscalls[0]->action, "SCMP_ACT_LOG");
    assert_string_equal(message->syscalls[10]->action, "SCMP_ACT_ALLOW");
    assert_int_equal(message_of(&first)->n_syscalls, 1);
}

/* ---- memory that ends ---- */

#define STEPS 64

static int step(nri_seccomp *s, int number)
{
    switch (number % 8) {
    case 0:
        return nri_seccomp_set_default_action(s, "SCMP_ACT_ERRNO");
    case 1:
        return nri_seccomp_set_default_errno(s, (uint32_t)number);
    case 2:
        return nri_seccomp_set_listener_path(s, "/path");
    case 3:
        return nri_seccomp_set_listener_metadata(s, "text");
    case 4:
        return nri_seccomp_add_architecture(s, number < 32 ? "SCMP_ARCH_SH" : "SCMP_ARCH_ARM");
    case 5:
        return nri_seccomp_add_flag(s, number < 32 ? "SECCOMP_FILTER_FLAG_LOG"
                                                   : "SECCOMP_FILTER_FLAG_TSYNC");
    case 6:
        return nri_seccomp_add_syscall(s, "SCMP_ACT_TRACE", &eperm, two_names, 2);
    default:
        return nri_seccomp_add_syscall_arg(s, 1, 2, 0, "SCMP_CMP_LE");
    }
}

struct bytes {
    uint8_t data[4096];
    size_t size;
};

static void encode(const nri_seccomp *s, struct bytes *bytes)
{
    const ProtobufCMessage *message = (const void *)s;
    assert_int_equal(nri_message_size(message, &bytes->size, NULL), 0);
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(message, bytes->data);
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* The steps; one that fails with `expected` changes nothing and, with `again`, works then. */
static int run(nri_seccomp *s, int expected, bool again)
{
    static struct bytes before, after;
    int failures = 0;
    for (int number = 0; number < STEPS; number++) {
        encode(s, &before);
        int code = step(s, number);
        if (code == 0)
            continue;
        failures++;
        if (again || code != NRI_E_STATE) /* a condition whose rule did not fit */
            assert_int_equal(code, expected);
        encode(s, &after);
        check_same(&before, &after);
        if (again)
            OK(step(s, number));
    }
    return failures;
}

static void test_each_allocation(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    static struct bytes whole, partly;
    bool fired = true;
    size_t n = 0;
    for (; fired; n++) {
        struct nri_arena arena;
        struct nri_builder builder;
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX); /* every piece is an allocation */
        nri_builder_init(&builder, &arena, fixture_seed, 0, NULL);
        fail_alloc_arm(&fixture->memory, n);
        nri_seccomp *s = nri_seccomp_make(&builder, NULL);
        int failures = s == NULL ? 1 : 0;
        if (s == NULL) {
            assert_string_equal(builder.error.text, "seccomp policy: out of memory");
            s = nri_seccomp_make(&builder, NULL);
        }
        assert_non_null(s);
        failures += run(s, NRI_E_NOMEM, true);
        fired = n == 0 || fixture->memory.fired;
        assert_int_equal(failures, fixture->memory.fired ? 1 : 0);
        encode(s, n == 0 ? &whole : &partly);
        if (n > 0)
            check_same(&whole, &partly);
        nri_arena_fini(&arena);
    }
    assert_true(n > STEPS);
    print_message("%zu points of failure\n", n - 2);
}

static void test_each_limit(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    int failures = 1;
    size_t runs = 0;
    for (size_t limit = 1024; failures > 0; limit += 256, runs++) {
        struct nri_arena arena;
        struct nri_builder builder;
        nri_arena_init(&arena, &alloc, 64, limit);
        nri_builder_init(&builder, &arena, fixture_seed, 0, NULL);
        nri_seccomp *s = nri_seccomp_make(&builder, NULL);
        assert_non_null(s);
        failures = run(s, NRI_E_LIMIT, false);
        assert_true(arena.taken <= limit);
        if (failures > 0)
            assert_non_null(strstr(builder.error.text, ": does not fit into the memory limit of "));
        nri_arena_fini(&arena);
    }
    assert_true(runs > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_the_whole),     WITH_FIXTURE(test_conditions),
        WITH_FIXTURE(test_every_name),    WITH_FIXTURE(test_refused_values),
        WITH_FIXTURE(test_refused_rules), WITH_FIXTURE(test_refused_conditions),
        WITH_FIXTURE(test_check),         WITH_FIXTURE(test_a_policy_of_an_adjustment),
        WITH_FIXTURE(test_adopt),         WITH_FIXTURE(test_each_allocation),
        WITH_FIXTURE(test_each_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
