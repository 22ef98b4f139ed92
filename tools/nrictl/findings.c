/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <inttypes.h>
#include <string.h>

void findings_begin(struct findings *findings, struct nrictl *ctl)
{
    *findings = (struct findings){.ctl = ctl};
    if (!ctl->json)
        return;
    print_json_begin(&findings->json, 2);
    nri_json_begin_object(&findings->json.writer);
    print_json_key(&findings->json, "differences");
    nri_json_begin_array(&findings->json.writer);
}

static void open_json(struct print_json *json, const struct finding *finding)
{
    const struct {
        const char *key, *value;
    } members[] = {{"plugin", finding->plugin},
                   {"kind", finding->kind},
                   {"method", finding->method},
                   {"about", finding->about},
                   {"what", finding->what}};
    nri_json_begin_object(&json->writer);
    if (finding->number != 0)
        print_json_number(json, "number", finding->number);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (members[i].value != NULL)
            print_json_text(json, members[i].key, members[i].value);
    }
}

static void print_part(FILE *out, const char *before, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    (void)fputs(before, out);
    print_text(out, text, strlen(text));
}

void findings_open(struct findings *findings, const struct finding *finding)
{
    FILE *out = findings->ctl->out;
    findings->count++;
    if (findings->ctl->json) {
        open_json(&findings->json, finding);
        return;
    }
    if (finding->number != 0)
        (void)fprintf(out, "message %" PRIu64 ", ", finding->number);
    print_part(out, "", finding->plugin);
    print_part(out, finding->plugin != NULL ? ", " : "", finding->whose);
    print_part(out, " ", finding->method);
    print_part(out, " ", finding->about);
    print_part(out, ": ", finding->what);
    (void)fputc('\n', out);
}

void findings_shut(struct findings *findings)
{
    if (findings->ctl->json)
        nri_json_end_object(&findings->json.writer);
}

void findings_tell(struct findings *findings, const struct finding *finding)
{
    findings_open(findings, finding);
    findings_shut(findings);
}

void findings_end(struct findings *findings)
{
    if (findings->ctl->json)
        nri_json_end_array(&findings->json.writer);
}
