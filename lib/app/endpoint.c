/* SPDX-License-Identifier: Apache-2.0 */
#include "endpoint.h"

#include <inttypes.h>
#include <nri/metrics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char end_mark[] = "# EOF\n";

static void answer_text(struct app_answer *answer, unsigned status, const char *text)
{
    answer->status = status;
    answer->text = text;
}

static void answer_health(const struct app_endpoint *endpoint, struct app_answer *answer)
{
    if (nri_plugin_is_wedged(endpoint->plugin))
        answer_text(answer, MHD_HTTP_SERVICE_UNAVAILABLE,
                    "a handler has been running for more than twice the time of its request\n");
    else
        answer_text(answer, MHD_HTTP_OK, "ok\n");
}

static void answer_readiness(const struct app_endpoint *endpoint, struct app_answer *answer)
{
    const char *why = NULL;
    if (endpoint->ending)
        why = "the plugin is ending\n";
    else if (!endpoint->is_ready)
        why = "the plugin is not registered with a runtime\n";
    else if (!nri_plugin_is_synchronized(endpoint->plugin) &&
             endpoint->now - endpoint->ready_since < APP_READY_AFTER_MS)
        why = "the runtime has not synchronised the plugin yet\n";
    answer_text(answer, why != NULL ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
                why != NULL ? why : "ok\n");
}

/* What nri-app counts itself. */
static void print_own(FILE *out, const struct app_endpoint *endpoint)
{
    (void)fprintf(out,
                  "# TYPE nri_app_reloads counter\n"
                  "# HELP nri_app_reloads Configurations that were read again, by result.\n"
                  "nri_app_reloads_total{result=\"taken\"} %" PRIu64 "\n"
                  "nri_app_reloads_total{result=\"refused\"} %" PRIu64 "\n",
                  atomic_load_explicit(&endpoint->reloads, memory_order_relaxed),
                  atomic_load_explicit(&endpoint->refused_reloads, memory_order_relaxed));
    (void)fprintf(out,
                  "# TYPE nri_app_log_lines_lost counter\n"
                  "# HELP nri_app_log_lines_lost Lines of the log that nobody read in time.\n"
                  "nri_app_log_lines_lost_total %" PRIu64 "\n",
                  atomic_load_explicit(&endpoint->log->lost, memory_order_relaxed));
    (void)fprintf(
        out,
        "# TYPE nri_app_http_not_accepted counter\n"
        "# HELP nri_app_http_not_accepted Times that no descriptor or memory was there to "
        "accept an HTTP connection.\n"
        "nri_app_http_not_accepted_total %" PRIu64 "\n"
        "# TYPE nri_app_http_gave_way counter\n"
        "# HELP nri_app_http_gave_way HTTP connections that were ended because another one "
        "needed room.\n"
        "nri_app_http_gave_way_total %" PRIu64 "\n",
        endpoint->http->not_accepted, endpoint->http->gave_way);
}

/* The library's, nri-app's and the program's own, with one end mark. */
static int print_metrics(FILE *out, const struct app_endpoint *endpoint)
{
    char *text = NULL;
    size_t length = 0;
    const int code = nri_plugin_metrics(endpoint->plugin, &text, &length);
    if (code != 0)
        return code;
    const size_t mark = sizeof end_mark - 1;
    if (length >= mark && memcmp(text + length - mark, end_mark, mark) == 0)
        length -= mark;
    (void)fwrite(text, 1, length, out);
    nri_metrics_free(text);
    print_own(out, endpoint);
    const struct nri_app_options *options = endpoint->options;
    char *more = options->metrics != NULL ? options->metrics(options->user) : NULL;
    if (more != NULL && more[0] != '\0')
        (void)fprintf(out, "%s%s", more, more[strlen(more) - 1] == '\n' ? "" : "\n");
    free(more);
    (void)fputs(end_mark, out);
    return 0;
}

static void answer_metrics(const struct app_endpoint *endpoint, struct app_answer *answer)
{
    char *body = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&body, &length);
    int failed = out == NULL || print_metrics(out, endpoint) != 0;
    if (out != NULL && (ferror(out) != 0) + (fclose(out) != 0) > 0)
        failed = 1;
    if (failed) {
        free(body);
        answer_text(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
        return;
    }
    answer->status = MHD_HTTP_OK;
    answer->type = openmetrics;
    answer->body = body;
    answer->length = length;
}

void app_endpoint_answer(void *user, const char *path, struct app_answer *answer)
{
    const struct app_endpoint *endpoint = user;
    if (strcmp(path, "/metrics") == 0)
        answer_metrics(endpoint, answer);
    else if (strcmp(path, "/healthz") == 0)
        answer_health(endpoint, answer);
    else if (strcmp(path, "/readyz") == 0)
        answer_readiness(endpoint, answer);
    else
        answer_text(answer, MHD_HTTP_NOT_FOUND, "there are /metrics, /healthz and /readyz\n");
}
