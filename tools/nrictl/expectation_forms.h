/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of what a scenario expects.
 */
#ifndef NRICTL_EXPECTATION_FORMS_H
#define NRICTL_EXPECTATION_FORMS_H

#include "form.h"

extern const struct form expectation_form, match_form, events_form, latency_form, conflict_form,
    updated_form;

#endif
