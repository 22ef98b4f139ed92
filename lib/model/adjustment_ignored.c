/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime ignores of an adjustment, or refuses it for. */
#include "model/adjustment_builder.h"

/* Of an NRI that is not known, what every one has can be relied on. */
#define FIRST_NRI "0.2.0"

/* A removal is honoured when another plugin set what is removed, which nobody can tell from here:
 * it is never refused. */
static bool is_certain(int feature)
{
    return feature != NRI_FEATURE_REMOVE_ENV && feature != NRI_FEATURE_REMOVE_DEVICE;
}

static const char *what_happens(const struct nri_feature_place *place, int feature, bool known)
{
    if (!known)
        return "which may ignore";
    return nri_feature_refused(place->runtime_name, place->nri_version, (enum nri_feature)feature)
               ? "and refuses"
               : "which ignores";
}

static void say(const struct nri_feature_place *place, int feature, bool known,
                struct nri_error *error)
{
    bool refuse = known && place->strict;
    (void)nri_error_set(error, NRI_E_UNSUPPORTED, "%s: %s %s has NRI %s, %s this%s",
                        nri_feature_name((enum nri_feature)feature), place->runtime_name,
                        place->runtime_version, place->nri_version,
                        what_happens(place, feature, known), refuse ? " (strict_features)" : "");
    if (!refuse)
        error->code = 0;
}

static bool check(const nri_adjustment *adjustment, const struct nri_feature_place *place,
                  uint64_t *settled, struct nri_error *error)
{
    unsigned number[3];
    bool known = nri_version_parse(place->nri_version, number);
    uint64_t unsettled = nri_adjustment_features(adjustment) & ~*settled;
    for (int feature = 1; unsettled >> feature != 0; feature++) {
        uint64_t bit = UINT64_C(1) << feature;
        if ((unsettled & bit) == 0)
            continue;
        *settled |= bit;
        if (nri_feature_supported(place->runtime_name, place->runtime_version,
                                  known ? place->nri_version : FIRST_NRI,
                                  (enum nri_feature)feature))
            continue;
        say(place, feature, known && is_certain(feature), error);
        if (error->code != 0) /* the next request is refused too */
            *settled &= ~bit;
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
    unsigned number[3];
    size_t count = 0;
    if (nri_version == NULL)
        nri_version = nri_version_infer(runtime_name, runtime_version);
    if (!nri_version_parse(nri_version, number))
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
