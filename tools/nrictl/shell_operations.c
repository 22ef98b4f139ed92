/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the shell that change something. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "shell_inside.h"

#define AWAY_MOST_MS ((uint64_t)3600 * 1000)

/* ---- pod sandboxes and containers ---- */

void shell_run_pod(struct shell *shell, const struct words *words)
{
    nri_pod *pod = setting_pod(shell, words, 2);
    if (pod == NULL)
        return;
    const int code = node_run_pod(shell->node, pod, shell_operation_done, shell);
    if (code != 0)
        nri_pod_free(pod);
    shell_began(shell, code);
}

void shell_create(struct shell *shell, const struct words *words)
{
    nri_container *container = setting_container(shell, words, 3);
    if (container == NULL)
        return;
    const int code = node_create(shell->node, words->at[1], container, shell_operation_done, shell);
    if (code != 0)
        nri_container_free(container);
    shell_began(shell, code);
}

void shell_start_container(struct shell *shell, const struct words *words)
{
    shell_began(shell,
                node_start_container(shell->node, words->at[1], shell_operation_done, shell));
}

/* A container's are as good as any. */
static nri_container *make_wish(struct shell *shell, const struct words *words)
{
    nri_container *wish = NULL;
    if (nri_container_new(&wish, NULL) != 0) {
        shell_fail(shell, "out of memory for resources");
        return NULL;
    }
    return setting_resources(shell, nri_container_edit_resources(wish), words, 2)
               ? wish
               : nri_container_free(wish);
}

void shell_update(struct shell *shell, const struct words *words)
{
    nri_container *wish = make_wish(shell, words);
    if (wish == NULL)
        return;
    shell_began(shell,
                node_update_container(shell->node, words->at[1], nri_container_resources(wish),
                                      shell_operation_done, shell));
    nri_container_free(wish);
}

void shell_update_pod(struct shell *shell, const struct words *words)
{
    nri_container *wish = make_wish(shell, words);
    if (wish == NULL)
        return;
    shell_began(shell, node_update_pod(shell->node, words->at[1], NULL,
                                       nri_container_resources(wish), shell_operation_done, shell));
    nri_container_free(wish);
}

/* A container of that name comes first. */
static bool is_pod(struct shell *shell, const char *name)
{
    struct store *store = node_store(shell->node);
    return store_find_container(store, name) == NULL && store_find_pod(store, name) != NULL;
}

void shell_stop(struct shell *shell, const struct words *words)
{
    const char *name = words->at[1];
    shell_began(shell, is_pod(shell, name)
                           ? node_stop_pod(shell->node, name, shell_operation_done, shell)
                           : node_stop_container(shell->node, name, shell_operation_done, shell));
}

void shell_remove(struct shell *shell, const struct words *words)
{
    const char *name = words->at[1];
    shell_began(shell, is_pod(shell, name)
                           ? node_remove_pod(shell->node, name, shell_operation_done, shell)
                           : node_remove_container(shell->node, name, shell_operation_done, shell));
}

static bool take_number(struct shell *shell, const char *what, const char *text, uint64_t most,
                        uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *value <= most)
        return true;
    shell_wrong(shell, "%s is a number from 0 to %" PRIu64 ", not '%s'", what, most, text);
    return false;
}

void shell_exit(struct shell *shell, const struct words *words)
{
    uint64_t code = 0;
    if (words->count > 2 && !take_number(shell, "CODE", words->at[2], 255, &code))
        return;
    shell_began(shell, node_exit_container(shell->node, words->at[1], (int32_t)code,
                                           shell_operation_done, shell));
}

void shell_restart(struct shell *shell, const struct words *words)
{
    uint64_t away = 0;
    if (words->count > 1 &&
        !nrictl_milliseconds(shell->ctl, "TIME", words->at[1], 0, AWAY_MOST_MS, &away)) {
        shell->wrong = true;
        return;
    }
    shell_began(shell, node_restart(shell->node, away, shell_operation_done, shell));
}

/* ---- plugins ---- */

static void start_plugin(struct shell *shell, const struct words *words, enum child_way way)
{
    const struct child_options options = {
        .argv = (const char *const *)words->at + 1,
        .way = way,
    };
    shell_began(shell, node_start_child(shell->node, &options, NULL, shell_operation_done, shell));
}

void shell_connect(struct shell *shell, const struct words *words)
{
    start_plugin(shell, words, CHILD_CONNECTS);
}

void shell_launch(struct shell *shell, const struct words *words)
{
    start_plugin(shell, words, CHILD_CONNECTED);
}

/* kill, pause, continue, drop. */
void shell_signal(struct shell *shell, const struct words *words)
{
    const char *verb = words->at[0];
    nri_runtime_plugin *plugin = node_find_plugin(shell->node, words->at[1]);
    if (plugin == NULL) {
        shell_fail(shell, "there is no plugin %s", words->at[1]);
        return;
    }
    if (strcmp(verb, "drop") == 0) {
        (void)nri_runtime_drop_plugin(node_runtime(shell->node), plugin);
        return;
    }
    const int number = strcmp(verb, "kill") == 0    ? SIGKILL
                       : strcmp(verb, "pause") == 0 ? SIGSTOP
                                                    : SIGCONT;
    if (node_signal_plugin(shell->node, plugin, number) != 0)
        shell_fail(shell, "%s: %s", shell->command, node_error(shell->node));
}

void shell_slow(struct shell *shell, const struct words *words)
{
    uint64_t rate = 0;
    if (!take_number(shell, "BYTES", words->at[3], 1000000000, &rate))
        return;
    shell_began(shell, node_add_slow_reader(shell->node, words->at[1], words->at[2], rate,
                                            shell_operation_done, shell));
}
