/* SPDX-License-Identifier: Apache-2.0 */
/* What may come next in a line of the shell: commands, and what the node has at the moment. */
#include <stdlib.h>
#include <string.h>

#include "shell_inside.h"

struct candidates {
    char **list;
    size_t count;
    const char *begun;
};

static void add(struct candidates *candidates, const char *text)
{
    if (strncmp(text, candidates->begun, strlen(candidates->begun)) != 0)
        return;
    char *copy = strdup(text);
    char **list =
        copy == NULL ? NULL : reallocarray(candidates->list, candidates->count + 1, sizeof *list);
    if (list == NULL) {
        free(copy);
        return;
    }
    candidates->list = list;
    list[candidates->count++] = copy;
}

static void add_pods(struct candidates *candidates, struct node *node)
{
    struct store *store = node_store(node);
    for (struct store_pod *at = NULL; (at = store_next_pod(store, at)) != NULL;)
        add(candidates, nri_pod_id(store_pod_get(at)));
}

static void add_containers(struct candidates *candidates, struct node *node)
{
    struct store *store = node_store(node);
    for (struct store_container *at = NULL; (at = store_next_container(store, NULL, at)) != NULL;)
        add(candidates, nri_container_id(store_container_get(at)));
}

static void add_plugins(struct candidates *candidates, struct node *node)
{
    nri_runtime_plugin *at = NULL;
    while (node_runtime(node) != NULL &&
           (at = nri_runtime_next_plugin(node_runtime(node), at)) != NULL)
        add(candidates, nri_runtime_plugin_id(at));
}

static void add_keys(struct candidates *candidates, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        add(candidates, *keys);
}

static void add_kind(struct candidates *candidates, struct node *node, enum shell_kind kind)
{
    switch (kind) {
    case SHELL_POD:
        add_pods(candidates, node);
        break;
    case SHELL_CONTAINER:
        add_containers(candidates, node);
        break;
    case SHELL_EITHER:
        add_containers(candidates, node);
        add_pods(candidates, node);
        break;
    case SHELL_PLUGIN:
        add_plugins(candidates, node);
        break;
    case SHELL_COMMAND:
        for (const struct shell_command *at = shell_commands; at->name != NULL; at++)
            add(candidates, at->name);
        break;
    case SHELL_SETTING:
        add_keys(candidates, setting_container_keys);
        break;
    case SHELL_POD_SETTING:
        add_keys(candidates, setting_pod_keys);
        break;
    case SHELL_RESOURCE_SETTING:
        add_keys(candidates, setting_resource_keys);
        break;
    case SHELL_NOTHING:
    case SHELL_TEXT:
        break;
    }
}

/* The kind of a command's word, from 0; the last one that is given goes on. */
static enum shell_kind kind_of(const struct shell_command *command, size_t word)
{
    enum shell_kind kind = command->kinds[0];
    if (word >= command->most)
        return SHELL_NOTHING;
    for (size_t i = 1; i <= word && i < SHELL_KINDS && command->kinds[i] != SHELL_NOTHING; i++)
        kind = command->kinds[i];
    return kind;
}

char **complete_line(struct node *node, const char *line, size_t length, size_t *count)
{
    struct candidates candidates = {NULL, 0, ""};
    struct words words;
    words_split(&words, line, length);
    const size_t before = words.open || words.count == 0 ? words.count : words.count - 1;
    const struct shell_command *command = before == 0 ? NULL : shell_find_command(words.at[0]);
    if (before < words.count)
        candidates.begun = words.at[before];
    if (words.error == NULL && before == 0)
        add_kind(&candidates, node, SHELL_COMMAND);
    else if (words.error == NULL && command != NULL)
        add_kind(&candidates, node, kind_of(command, before - 1));
    words_free(&words);
    *count = candidates.count;
    return candidates.list;
}

size_t complete_begun(const char *line, size_t length)
{
    struct words words;
    words_split(&words, line, length);
    const size_t begun = words.open || words.count == 0 ? 0 : strlen(words.at[words.count - 1]);
    words_free(&words);
    return begun;
}

void complete_free(char **candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(candidates[i]);
    free(candidates);
}
