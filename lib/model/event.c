/* SPDX-License-Identifier: Apache-2.0 */
/* Events and masks of them. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/quote.h"

#define MASK_EVENTS 14

static const char *const mask_names[MASK_EVENTS + 1] = {
    [NRI_EVENT_UNKNOWN] = "Unknown",
    [NRI_EVENT_RUN_POD_SANDBOX] = "RunPodSandbox",
    [NRI_EVENT_STOP_POD_SANDBOX] = "StopPodSandbox",
    [NRI_EVENT_REMOVE_POD_SANDBOX] = "RemovePodSandbox",
    [NRI_EVENT_CREATE_CONTAINER] = "CreateContainer",
    [NRI_EVENT_POST_CREATE_CONTAINER] = "PostCreateContainer",
    [NRI_EVENT_START_CONTAINER] = "StartContainer",
    [NRI_EVENT_POST_START_CONTAINER] = "PostStartContainer",
    [NRI_EVENT_UPDATE_CONTAINER] = "UpdateContainer",
    [NRI_EVENT_POST_UPDATE_CONTAINER] = "PostUpdateContainer",
    [NRI_EVENT_STOP_CONTAINER] = "StopContainer",
    [NRI_EVENT_REMOVE_CONTAINER] = "RemoveContainer",
    [NRI_EVENT_UPDATE_POD_SANDBOX] = "UpdatePodSandbox",
    [NRI_EVENT_POST_UPDATE_POD_SANDBOX] = "PostUpdatePodSandbox",
    [NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT] = "ValidateContainerAdjustment",
};

static const char *const other_names[] = {
    "Configure", "Synchronize", "SynchronizePart", "Shutdown", "Connected", "Disconnected",
};

uint32_t nri_event_bit(enum nri_event event)
{
    int number = (int)event; /* an enum may hold anything */
    return number >= 1 && number <= MASK_EVENTS ? NRI_EVENT_BIT(number) : 0;
}

const char *nri_event_name(enum nri_event event)
{
    int number = (int)event;
    if (number >= 0 && number <= MASK_EVENTS)
        return mask_names[number];
    if (number >= NRI_EVENT_CONFIGURE && number <= NRI_EVENT_DISCONNECTED)
        return other_names[number - NRI_EVENT_CONFIGURE];
    return mask_names[NRI_EVENT_UNKNOWN];
}

/* ---- reading ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool same_word(const char *name, const char *word, size_t length)
{
    size_t i = 0;
    while (i < length && name[i] != '\0' && lower(name[i]) == lower(word[i]))
        i++;
    return i == length && name[i] == '\0';
}

/* `part` in lower case. */
static bool has_part(const char *name, const char *part)
{
    size_t length = strlen(part);
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (i < length && lower(name[i]) == part[i])
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static uint32_t group_of(const char *part)
{
    uint32_t mask = 0;
    for (int event = 1; event <= MASK_EVENTS; event++) {
        if (has_part(mask_names[event], part))
            mask |= NRI_EVENT_BIT(event);
    }
    return mask;
}

/* The events that a word stands for; 0 for none. */
static uint32_t word_mask(const char *word, size_t length)
{
    if (same_word("all", word, length))
        return NRI_EVENTS_ALL;
    if (same_word("pod", word, length) || same_word("podsandbox", word, length))
        return group_of("pod");
    if (same_word("container", word, length))
        return group_of("container");
    for (int event = 1; event <= MASK_EVENTS; event++) {
        if (same_word(mask_names[event], word, length))
            return NRI_EVENT_BIT(event);
    }
    return 0;
}

static int refuse_word(struct nri_error *error, const char *word, size_t length, size_t offset)
{
    char copy[NRI_QUOTE_LENGTH + 2]; /* one more than is shown, so that a cut shows */
    struct nri_quote quote;
    size_t kept = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, word, kept);
    copy[kept] = '\0';
    return nri_error_set(
        error, NRI_E_SYNTAX,
        "event %s at offset %zu: no such event; known are names such as \"RunPodSandbox\" "
        "and the groups \"all\", \"pod\" and \"container\"",
        nri_quote(&quote, copy), offset);
}

static int parse(const char *text, uint32_t *mask, struct nri_error *error)
{
    const char *at = text;
    for (;;) {
        while (is_blank(*at))
            at++;
        size_t length = strcspn(at, ",");
        const char *next = at + length;
        while (length > 0 && is_blank(at[length - 1]))
            length--;
        uint32_t found = word_mask(at, length);
        if (found == 0)
            return refuse_word(error, at, length, (size_t)(at - text));
        *mask |= found;
        if (*next == '\0')
            return 0;
        at = next + 1;
    }
}

int nri_event_mask_parse(const char *text, uint32_t *mask, nri_error **error)
{
    struct nri_error why;
    struct nri_alloc alloc;
    uint32_t parsed = 0;
    int code = nri_alloc_resolve(&alloc, NULL);
    nri_error_clear(&why);
    if (error != NULL)
        *error = NULL;
    if (code == 0 && text != NULL && mask != NULL)
        code = parse(text, &parsed, &why);
    else if (code == 0)
        code = nri_error_set(&why, NRI_E_INVALID, "event mask: %s is NULL",
                             text == NULL ? "text" : "mask");
    if (code == 0 && mask != NULL) {
        *mask = parsed;
        return 0;
    }
    nri_error_export(&why, &alloc, error);
    return error != NULL && *error != NULL ? nri_error_get_code(*error) : code;
}

/* ---- writing ---- */

/* Where a text goes of which only the start may fit. */
struct output {
    char *text;
    size_t size, length;
};

static void put(struct output *output, const char *piece)
{
    for (; *piece != '\0'; piece++) {
        if (output->length + 1 < output->size)
            output->text[output->length] = *piece;
        output->length++;
    }
}

size_t nri_event_mask_format(uint32_t mask, char *text, size_t size)
{
    struct output output = {text, text != NULL ? size : 0, 0};
    for (unsigned bit = 0; bit < 32; bit++) {
        char number[16];
        const char *name = number;
        if ((mask & UINT32_C(1) << bit) == 0)
            continue;
        if (bit < MASK_EVENTS)
            name = mask_names[bit + 1];
        else
            snprintf(number, sizeof number, "bit %u", bit);
        if (output.length > 0)
            put(&output, ",");
        put(&output, name);
    }
    if (output.size > 0)
        text[output.length < size ? output.length : size - 1] = '\0';
    return output.length;
}
