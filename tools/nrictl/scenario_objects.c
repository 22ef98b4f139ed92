/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins, pod sandboxes and containers of a scenario. Those of NRI are read by the library,
 * out of the document itself, so that its errors have their places.
 */
#include <string.h>

#include "command_line.h"
#include "model/json_message.h"
#include "proto/nri.pb-c.h"
#include "scenario_inside.h"

/* ---- plugins ---- */

static bool is_index(const char *text)
{
    return strlen(text) == 2 && strspn(text, "0123456789") == 2;
}

static int list_command(struct scenario_reader *reader, const struct nri_json *list,
                        const char ***words)
{
    const size_t count = nri_json_count(list);
    int rc = 0;
    if (count == 0)
        return form_refuse(&reader->check, list, "command is empty");
    *words = scenario_room(reader, count + 1, sizeof **words, &rc);
    for (size_t i = 0; rc == 0 && i < count; i++)
        (*words)[i] = nri_json_string(nri_json_at(list, i), NULL);
    return rc;
}

static int read_command(struct scenario_reader *reader, const struct nri_json *value,
                        struct scenario_plugin *plugin)
{
    struct nri_arena *arena = &reader->scenario->arena;
    const char **words = NULL, *why = "";
    int rc = 0;
    if (nri_json_type(value) == NRI_JSON_ARRAY) {
        rc = list_command(reader, value, &words);
    } else {
        words = command_line_split(arena, nri_json_string(value, NULL), &why);
        if (words == NULL)
            rc = form_refuse(&reader->check, value, "command: %s", why);
    }
    for (size_t i = 0; rc == 0 && words != NULL && words[i] != NULL; i++) {
        plugin->connects = plugin->connects || strstr(words[i], "{socket}") != NULL;
        words[i] = command_line_replace(arena, words[i], "{dir}", reader->directory);
        rc = words[i] == NULL ? scenario_no_memory(reader) : 0;
    }
    plugin->argv = words;
    return rc;
}

static int read_plugin(struct scenario_reader *reader, const struct nri_json *value,
                       struct scenario_plugin *plugin)
{
    const struct nri_json *connects = nri_json_get(value, "connects");
    const struct nri_json *index = nri_json_get(value, "index");
    int rc = read_command(reader, nri_json_get(value, "command"), plugin);
    plugin->name = scenario_text(reader, value, "name", false, &rc);
    plugin->index = scenario_text(reader, value, "index", false, &rc);
    plugin->later = nri_json_bool(nri_json_get(value, "later"));
    plugin->timeout_ms = scenario_time(value, "timeout", 0);
    if (connects != NULL)
        plugin->connects = nri_json_bool(connects);
    if (rc == 0 && index != NULL && !is_index(plugin->index))
        rc = form_refuse(&reader->check, index,
                         "index must be two digits in quotes, such as \"10\"");
    if (rc == 0 && plugin->later && plugin->name == NULL)
        rc = form_refuse(&reader->check, value,
                         "a plugin that is started later needs a name, for the step connect");
    return rc;
}

int scenario_read_plugins(struct scenario_reader *reader, const struct nri_json *list)
{
    struct scenario *scenario = reader->scenario;
    const size_t count = nri_json_count(list);
    int rc = 0;
    scenario->plugins = scenario_room(reader, count, sizeof *scenario->plugins, &rc);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = read_plugin(reader, nri_json_at(list, i), &scenario->plugins[i]);
    scenario->plugin_count = count;
    return rc;
}

/* ---- what is NRI's ---- */

static int read_message(struct scenario_reader *reader, const struct nri_json *value,
                        const ProtobufCMessageDescriptor *type, void *message)
{
    const struct nri_json_source source = {
        .arena = &reader->scenario->arena, .name = reader->scenario->file, .error = &reader->error};
    ProtobufCMessage *made = NULL;
    const int rc = nri_json_read_message(&source, type, value, &made);
    *(void **)message = made;
    return rc;
}

int scenario_read_resources(struct scenario_reader *reader, const struct nri_json *object,
                            const char *key, const nri_resources **resources)
{
    const struct nri_json *value = nri_json_get(object, key);
    *resources = NULL;
    if (value == NULL)
        return 0;
    return read_message(reader, value, &nri__pkg__api__v1alpha1__linux_resources__descriptor,
                        resources);
}

/* A name that stands for a whole object. */
static struct nri_json *expand(struct nri_arena *arena, struct nri_json *value)
{
    if (nri_json_type(value) != NRI_JSON_STRING)
        return value;
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    return object != NULL && nri_json_set(arena, object, "name", value) == 0 ? object : NULL;
}

/* The id of what has a name only, and the other way round. */
static int complete(struct scenario_reader *reader, struct nri_json *object,
                    const struct nri_json *given, const char *what)
{
    struct nri_arena *arena = &reader->scenario->arena;
    struct nri_json *id = nri_json_get(object, "id"), *name = nri_json_get(object, "name");
    int rc = 0;
    if (id == NULL && name == NULL)
        return form_refuse(&reader->check, given, "a %s needs an id or a name", what);
    if (id == NULL)
        rc = nri_json_set(arena, object, "id", name);
    else if (name == NULL)
        rc = nri_json_set(arena, object, "name", id);
    return rc != 0 ? scenario_no_memory(reader) : 0;
}

/* resources, which stands for linux.resources. */
static int move_resources(struct scenario_reader *reader, struct nri_json *object)
{
    struct nri_arena *arena = &reader->scenario->arena;
    struct nri_json *resources = nri_json_get(object, "resources");
    struct nri_json *linux_part = nri_json_get(object, "linux");
    if (resources == NULL)
        return 0;
    if (linux_part == NULL) {
        linux_part = nri_json_new(arena, NRI_JSON_OBJECT);
        if (linux_part == NULL || nri_json_set(arena, object, "linux", linux_part) != 0)
            return scenario_no_memory(reader);
    }
    if (nri_json_get(linux_part, "resources") != NULL)
        return form_refuse(&reader->check, resources,
                           "resources is short for linux.resources, which is there, too");
    if (nri_json_type(linux_part) == NRI_JSON_OBJECT &&
        nri_json_set(arena, linux_part, "resources", resources) != 0)
        return scenario_no_memory(reader);
    (void)nri_json_remove(object, "resources");
    return 0;
}

static int read_container(struct scenario_reader *reader, struct nri_json *given, size_t pod)
{
    struct scenario *scenario = reader->scenario;
    struct scenario_container *container = &scenario->containers[scenario->container_count];
    struct nri_json *object = expand(&scenario->arena, given);
    Nri__Pkg__Api__V1alpha1__Container *message = NULL;
    bool twice = false;
    int rc =
        object == NULL ? scenario_no_memory(reader) : complete(reader, object, given, "container");
    if (rc == 0)
        rc = move_resources(reader, object);
    if (rc == 0)
        rc =
            read_message(reader, object, &nri__pkg__api__v1alpha1__container__descriptor, &message);
    if (rc != 0)
        return rc;
    *container = (struct scenario_container){
        .id = message->id, .name = message->name, .pod = pod, .container = (const void *)message};
    for (size_t i = 0; i < scenario->container_count; i++)
        twice = twice || strcmp(scenario->containers[i].id, container->id) == 0;
    if (twice)
        return form_refuse(&reader->check, given,
                           "there is a container with the id \"%.80s\" already; give it an id of "
                           "its own beside its name",
                           container->id);
    scenario->container_count++;
    return 0;
}

static int read_containers(struct scenario_reader *reader, const struct nri_json *list, size_t pod)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < nri_json_count(list); i++)
        rc = read_container(reader, nri_json_at(list, i), pod);
    return rc;
}

static int read_pod(struct scenario_reader *reader, struct nri_json *given)
{
    struct scenario *scenario = reader->scenario;
    struct nri_arena *arena = &scenario->arena;
    struct nri_json *object = expand(arena, given);
    const struct nri_json *containers = nri_json_get(object, "containers");
    Nri__Pkg__Api__V1alpha1__PodSandbox *message = NULL;
    int rc = object == NULL ? scenario_no_memory(reader) : complete(reader, object, given, "pod");
    if (rc == 0 && nri_json_get(object, "namespace") == NULL) {
        struct nri_json *name = nri_json_new_string(arena, "default", 7);
        rc = name == NULL || nri_json_set(arena, object, "namespace", name) != 0
                 ? scenario_no_memory(reader)
                 : 0;
    }
    if (rc == 0) {
        (void)nri_json_remove(object, "containers");
        rc = read_message(reader, object, &nri__pkg__api__v1alpha1__pod_sandbox__descriptor,
                          &message);
    }
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < scenario->pod_count; i++) {
        if (strcmp(scenario->pods[i].id, message->id) == 0)
            return form_refuse(&reader->check, given,
                               "there is a pod with the id \"%.80s\" already", message->id);
    }
    scenario->pods[scenario->pod_count] = (struct scenario_pod){
        .id = message->id, .name = message->name, .pod = (const void *)message};
    return read_containers(reader, containers, scenario->pod_count++);
}

int scenario_read_pods(struct scenario_reader *reader, const struct nri_json *list)
{
    struct scenario *scenario = reader->scenario;
    const size_t count = nri_json_count(list);
    size_t containers = 0;
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        containers += nri_json_count(nri_json_get(nri_json_at(list, i), "containers"));
    scenario->pods = scenario_room(reader, count, sizeof *scenario->pods, &rc);
    scenario->containers = scenario_room(reader, containers, sizeof *scenario->containers, &rc);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = read_pod(reader, nri_json_at(list, i));
    return rc;
}

/* ---- what steps name ---- */

size_t scenario_find_pod(const struct scenario *scenario, const char *name, bool *twice)
{
    size_t found = SIZE_MAX;
    *twice = false;
    for (size_t i = 0; i < scenario->pod_count; i++) {
        if (strcmp(scenario->pods[i].id, name) == 0)
            return i;
    }
    for (size_t i = 0; i < scenario->pod_count; i++) {
        if (strcmp(scenario->pods[i].name, name) == 0) {
            *twice = found != SIZE_MAX;
            found = i;
        }
    }
    return found;
}

size_t scenario_find_container(const struct scenario *scenario, const char *name, bool *twice)
{
    size_t found = SIZE_MAX;
    *twice = false;
    for (size_t i = 0; i < scenario->container_count; i++) {
        if (strcmp(scenario->containers[i].id, name) == 0)
            return i;
    }
    for (size_t i = 0; i < scenario->container_count; i++) {
        if (strcmp(scenario->containers[i].name, name) == 0) {
            *twice = found != SIZE_MAX;
            found = i;
        }
    }
    return found;
}
