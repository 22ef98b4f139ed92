/* SPDX-License-Identifier: Apache-2.0 */
/* A pod and a container with every field that has a reader, as a peer sends them. */
#ifndef NRI_TESTS_MODEL_SAMPLE_H
#define NRI_TESTS_MODEL_SAMPLE_H

#include "fixture.h"

const nri_pod *sample_pod(struct fixture *fixture);
const nri_container *sample_container(struct fixture *fixture);

#endif
