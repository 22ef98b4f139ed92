/* SPDX-License-Identifier: Apache-2.0 */
/* Cpusets as text. */
#include <string.h>

#include "model/cpu_list.h"
#include "model/cpuset.h"
#include "model/decimal.h"
#include "model/value_fault.h"

/* What a text says. */
_Static_assert(NRI_CPUSET_TEXT_LARGEST == 5242880, "the rule names another limit");

/* ---- reading ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    return at;
}

struct scan {
    nri_cpuset *set;  /* where ranges go, with room for them; NULL: only look */
    uint32_t *edges;  /* for each of its words: how many ranges begin to hold all of it, less how
                         many end to */
    bool any;         /* there was a range, */
    unsigned largest; /* and this is the largest number of all */
};

/* A range costs the same whatever it holds, or a list of many large ones would take minutes: words
 * that it holds all of are noted at their two ends alone, for fill_between(). */
static void add_range(struct scan *scan, unsigned first, unsigned last)
{
    const unsigned from = first / NRI_CPUSET_WORD_BITS + 1, to = last / NRI_CPUSET_WORD_BITS;
    if (from >= to) {
        nri_cpuset_fill(scan->set, first, last);
        return;
    }
    nri_cpuset_fill(scan->set, first, from * NRI_CPUSET_WORD_BITS - 1);
    nri_cpuset_fill(scan->set, to * NRI_CPUSET_WORD_BITS, last);
    scan->edges[from]++;
    scan->edges[to]--; /* wraps around, and back in the sum */
}

static void fill_between(const struct scan *scan)
{
    uint32_t holding = 0;
    for (unsigned i = 0; i <= scan->largest / NRI_CPUSET_WORD_BITS; i++) {
        holding += scan->edges[i];
        if (holding != 0)
            scan->set->words[i] = UINT64_MAX;
    }
}

static int scan_list(const char *list, struct scan *scan, struct nri_value_fault *fault)
{
    const char *at = skip_blanks(list), *rule;
    scan->any = false;
    scan->largest = 0;
    if (*at == '\0')
        return 0;
    for (;; at = skip_blanks(at + 1)) {
        unsigned first, last;
        int code = nri_cpu_list_range(&at, &first, &last, &rule);
        if (code != 0)
            return nri_value_fault_set(fault, code == NRI_E_INVALID ? NRI_E_SYNTAX : code, rule,
                                       (size_t)(at - list));
        scan->any = true;
        scan->largest = last > scan->largest ? last : scan->largest;
        if (scan->set != NULL)
            add_range(scan, first, last);
        at = skip_blanks(at);
        if (*at == '\0')
            return 0;
        if (*at != ',')
            return nri_value_fault_set(fault, NRI_E_SYNTAX, rule, (size_t)(at - list));
    }
}

/* Two goes over the list, so that nothing is changed before all is known to be right. */
int nri_cpuset_read(nri_cpuset *set, const char *list, struct nri_value_fault *fault)
{
    struct scan scan = {.set = NULL};
    if (strlen(list) > NRI_CPUSET_TEXT_LARGEST)
        return nri_value_fault_set(fault, NRI_E_LIMIT, "must be at most 5242880 bytes long",
                                   SIZE_MAX);
    int code = scan_list(list, &scan, fault);
    if (code != 0)
        return code;
    if (!scan.any)
        return nri_cpuset_clear(set);
    scan.edges =
        nri_alloc_zero(&set->alloc, (scan.largest / NRI_CPUSET_WORD_BITS + 1) * sizeof *scan.edges);
    if (scan.edges == NULL || nri_cpuset_reserve(set, scan.largest) != 0) {
        nri_alloc_release(&set->alloc, scan.edges);
        return nri_value_fault_set(fault, NRI_E_NOMEM, "out of memory", SIZE_MAX);
    }
    (void)nri_cpuset_clear(set); /* of a set that is there, it cannot fail */
    scan.set = set;
    code = scan_list(list, &scan, fault);
    fill_between(&scan);
    nri_alloc_release(&set->alloc, scan.edges);
    return code;
}

int nri_cpuset_parse(nri_cpuset *set, const char *list, nri_error **error)
{
    struct nri_value_fault fault;
    struct nri_error why;
    struct nri_alloc alloc;
    if (error != NULL)
        *error = NULL;
    nri_error_clear(&why);
    if (set != NULL && list != NULL) {
        if (nri_cpuset_read(set, list, &fault) == 0)
            return 0;
        alloc = set->alloc;
        nri_value_fault_describe(&fault, "cpuset", list, &why);
    } else {
        int code = nri_alloc_resolve(&alloc, NULL); /* of the C library's, it cannot fail */
        nri_error_set(&why, code != 0 ? code : NRI_E_INVALID, "cpuset: %s is NULL",
                      set == NULL ? "set" : "list");
    }
    return nri_value_fault_return(&why, &alloc, error);
}

/* ---- writing ---- */

size_t nri_cpuset_format(const nri_cpuset *set, char *text, size_t size)
{
    struct nri_decimal_out out;
    unsigned first, last;
    nri_decimal_out_init(&out, text, size);
    for (unsigned from = 0; nri_cpuset_next(set, from, &first); from = last + 1) {
        last = nri_cpuset_run_end(set, first);
        if (out.length > 0)
            nri_decimal_out_char(&out, ',');
        nri_decimal_out_number(&out, first);
        if (last > first) {
            nri_decimal_out_char(&out, '-');
            nri_decimal_out_number(&out, last);
        }
    }
    return nri_decimal_out_end(&out);
}
