/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of the messages that merging is about. */
#ifndef NRI_RUNTIME_MESSAGES_H
#define NRI_RUNTIME_MESSAGES_H

#include "proto/nri.pb-c.h"

typedef Nri__Pkg__Api__V1alpha1__Container container_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainer linux_container_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxResources resources_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxMemory memory_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxCPU cpu_message;
typedef Nri__Pkg__Api__V1alpha1__Hooks hooks_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxRdt rdt_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjustment_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_adjustment_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerUpdate update_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainerUpdate linux_update_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerEviction eviction_message;
typedef Nri__Pkg__Api__V1alpha1__CreateContainerResponse create_message;
typedef Nri__Pkg__Api__V1alpha1__UpdateContainerResponse update_reply_message;
typedef Nri__Pkg__Api__V1alpha1__StopContainerResponse stop_message;

/* A message's initial value. */
#define NRI_MESSAGE_NEW(type, NAME) ((type)NRI__PKG__API__V1ALPHA1__##NAME##__INIT)

#endif
