/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for the tests of nri-app. What it does is said on standard output, a line each.
 */
#include <nri/app.h>
#include <nri/nri.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct config {
    const char *greeting;
    const char *password;
    const char *place;
    int64_t sleep; /* ns: how long CreateContainer takes */
    int64_t request;
};

struct plugin {
    struct config config;
    const char *flag;
    bool refuse_start, block_stop, block_prepare, reload_again;
};

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)fflush(stdout);
}

static int create(nri_request *request, void *user)
{
    const struct plugin *plugin = user;
    say("create\n");
    struct timespec left = {plugin->config.sleep / 1000000000, plugin->config.sleep % 1000000000};
    while (nanosleep(&left, &left) != 0) /* a signal may interrupt it */
        continue;
    nri_app_log(NRI_LOG_WARN, "a \"quoted\" warning\nwith a second line");
    say("created\n");
    return nri_adjustment_add_env(nri_request_adjustment(request), "GREETING",
                                  plugin->config.greeting);
}

static int configure(nri_request *request, void *user)
{
    const struct plugin *plugin = user;
    (void)request;
    say("configure %s\n", plugin->config.greeting);
    return 0;
}

static int check_config(const void *candidate, void *user)
{
    const struct config *config = candidate;
    (void)user;
    if (strcmp(config->greeting, "rude") == 0)
        return nri_app_refuse("greeting: \"rude\" is not polite");
    return 0;
}

static void on_reload(nri_plugin *plugin, void *user)
{
    const struct plugin *own = user;
    say("reload %s %s\n", nri_plugin_name(plugin), own->config.greeting);
    if (own->reload_again) {
        (void)kill(getpid(), SIGHUP);
        (void)usleep(20000); /* the loop takes the signal meanwhile */
    }
}

static int on_prepare(struct nri_plugin_options *options, void *user)
{
    const struct plugin *plugin = user;
    say("prepare %s\n", plugin->config.greeting);
    options->slow_percent = 90;
    while (plugin->block_prepare)
        (void)pause();
    return 0;
}

static int on_start(nri_plugin *plugin, void *user)
{
    const struct plugin *own = user;
    say("start %s-%s\n", nri_plugin_index(plugin), nri_plugin_name(plugin));
    return own->refuse_start ? NRI_E_UNSUPPORTED : 0;
}

static void on_stop(void *user)
{
    const struct plugin *plugin = user;
    say("stop\n");
    while (plugin->block_stop)
        (void)pause();
}

static char *metrics(void *user)
{
    (void)user;
    return strdup("# TYPE test_greetings gauge\ntest_greetings 1");
}

static int set_flag(void *user, const char *value, const char **text)
{
    struct plugin *plugin = user;
    if (strcmp(value, "bad") == 0) {
        *text = "is a bad value";
        return -1;
    }
    plugin->flag = value;
    say("flag %s\n", value);
    return 0;
}

static int set_refuse(void *user, const char *value, const char **text)
{
    (void)value;
    (void)text;
    ((struct plugin *)user)->refuse_start = true;
    return 0;
}

static int set_block(void *user, const char *value, const char **text)
{
    (void)value;
    (void)text;
    ((struct plugin *)user)->block_stop = true;
    return 0;
}

static int set_block_prepare(void *user, const char *value, const char **text)
{
    (void)value;
    (void)text;
    ((struct plugin *)user)->block_prepare = true;
    return 0;
}

static int set_again(void *user, const char *value, const char **text)
{
    (void)value;
    (void)text;
    ((struct plugin *)user)->reload_again = true;
    return 0;
}

static struct nri_app_field fields[] = {
    {.name = "greeting",
     .type = NRI_APP_TEXT,
     .offset = offsetof(struct config, greeting),
     .standard = "hello",
     .help = "what containers are greeted with"},
    {.name = "password",
     .type = NRI_APP_TEXT,
     .offset = offsetof(struct config, password),
     .secret = 1,
     .help = "nobody's business"},
    {.name = "place",
     .type = NRI_APP_TEXT,
     .offset = offsetof(struct config, place),
     .standard = "here",
     .fixed = 1,
     .help = "where"},
    {.name = "sleep",
     .type = NRI_APP_DURATION,
     .offset = offsetof(struct config, sleep),
     .standard = "0s",
     .minimum = "0s",
     .maximum = "1h",
     .help = "how long a creation takes"},
    {.name = "timeouts.request",
     .type = NRI_APP_DURATION,
     .offset = offsetof(struct config, request),
     .standard = "2s",
     .minimum = "1ms",
     .maximum = "1m",
     .help = "not used for anything"},
};

static const struct nri_app_flag flags[] = {
    {.name = "flag", .argument = "VALUE", .letter = 'f', .set = set_flag, .help = "a flag"},
    {.name = "refuse-start", .set = set_refuse, .help = "on_start fails"},
    {.name = "block-prepare", .set = set_block_prepare, .help = "on_prepare does not return"},
    {.name = "reload-again", .set = set_again, .help = "each reload asks for another"},
    {.name = "block-stop", .set = set_block, .help = "on_stop does not return"},
};

/* A test may want fields that have no default. */
static void require_fields(void)
{
    const char *which = getenv("TEST_REQUIRED");
    if (which == NULL)
        return;
    fields[0].standard = NULL;
    fields[0].required = 1;
    if (strcmp(which, "fixed") == 0) {
        fields[2].standard = NULL;
        fields[2].required = 1;
    }
}

int main(int argc, char **argv)
{
    static struct plugin plugin;
    const struct nri_plugin_ops ops = {
        .size = sizeof ops, .on_create_container = create, .on_configure = configure};
    struct nri_app_options options;
    require_fields();
    nri_app_options_init(&options, sizeof options);
    options.name = "test";
    options.index = "10";
    options.version = "1.2.3";
    options.summary = "Greets containers.";
    options.ops = &ops;
    options.fields = fields;
    options.field_count = sizeof fields / sizeof *fields;
    options.field_size = sizeof *fields;
    options.config = &plugin.config;
    options.config_size = sizeof plugin.config;
    options.check_config = check_config;
    options.on_reload = on_reload;
    options.on_prepare = on_prepare;
    options.on_start = on_start;
    options.on_stop = on_stop;
    options.flags = flags;
    options.flag_count = sizeof flags / sizeof *flags;
    options.flag_size = sizeof *flags;
    options.metrics = metrics;
    options.user = &plugin;
    return nri_app_main(argc, argv, &options);
}
