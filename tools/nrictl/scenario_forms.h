/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of a scenario's file.
 */
#ifndef NRICTL_SCENARIO_FORMS_H
#define NRICTL_SCENARIO_FORMS_H

#include "form.h"

extern const struct form scenario_form;
extern const struct form *const scenario_forms[]; /* of all its parts; ends with NULL */
/* The forms of the steps, in the order of enum step_verb; ends with NULL. */
extern const struct form *const scenario_step_forms[];
extern const struct form expectation_form;

#endif
