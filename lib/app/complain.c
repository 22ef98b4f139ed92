/* SPDX-License-Identifier: Apache-2.0 */
#include "complain.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "line.h"
#include "log.h"

static void complain_json(const struct app_command *command, const char *text)
{
    struct app_log log;
    app_log_init(&log, command->program, true, NRI_LOG_ERROR);
    app_log_write(&log, &(struct app_record){.level = NRI_LOG_ERROR, .text = text});
    app_log_fini(&log);
}

void app_complain(const struct app_command *command, const char *format, ...)
{
    char text[APP_LINE_SIZE];
    struct app_line line = {.length = 0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (command->json) {
        complain_json(command, text);
        return;
    }
    app_line_put_text(&line, command->program, 0, APP_LINE_SIZE / 4, APP_LINE_SIZE);
    app_line_put(&line, ": ");
    app_line_put_text(&line, text, 0, SIZE_MAX, APP_LINE_SIZE - 1);
    app_line_put(&line, "\n");
    (void)fwrite(line.text, 1, line.length, stderr);
}
