/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime ignores of an adjustment, or refuses it for. */
#include <stdio.h>
#include <string.h>

#include "model/adjustment_builder.h"

/* Of an NRI that is not known, what every one has can be relied on. */
#define FIRST_NRI "0.2.0"

/* A removal is honoured when another plugin set what is removed, which nobody can tell from here:
 * it is never refused. */
static bool is_certain(int feature)
{
    return feature != NRI_FEATURE_REMOVE_ENV && feature != NRI_FEATURE_REMOVE_DEVICE;
}

static bool is_missing(const struct nri_feature_place *place, bool known, int feature)
{
    return !nri_feature_supported(place->runtime_name, place->runtime_version,
                                  known ? place->nri_version : FIRST_NRI,
                                  (enum nri_feature)feature);
}

/* What is said around the NRI version. */
struct outcome {
    const char *before, *behind;
};

static struct outcome outcome_of(const struct nri_feature_place *place, bool known, int feature)
{
    if (!is_certain(feature))
        return (struct outcome){"with", " acts on this only where another plugin set it"};
    if (!known)
        return (struct outcome){"has", ", which may ignore this"};
    if (nri_feature_refused(place->runtime_name, place->nri_version, (enum nri_feature)feature))
        return (struct outcome){"has", ", and refuses this"};
    if (nri_version_supports(place->nri_version, (enum nri_feature)feature))
        return (struct outcome){"does not act on this, though its", " has it"};
    return (struct outcome){"has", ", which ignores this"};
}

/* Whoever has to change a plugin wants to hear of all at once. */
static void name_others(const struct nri_feature_place *place, uint64_t others,
                        struct nri_error *error)
{
    const char *before = "; missing too: ";
    for (int feature = 1; others >> feature != 0; feature++) {
        if ((others >> feature & 1) == 0 || !is_certain(feature) ||
            !is_missing(place, true, feature))
            continue;
        size_t length = strlen(error->text);
        (void)snprintf(error->text + length, sizeof error->text - length, "%s%s", before,
                       nri_feature_name((enum nri_feature)feature));
        before = ", ";
    }
}

static void say(const struct nri_feature_place *place, bool known, int feature, bool refuse,
                struct nri_error *error)
{
    const struct outcome outcome = outcome_of(place, known, feature);
    (void)nri_error_set(error, NRI_E_UNSUPPORTED, "%s: %s %s %s NRI %s%s%s",
                        nri_feature_name((enum nri_feature)feature), place->runtime_name,
                        place->runtime_version, outcome.before, place->nri_version, outcome.behind,
                        refuse ? " (strict_features)" : "");
    if (!refuse)
        error->code = 0;
}

static bool check(const nri_adjustment *adjustment, const struct nri_feature_place *place,
                  uint64_t *settled, struct nri_error *error)
{
    unsigned number[3];
    const bool known = nri_version_parse(place->nri_version, number);
    const uint64_t unsettled = nri_adjustment_features(adjustment) & ~*settled;
    for (int feature = 1; unsettled >> feature != 0; feature++) {
        const uint64_t bit = UINT64_C(1) << feature;
        if ((unsettled & bit) == 0)
            continue;
        *settled |= bit;
        if (!is_missing(place, known, feature))
            continue;
        const bool refuse = place->strict && known && is_certain(feature);
        say(place, known, feature, refuse, error);
        if (refuse) {
            name_others(place, unsettled & ~(bit | (bit - 1)), error);
            *settled &= ~bit; /* the next request is refused too */
        }
        return true;
    }
    return false;
}

void nri_adjustment_uses_feature(nri_adjustment *adjustment, uint64_t bits)
{
    adjustment->may_use |= bits;
    adjustment->check_features = check;
}

size_t nri_adjustment_ignored(const nri_adjustment *adjustment, const char *runtime_name,
                              const char *runtime_version, const char *nri_version,
                              enum nri_feature *features, size_t room)
{
    size_t count = 0;
    nri_version = nri_version_of(nri_version, runtime_name, runtime_version);
    if (nri_version == NULL)
        return 0;
    uint64_t used = nri_adjustment_features(adjustment);
    for (int feature = 1; feature <= NRI_FEATURE_REMOVE_DEVICE; feature++) {
        if ((used & UINT64_C(1) << feature) == 0 ||
            nri_feature_supported(runtime_name, runtime_version, nri_version,
                                  (enum nri_feature)feature))
            continue;
        if (features != NULL && count < room)
            features[count] = (enum nri_feature)feature;
        count++;
    }
    return count;
}
