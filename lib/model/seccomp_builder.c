/* SPDX-License-Identifier: Apache-2.0 */
#include "model/seccomp_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/make.h"
#include "model/reader.h"
#include "model/seccomp_names.h"
#include "model/unique.h"

#define ERRNO_MOST    4095
#define ARGUMENT_MOST 5

typedef Nri__Pkg__Api__V1alpha1__LinuxSeccomp seccomp_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxSyscall syscall_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxSeccompArg arg_message;
typedef Nri__Pkg__Api__V1alpha1__OptionalUInt32 optional_uint32;

struct seccomp_store {
    struct nri_builder *builder;
    syscall_message *open; /* where conditions go: what the last call added; NULL when it failed */
    seccomp_message message;
};

static const struct nri_where rule_field = {.name = "seccomp rule"};
static const struct nri_where argument_field = {.name = "seccomp argument"};

nri_seccomp *nri_seccomp_make(struct nri_builder *builder, const seccomp_message *from)
{
    const struct nri_where field = {.name = "seccomp policy"};
    struct seccomp_store *store = nri_arena_alloc(builder->arena, sizeof *store);
    if (store == NULL) {
        (void)nri_builder_refuse_memory(builder, &field);
        return NULL;
    }
    store->builder = builder;
    store->open = NULL;
    if (from != NULL)
        store->message = *from;
    else
        nri__pkg__api__v1alpha1__linux_seccomp__init(&store->message);
    return (void *)&store->message;
}

static struct seccomp_store *store_of(nri_seccomp *seccomp)
{
    char *message = (void *)seccomp;
    return (void *)(message - offsetof(struct seccomp_store, message));
}

static int enter(nri_seccomp *seccomp)
{
    return nri_builder_enter(seccomp != NULL ? store_of(seccomp)->builder : NULL);
}

static int refuse_number(struct nri_builder *builder, int code, const struct nri_where *field,
                         uint64_t number, const char *rule)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return nri_builder_refuse_number(builder, code, field, text, rule);
}

/* ---- the whole ---- */

int nri_seccomp_check(struct nri_builder *builder, const seccomp_message *message)
{
    const struct nri_where action = {.name = "seccomp default action"};
    const struct nri_where number = {.name = "seccomp default errno"};
    const struct nri_where metadata = {.name = "seccomp listener metadata"};
    if (nri_text_length(nri_reader_text(message->default_action)) == 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, &action, "",
                                  "must be set, by nri_seccomp_set_default_action()");
    if (message->default_errno != NULL && !nri_seccomp_action_takes_errno(message->default_action))
        return refuse_number(builder, NRI_E_INVALID, &number, message->default_errno->value,
                             "goes only with the default action SCMP_ACT_ERRNO or SCMP_ACT_TRACE");
    if (nri_text_length(nri_reader_text(message->listener_metadata)) > 0 &&
        nri_text_length(nri_reader_text(message->listener_path)) == 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, &metadata, message->listener_metadata,
                                  "needs a listener path, nri_seccomp_set_listener_path()");
    return 0;
}

/* ---- single values ---- */

static int put_text(struct nri_builder *builder, const struct nri_where *field, const char *text,
                    char **place)
{
    char *made = nri_builder_text(builder, text);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, field);
    *place = made;
    return 0;
}

/* What is put into `made` is not in the message yet. */
static int make_errno(struct nri_builder *builder, const struct nri_where *field, uint32_t number,
                      optional_uint32 **made)
{
    if (number > ERRNO_MOST)
        return refuse_number(builder, NRI_E_RANGE, field, number, "must be 0 to 4095");
    optional_uint32 *value = nri_arena_alloc(builder->arena, sizeof *value);
    if (value == NULL)
        return nri_builder_refuse_memory(builder, field);
    nri__pkg__api__v1alpha1__optional_uint32__init(value);
    value->value = number;
    *made = value;
    return 0;
}

int nri_seccomp_set_default_action(nri_seccomp *seccomp, const char *action)
{
    const struct nri_where field = {.name = "seccomp default action"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    code = nri_check_seccomp_action(store->builder, &field, action);
    return code == 0 ? put_text(store->builder, &field, action, &store->message.default_action)
                     : code;
}

int nri_seccomp_set_default_errno(nri_seccomp *seccomp, uint32_t number)
{
    const struct nri_where field = {.name = "seccomp default errno"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    return make_errno(store->builder, &field, number, &store->message.default_errno);
}

int nri_seccomp_set_listener_path(nri_seccomp *seccomp, const char *path)
{
    const struct nri_where field = {.name = "seccomp listener path"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    code = nri_check_absolute(store->builder, &field, path);
    return code == 0 ? put_text(store->builder, &field, path, &store->message.listener_path) : code;
}

int nri_seccomp_set_listener_metadata(nri_seccomp *seccomp, const char *metadata)
{
    const struct nri_where field = {.name = "seccomp listener metadata"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    code = nri_builder_check_text(store->builder, &field, metadata);
    return code == 0 ? put_text(store->builder, &field, metadata, &store->message.listener_metadata)
                     : code;
}

/* ---- lists of names ---- */

/* Appends a checked name unless it is there. The tables of names are short, so that a search from
 * end to end costs little. */
static int add_name(struct nri_builder *builder, const struct nri_where *field, size_t *count,
                    char ***names, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < *count; i++) {
        if (nri_reader_text_is((*names)[i], name, length))
            return 0;
    }
    char *text = nri_builder_text(builder, name);
    if (text == NULL || nri_list_append(builder, count, names, text) != 0)
        return nri_builder_refuse_memory(builder, field);
    return 0;
}

int nri_seccomp_add_architecture(nri_seccomp *seccomp, const char *architecture)
{
    const struct nri_where field = {.name = "seccomp architecture"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    code = nri_check_seccomp_architecture(store->builder, &field, architecture);
    return code == 0 ? add_name(store->builder, &field, &store->message.n_architectures,
                                &store->message.architectures, architecture)
                     : code;
}

int nri_seccomp_add_flag(nri_seccomp *seccomp, const char *flag)
{
    const struct nri_where field = {.name = "seccomp flag"};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    code = nri_check_seccomp_flag(store->builder, &field, flag);
    return code == 0 ? add_name(store->builder, &field, &store->message.n_flags,
                                &store->message.flags, flag)
                     : code;
}

/* ---- rules ---- */

struct rule_request {
    const char *action;
    const uint32_t *errno_ret;
    const char *const *names;
    size_t name_count;
};

static int check_rule(struct nri_builder *builder, const struct rule_request *request)
{
    const struct nri_where action = {.name = "seccomp rule action"};
    const struct nri_where number = {.name = "seccomp rule errno"};
    const struct nri_where names = {.name = "seccomp rule names"};
    int code = nri_check_seccomp_action(builder, &action, request->action);
    if (code == 0 && request->errno_ret != NULL && !nri_seccomp_action_takes_errno(request->action))
        code = refuse_number(builder, NRI_E_INVALID, &number, *request->errno_ret,
                             "goes only with the action SCMP_ACT_ERRNO or SCMP_ACT_TRACE");
    if (code == 0 && request->name_count == 0)
        code = nri_builder_refuse_number(builder, NRI_E_INVALID, &names, "of count 0",
                                         "must be one system call at least");
    return code;
}

/* Makes the rule and appends it. */
static int make_rule(struct seccomp_store *store, const struct rule_request *request)
{
    const struct nri_where number = {.name = "seccomp rule errno"};
    const struct nri_where names = {.name = "seccomp rule name"};
    struct nri_builder *builder = store->builder;
    optional_uint32 *errno_ret = NULL;
    char **copies;
    int code = check_rule(builder, request);
    if (code == 0 && request->errno_ret != NULL)
        code = make_errno(builder, &number, *request->errno_ret, &errno_ret);
    if (code == 0)
        code = nri_make_texts(builder, &names, request->names, request->name_count, true, &copies);
    if (code != 0)
        return code;
    char *action = nri_builder_text(builder, request->action);
    syscall_message *rule = nri_arena_alloc(builder->arena, sizeof *rule);
    if (action == NULL || rule == NULL)
        return nri_builder_refuse_memory(builder, &rule_field);
    nri__pkg__api__v1alpha1__linux_syscall__init(rule);
    rule->action = action;
    rule->errno_ret = errno_ret;
    rule->names = copies;
    rule->n_names = request->name_count;
    if (nri_list_append(builder, &store->message.n_syscalls, &store->message.syscalls, rule) != 0)
        return nri_builder_refuse_memory(builder, &rule_field);
    store->open = rule;
    return 0;
}

int nri_seccomp_add_syscall(nri_seccomp *seccomp, const char *action, const uint32_t *errno_ret,
                            const char *const *names, size_t name_count)
{
    const struct rule_request request = {action, errno_ret, names, name_count};
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    store->open = NULL; /* a condition that follows a failed rule must not fall to the one before */
    return make_rule(store, &request);
}

static int check_argument(const struct seccomp_store *store, uint32_t argument, uint64_t value_two,
                          const char *op)
{
    const struct nri_where op_field = {.name = "seccomp argument operator"};
    const struct nri_where two_field = {.name = "seccomp argument second value"};
    struct nri_builder *builder = store->builder;
    if (store->open == NULL)
        return nri_builder_fail(builder, NRI_E_STATE,
                                "seccomp argument: there is no rule for it: a call of "
                                "nri_seccomp_add_syscall() that succeeds must come first");
    if (argument > ARGUMENT_MOST)
        return refuse_number(builder, NRI_E_RANGE, &argument_field, argument, "must be 0 to 5");
    int code = nri_check_seccomp_operator(builder, &op_field, op);
    if (code == 0 && value_two != 0 && !nri_seccomp_operator_takes_two(op))
        code = refuse_number(builder, NRI_E_INVALID, &two_field, value_two,
                             "must be 0 but with the operator SCMP_CMP_MASKED_EQ");
    return code;
}

int nri_seccomp_add_syscall_arg(nri_seccomp *seccomp, uint32_t argument, uint64_t value,
                                uint64_t value_two, const char *op)
{
    int code = enter(seccomp);
    if (code != 0)
        return code;
    struct seccomp_store *store = store_of(seccomp);
    struct nri_builder *builder = store->builder;
    code = check_argument(store, argument, value_two, op);
    if (code != 0)
        return code;
    char *op_text = nri_builder_text(builder, op);
    arg_message *message = nri_arena_alloc(builder->arena, sizeof *message);
    if (op_text == NULL || message == NULL)
        return nri_builder_refuse_memory(builder, &argument_field);
    nri__pkg__api__v1alpha1__linux_seccomp_arg__init(message);
    message->index = argument;
    message->value = value;
    message->value_two = value_two;
    message->op = op_text;
    if (nri_list_append(builder, &store->open->n_args, &store->open->args, message) != 0)
        return nri_builder_refuse_memory(builder, &argument_field);
    return 0;
}
