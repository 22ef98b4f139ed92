/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks come in the order that NRI's own validator has: hooks, seccomp, namespaces, required
 * plugins, sysctl; the first that fails counts.
 */
#include "runtime/default_validator.h"

#include <string.h>

#include <nri/annotation.h>
#include <nri/document.h>
#include <nri/field.h>

#include "model/model.h"
#include "model/reader.h"
#include "runtime/required.h"

#define REQUIRED_KEY "required-plugins.noderesource.dev"
#define CONFIG_NAME  "default validator"

typedef Nri__Pkg__Api__V1alpha1__ValidateContainerAdjustmentRequest validate_request;
typedef Nri__Pkg__Api__V1alpha1__FieldOwners field_owners;

struct settings {
    bool enable;
    bool hooks, runtime_default_seccomp, unconfined_seccomp, custom_seccomp, namespaces, sysctl;
};

struct nri_default_validator {
    struct nri_alloc alloc;
    nri_document *document; /* the texts of the configuration live in it */
    struct settings settings;
    const nri_value *required;
    const char *tolerate;
};

/* ---- the configuration ---- */

static const struct {
    const char *name;
    size_t offset;
} switches[] = {
    {"enable", offsetof(struct settings, enable)},
    {"reject_oci_hook_adjustment", offsetof(struct settings, hooks)},
    {"reject_runtime_default_seccomp_adjustment",
     offsetof(struct settings, runtime_default_seccomp)},
    {"reject_unconfined_seccomp_adjustment", offsetof(struct settings, unconfined_seccomp)},
    {"reject_custom_seccomp_adjustment", offsetof(struct settings, custom_seccomp)},
    {"reject_namespace_adjustment", offsetof(struct settings, namespaces)},
    {"reject_sysctl_adjustment", offsetof(struct settings, sysctl)},
};

static int wrong(const nri_value *value, const char *key, const char *what, struct nri_error *error)
{
    return nri_error_set_at(error, NRI_E_INVALID, CONFIG_NAME, nri_value_line(value),
                            nri_value_column(value), "\"%s\": %s", key, what);
}

static int take_switch(struct nri_default_validator *validator, const char *key,
                       const nri_value *value, bool *known, struct nri_error *error)
{
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        bool on;
        if (strcmp(key, switches[i].name) != 0)
            continue;
        *known = true;
        if (!nri_value_bool(value, &on))
            return wrong(value, key, "must be true or false", error);
        memcpy((char *)&validator->settings + switches[i].offset, &on, sizeof on);
        return 0;
    }
    return 0;
}

static int take_required(struct nri_default_validator *validator, const nri_value *value,
                         struct nri_error *error)
{
    if (nri_value_get_type(value) != NRI_VALUE_ARRAY)
        return wrong(value, "required_plugins", "must be an array of plugin names", error);
    for (size_t i = 0; i < nri_value_count(value); i++) {
        const nri_value *name = nri_value_at(value, i);
        if (nri_value_get_type(name) != NRI_VALUE_STRING ||
            nri_identity_check_name(nri_value_text(name, NULL), NULL) != 0)
            return wrong(name, "required_plugins",
                         "must be names of plugins, \"NAME\" or \"NN-NAME\"", error);
    }
    validator->required = value;
    return 0;
}

static int take_member(struct nri_default_validator *validator, const char *key,
                       const nri_value *value, struct nri_error *error)
{
    bool known = false;
    const int code = take_switch(validator, key, value, &known, error);

    if (code != 0 || known)
        return code;
    if (strcmp(key, "required_plugins") == 0)
        return take_required(validator, value, error);
    if (strcmp(key, "tolerate_missing_plugins_annotation") == 0) {
        if (nri_value_get_type(value) != NRI_VALUE_STRING)
            return wrong(value, key, "must be the key of an annotation", error);
        validator->tolerate = nri_value_text(value, NULL);
        return 0;
    }
    return wrong(value, key,
                 "no such key: there are enable, reject_oci_hook_adjustment, "
                 "reject_runtime_default_seccomp_adjustment, reject_unconfined_seccomp_adjustment, "
                 "reject_custom_seccomp_adjustment, reject_namespace_adjustment, "
                 "reject_sysctl_adjustment, required_plugins, tolerate_missing_plugins_annotation",
                 error);
}

static int read_config(struct nri_default_validator *validator,
                       const struct nri_allocator *allocator, const char *json,
                       struct nri_error *error)
{
    const struct nri_json_options options = {
        .size = sizeof options, .allocator = allocator, .name = CONFIG_NAME};
    nri_error *fault = NULL;
    int code = nri_document_parse(json, strlen(json), &options, &validator->document, &fault);

    if (code != 0) {
        nri_error_set(error, code, "%s", nri_error_get_text(fault));
        nri_error_free(fault);
        return code;
    }
    const nri_value *root = nri_document_root(validator->document);
    if (nri_value_get_type(root) != NRI_VALUE_OBJECT)
        return nri_error_set(error, NRI_E_INVALID, CONFIG_NAME ": must be an object");
    for (size_t i = 0; code == 0 && i < nri_value_count(root); i++) {
        const char *key;
        const nri_value *value = nri_value_member_at(root, i, &key);
        code = take_member(validator, key, value, error);
    }
    return code;
}

int nri_default_validator_new(struct nri_default_validator **validator,
                              const struct nri_allocator *allocator, const char *json,
                              struct nri_error *error)
{
    struct nri_alloc alloc;
    int code = nri_alloc_resolve(&alloc, allocator);

    if (code != 0)
        return nri_error_set(error, code, "allocator: %s", nri_strerror(code));
    struct nri_default_validator *v = nri_alloc_zero(&alloc, sizeof *v);
    if (v == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for the default validator");
    v->alloc = alloc;
    v->settings.enable = true;
    if (json != NULL && json[0] != '\0')
        code = read_config(v, allocator, json, error);
    if (code != 0) {
        nri_default_validator_free(v);
        return code;
    }
    *validator = v;
    return 0;
}

struct nri_default_validator *nri_default_validator_free(struct nri_default_validator *validator)
{
    if (validator == NULL)
        return NULL;
    const struct nri_alloc alloc = validator->alloc;
    nri_document_free(validator->document);
    nri_alloc_release(&alloc, validator);
    return NULL;
}

/* ---- owners ---- */

static const field_owners *owners_of(const validate_request *request)
{
    const char *id = nri_reader_text(request->container == NULL ? NULL : request->container->id);

    for (size_t i = 0; request->owners != NULL && i < request->owners->n_owners; i++) {
        if (strcmp(nri_reader_text(request->owners->owners[i]->key), id) == 0)
            return request->owners->owners[i]->value;
    }
    return NULL;
}

static const char *simple_owner(const field_owners *owners, int field)
{
    for (size_t i = 0; owners != NULL && i < owners->n_simple; i++) {
        if ((int)owners->simple[i]->key == field)
            return nri_reader_text(owners->simple[i]->value);
    }
    return NULL;
}

/* The first plugin that owns a key of the field, with the key. */
static const char *compound_owner(const field_owners *owners, int field, const char **key)
{
    for (size_t i = 0; owners != NULL && i < owners->n_compound; i++) {
        const Nri__Pkg__Api__V1alpha1__CompoundFieldOwners *keys = owners->compound[i]->value;
        if ((int)owners->compound[i]->key != field || keys == NULL || keys->n_owners == 0)
            continue;
        *key = nri_reader_text(keys->owners[0]->key);
        return nri_reader_text(keys->owners[0]->value);
    }
    return NULL;
}

static int reject(const char *plugin, const char *what, const char *key, struct nri_error *error)
{
    return nri_error_set(
        error, NRI_E_REJECTED,
        "default validator: plugin(s) \"%s\" attempted restricted %s adjustment%s%s", plugin, what,
        key[0] == '\0' ? "" : ": ", key);
}

/* ---- what is forbidden ---- */

static int check_hooks(const struct settings *settings, const field_owners *owners,
                       struct nri_error *error)
{
    const char *plugin = simple_owner(owners, NRI_FIELD_OCI_HOOKS);

    if (!settings->hooks || plugin == NULL)
        return 0;
    return reject(plugin, "OCI hook", "", error);
}

static int check_seccomp(const struct settings *settings, const validate_request *request,
                         const field_owners *owners, struct nri_error *error)
{
    const char *plugin = simple_owner(owners, NRI_FIELD_SECCOMP_POLICY);
    const Nri__Pkg__Api__V1alpha1__SecurityProfile *profile = NULL;

    if (plugin == NULL)
        return 0;
    if (request->container->linux != NULL)
        profile = request->container->linux->seccomp_profile;
    switch (profile == NULL ? NRI_SECCOMP_UNCONFINED : (int)profile->profile_type) {
    case NRI_SECCOMP_RUNTIME_DEFAULT:
        return settings->runtime_default_seccomp
                   ? reject(plugin, "runtime default seccomp policy", "", error)
                   : 0;
    case NRI_SECCOMP_LOCALHOST:
        return settings->custom_seccomp ? reject(plugin, "custom seccomp policy", "", error) : 0;
    default:
        return settings->unconfined_seccomp ? reject(plugin, "unconfined seccomp policy", "", error)
                                            : 0;
    }
}

static int check_keyed(bool rejected, const field_owners *owners, int field, const char *what,
                       struct nri_error *error)
{
    const char *key = "";
    const char *plugin = compound_owner(owners, field, &key);

    return rejected && plugin != NULL ? reject(plugin, what, key, error) : 0;
}

/* ---- required plugins ---- */

struct looking {
    const validate_request *request;
    struct nri_error *error;
};

static bool is_named(const Nri__Pkg__Api__V1alpha1__PluginInstance *plugin, const char *name,
                     size_t length)
{
    const char *own = nri_reader_text(plugin->name), *index = nri_reader_text(plugin->index);
    const size_t size = strlen(own), index_size = strlen(index);

    if (size == length && memcmp(own, name, length) == 0)
        return true;
    return index_size + 1 + size == length && memcmp(name, index, index_size) == 0 &&
           name[index_size] == '-' && memcmp(name + index_size + 1, own, size) == 0;
}

static int look_for(void *user, const char *name, size_t length)
{
    const struct looking *looking = user;
    const validate_request *request = looking->request;

    for (size_t i = 0; i < request->n_plugins; i++) {
        if (is_named(request->plugins[i], name, length))
            return 0;
    }
    return nri_error_set(looking->error, NRI_E_NOT_FOUND,
                         "default validator: required plugin \"%.*s\" did not take part",
                         length > 128 ? 128 : (int)length, name);
}

/* Whether the pod sandbox says that required plugins may be missing. One that says it in words that
 * are none is refused: nobody knows what it meant. */
static int find_tolerance(const struct nri_default_validator *validator, const nri_pod *pod,
                          const char *container, bool *tolerated, struct nri_error *error)
{
    nri_error *why = NULL;

    *tolerated = false;
    if (validator->tolerate == NULL || validator->tolerate[0] == '\0')
        return 0;
    const int code = nri_annotation_bool(pod, container, validator->tolerate, NRI_ANNOTATION_SCOPED,
                                         tolerated, &why);
    if (code == 0 || code == NRI_E_NOT_FOUND)
        return 0;
    nri_error_set(error, code, "default validator: %s",
                  why != NULL ? nri_error_get_text(why) : nri_strerror(code));
    nri_error_free(why);
    return code;
}

static int check_required(const struct nri_default_validator *validator,
                          const validate_request *request, struct nri_error *error)
{
    const nri_pod *pod = nri_pod_view(request->pod);
    const char *container = nri_container_name(nri_container_view(request->container));
    struct looking looking = {request, error};
    const char *value, *key;
    bool tolerated;

    int code = find_tolerance(validator, pod, container, &tolerated, error);
    if (code != 0 || tolerated)
        return code;
    for (size_t i = 0; i < nri_value_count(validator->required); i++) {
        size_t length;
        const char *name = nri_value_text(nri_value_at(validator->required, i), &length);
        code = look_for(&looking, name, length);
        if (code != 0)
            return code;
    }
    if (!nri_annotation_find(pod, container, REQUIRED_KEY, NRI_ANNOTATION_SCOPED, &value, &key))
        return 0;
    code = nri_required_read(value, nri_text_length(value), look_for, &looking, error);
    return code == NRI_E_SYNTAX ? nri_error_prefix(error, "annotation \"%s\"", key) : code;
}

int nri_default_validator_check(const struct nri_default_validator *validator,
                                const validate_request *request, struct nri_error *error)
{
    const struct settings *settings = &validator->settings;
    const field_owners *owners = owners_of(request);

    if (!settings->enable)
        return 0;
    int code = check_hooks(settings, owners, error);
    if (code == 0)
        code = check_seccomp(settings, request, owners, error);
    if (code == 0)
        code = check_keyed(settings->namespaces, owners, NRI_FIELD_NAMESPACE, "namespace", error);
    if (code == 0)
        code = check_required(validator, request, error);
    if (code == 0)
        code = check_keyed(settings->sysctl, owners, NRI_FIELD_SYSCTL, "sysctl", error);
    return code;
}
