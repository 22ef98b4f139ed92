/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each noun of an adjustment, applied to a document. What is NULL or empty changes nothing.
 */
#ifndef NRI_OCI_NOUNS_H
#define NRI_OCI_NOUNS_H

#include "oci/edit.h"

typedef NRI_OCI_MESSAGE(ContainerAdjustment) nri_oci_adjustment;
typedef NRI_OCI_MESSAGE(LinuxContainerAdjustment) nri_oci_linux_part;
typedef NRI_OCI_MESSAGE(LinuxResources) nri_oci_resources_part;

void nri_oci_apply_annotations(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
void nri_oci_apply_env(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
void nri_oci_apply_args(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
void nri_oci_apply_hooks(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
/* May replace edit->root. */
void nri_oci_apply_cdi_devices(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
void nri_oci_apply_mounts(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);
void nri_oci_apply_rlimits(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment);

void nri_oci_apply_devices(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_cgroups_path(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_oom_score_adj(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_io_priority(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_scheduler(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_seccomp(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_namespaces(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_sysctl(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_net_devices(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_memory_policy(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);
void nri_oci_apply_rdt(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part);

/* All of these, and what the options want of them. */
void nri_oci_apply_resources(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_cpu(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_memory(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_hugepages(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_unified(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_pids(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_device_rules(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);
void nri_oci_apply_classes(struct nri_oci_edit *edit, const nri_oci_resources_part *resources);

#endif
