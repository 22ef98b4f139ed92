/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets on an object, through its public builders, what a message holds; the other way round of
 * tests/lib/model_read.h. The first failure stays with the object (nri_adjustment_error() and its
 * kin); removal markers become calls that remove.
 */
#ifndef NRI_TESTS_REPLAY_H
#define NRI_TESTS_REPLAY_H

#include <nri/nri.h>

#include "proto/nri.pb-c.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

void replay_pod(nri_pod *to, const MESSAGE(PodSandbox) * from);
void replay_container(nri_container *to, const MESSAGE(Container) * from);
/* Resources by the functions of the object itself (`direct`) or by its nri_resources. */
void replay_adjustment(nri_adjustment *to, const MESSAGE(ContainerAdjustment) * from, bool direct);
void replay_updates(nri_updates *to, const MESSAGE(UpdateContainersRequest) * from, bool direct);
void replay_resources(nri_resources *to, const MESSAGE(LinuxResources) * from);
void replay_resources_of_adjustment(nri_adjustment *to, const MESSAGE(LinuxResources) * from);
void replay_resources_of_update(nri_update *to, const MESSAGE(LinuxResources) * from);
void replay_seccomp(nri_seccomp *to, const MESSAGE(LinuxSeccomp) * from);

#endif
