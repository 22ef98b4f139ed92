/* SPDX-License-Identifier: Apache-2.0 */
#include "e2e-reply.h"

#include <stdlib.h>
#include <string.h>

/* Cuts NAME=VALUE (or with another separator) at its first separator; 0 when there is none. */
static int cut(const char *pair, char separator, char **left, const char **right)
{
    const char *at = strchr(pair, separator);
    *left = at == NULL ? NULL : strndup(pair, (size_t)(at - pair));
    *right = at == NULL ? NULL : at + 1;
    return *left != NULL;
}

typedef int (*pair_fn)(nri_adjustment *adjustment, const char *left, const char *right);

static int bind_mount(nri_adjustment *adjustment, const char *source, const char *destination)
{
    static const char *const bind_options[] = {"rbind", "ro"};
    return nri_adjustment_add_mount(adjustment, destination, "bind", source, bind_options, 2);
}

static int each_pair(nri_adjustment *adjustment, const struct list *list, char separator,
                     pair_fn add)
{
    for (int i = 0; i < list->count; i++) {
        char *left = NULL;
        const char *right = NULL;
        if (!cut(list->item[i], separator, &left, &right)) {
            return NRI_E_INVALID;
        }
        int rc = add(adjustment, left, right);
        free(left);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int inject(nri_adjustment *adjustment, const char *path, const char *access)
{
    return nri_adjustment_inject_device(adjustment, path, NULL, access);
}

static char *fat_text(int64_t length)
{
    char *text = malloc((size_t)length + 1);
    if (text != NULL) {
        memset(text, 'f', (size_t)length);
        text[length] = '\0';
    }
    return text;
}

static int add_fat_annotation(nri_adjustment *adjustment, int64_t length)
{
    char *text = fat_text(length);
    if (text == NULL) {
        return NRI_E_NOMEM;
    }
    int rc = nri_adjustment_add_annotation(adjustment, "fat", text);
    free(text);
    return rc;
}

/* A failed builder call sticks to the adjustment, so the results in between need no look. */
int reply_adjust(const struct options *options, nri_adjustment *adjustment)
{
    int rc = 0;
    if (options->adjust != NULL) {
        rc = nri_adjustment_merge_json(adjustment, options->adjust, strlen(options->adjust), NULL,
                                       NULL);
    }
    if (rc == 0) {
        rc = each_pair(adjustment, &options->add_env, '=', nri_adjustment_add_env);
    }
    if (rc == 0) {
        rc = each_pair(adjustment, &options->replace_env, '=', nri_adjustment_replace_env);
    }
    if (rc == 0) {
        rc = each_pair(adjustment, &options->add_annotation, '=', nri_adjustment_add_annotation);
    }
    if (rc == 0) {
        rc = each_pair(adjustment, &options->add_mount, ':', bind_mount);
    }
    if (rc == 0) {
        rc = each_pair(adjustment, &options->inject_device, ':', inject);
    }
    for (int i = 0; rc == 0 && i < options->remove_env.count; i++) {
        rc = nri_adjustment_remove_env(adjustment, options->remove_env.item[i]);
    }
    if (rc == 0 && options->arg.count > 0) {
        rc = nri_adjustment_set_args(adjustment, options->arg.item, (size_t)options->arg.count);
    }
    if (rc == 0 && options->cpu_shares != 0) {
        rc = nri_adjustment_set_cpu_shares(adjustment, (uint64_t)options->cpu_shares);
    }
    if (rc == 0 && options->cpu_quota != 0) {
        rc = nri_adjustment_set_cpu_quota(adjustment, options->cpu_quota);
    }
    if (rc == 0 && options->memory_limit != 0) {
        rc = nri_adjustment_set_memory_limit(adjustment, options->memory_limit);
    }
    if (rc == 0 && options->fat_annotation > 0) {
        rc = add_fat_annotation(adjustment, options->fat_annotation);
    }
    return rc;
}

void reply_update(const struct options *options, nri_update *one)
{
    if (options->update_cpu_shares != 0) {
        nri_update_set_cpu_shares(one, (uint64_t)options->update_cpu_shares);
    }
    if (options->update_cpu_quota != 0) {
        nri_update_set_cpu_quota(one, options->update_cpu_quota);
    }
    if (options->update_memory_limit != 0) {
        nri_update_set_memory_limit(one, options->update_memory_limit);
    }
}

bool reply_wants_update(const struct options *options)
{
    return options->update_cpu_shares != 0 || options->update_cpu_quota != 0 ||
           options->update_memory_limit != 0;
}

int reply_unsolicited(const struct options *options, char **ids, size_t id_count,
                      nri_updates *updates)
{
    if (options->fat_update > 0) {
        /* An id that no container has, so that only its length matters. */
        char *id = fat_text(options->fat_update);
        if (id == NULL) {
            return NRI_E_NOMEM;
        }
        nri_update *one = nri_updates_container(updates, id);
        free(id);
        nri_update_set_ignore_failure(one, true);
        reply_update(options, one);
    }
    for (size_t i = 0; i < id_count; i++) {
        reply_update(options, nri_updates_container(updates, ids[i]));
    }
    return nri_updates_error(updates);
}
