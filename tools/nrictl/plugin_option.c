/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin_option.h"

#include <string.h>

#include "command_line.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* "NN-NAME=PROGRAM": which plugin it is to be. */
static int take_identity(struct nrictl *ctl, const char *argument, struct nri_arena *arena,
                         struct scenario_plugin *plugin, const char **words)
{
    const char *word = words[0];
    const char *equal = strchr(word, '=');
    if (equal == NULL)
        return 0;
    if (!is_digit(word[0]) || !is_digit(word[1]) || word[2] != '-' || equal == word + 3 ||
        equal[1] == '\0')
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--plugin '%s': what stands before = is NN-NAME, such as 10-%s",
                           argument, equal[1] != '\0' ? equal + 1 : "name");
    plugin->index = nri_arena_text(arena, word, 2);
    plugin->name = nri_arena_text(arena, word + 3, (size_t)(equal - word) - 3);
    words[0] = equal + 1;
    return plugin->index != NULL && plugin->name != NULL
               ? 0
               : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
}

int plugin_option(struct nrictl *ctl, struct nri_arena *arena, const char *argument,
                  struct scenario_plugin *plugin)
{
    const char *why;
    const char **words = command_line_split(arena, argument, &why);
    plugin->argv = words;
    if (words == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE, "--plugin '%s': %s", argument, why);
    plugin->connects = strstr(argument, "{socket}") != NULL;
    return take_identity(ctl, argument, arena, plugin, words);
}
