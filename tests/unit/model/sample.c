/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

const nri_pod *sample_pod(struct fixture *fixture)
{
    pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxPodSandbox linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_POD_SANDBOX__INIT;
    Nri__Pkg__Api__V1alpha1__PodSandbox__LabelsEntry label[2] = {
        NRI__PKG__API__V1ALPHA1__POD_SANDBOX__LABELS_ENTRY__INIT,
        NRI__PKG__API__V1ALPHA1__POD_SANDBOX__LABELS_ENTRY__INIT};
    Nri__Pkg__Api__V1alpha1__PodSandbox__LabelsEntry *labels[] = {&label[0], &label[1]};
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry annotation =
        NRI__PKG__API__V1ALPHA1__POD_SANDBOX__ANNOTATIONS_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry *annotations[] = {&annotation};
    char *ips[] = {TEXT(fixture, "10.0.0.7"), TEXT(fixture, "fd00::7")};
    label[0].key = TEXT(fixture, "app");
    label[0].value = TEXT(fixture, "db");
    label[1].key = TEXT(fixture, "empty");
    annotation.key = TEXT(fixture, "cpu.example/pod");
    annotation.value = TEXT(fixture, "2\0"
                                     "3");
    linux_part.cgroup_parent = TEXT(fixture, "/kubepods/pod7");
    pod.id = TEXT(fixture, "pod7");
    pod.name = TEXT(fixture, "na\0me");
    pod.uid = TEXT(fixture, "u-i-d");
    pod.namespace_ = TEXT(fixture, "default");
    pod.runtime_handler = TEXT(fixture, "runc");
    pod.pid = UINT32_MAX;
    pod.linux = &linux_part;
    pod.labels = labels;
    pod.n_labels = 2;
    pod.annotations = annotations;
    pod.n_annotations = 1;
    pod.ips = ips;
    pod.n_ips = 2;
    return nri_pod_view(fixture_round_trip(fixture, &pod));
}

static void fill_mounts(struct fixture *fixture, Nri__Pkg__Api__V1alpha1__Mount mount[3],
                        char *options[2])
{
    for (int i = 0; i < 3; i++)
        nri__pkg__api__v1alpha1__mount__init(&mount[i]);
    mount[0].destination = TEXT(fixture, "/data");
    mount[0].source = TEXT(fixture, "/first");
    mount[1].destination = TEXT(fixture, "/data");
    mount[1].type = TEXT(fixture, "bind");
    mount[1].source = TEXT(fixture, "/second");
    options[0] = TEXT(fixture, "rbind");
    options[1] = TEXT(fixture, "ro");
    mount[1].options = options;
    mount[1].n_options = 2;
    mount[2].destination = TEXT(fixture, "/proc");
}

static void fill_resources(struct fixture *fixture,
                           Nri__Pkg__Api__V1alpha1__LinuxResources *resources,
                           Nri__Pkg__Api__V1alpha1__LinuxCPU *cpu,
                           Nri__Pkg__Api__V1alpha1__OptionalUInt64 *shares,
                           Nri__Pkg__Api__V1alpha1__OptionalInt64 *quota)
{
    nri__pkg__api__v1alpha1__linux_resources__init(resources);
    nri__pkg__api__v1alpha1__linux_cpu__init(cpu);
    nri__pkg__api__v1alpha1__optional_uint64__init(shares);
    nri__pkg__api__v1alpha1__optional_int64__init(quota);
    quota->value = -1;
    cpu->shares = shares;
    cpu->quota = quota;
    cpu->cpus = TEXT(fixture, "0-3,7");
    resources->cpu = cpu;
}

const nri_container *sample_container(struct fixture *fixture)
{
    container_message container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainer linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu;
    Nri__Pkg__Api__V1alpha1__OptionalUInt64 shares;
    Nri__Pkg__Api__V1alpha1__OptionalInt64 quota;
    Nri__Pkg__Api__V1alpha1__Mount mount[3];
    Nri__Pkg__Api__V1alpha1__Mount *mounts[] = {&mount[0], &mount[1], &mount[2]};
    Nri__Pkg__Api__V1alpha1__Container__LabelsEntry label =
        NRI__PKG__API__V1ALPHA1__CONTAINER__LABELS_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__Container__LabelsEntry *labels[] = {&label};
    Nri__Pkg__Api__V1alpha1__Container__AnnotationsEntry annotation =
        NRI__PKG__API__V1ALPHA1__CONTAINER__ANNOTATIONS_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__Container__AnnotationsEntry *annotations[] = {&annotation};
    char *options[2];
    char *args[] = {TEXT(fixture, "sleep"), TEXT(fixture, ""), TEXT(fixture, "60")};
    char *env[] = {TEXT(fixture, "A=1"), TEXT(fixture, "AB=2"),  TEXT(fixture, "A=3"),
                   TEXT(fixture, "E="),  TEXT(fixture, "NAKED"), TEXT(fixture, "C=x=y")};
    fill_mounts(fixture, mount, options);
    fill_resources(fixture, &resources, &cpu, &shares, &quota);
    label.key = TEXT(fixture, "tier");
    label.value = TEXT(fixture, "back");
    annotation.key = TEXT(fixture, "note");
    annotation.value = TEXT(fixture, "yes");
    linux_part.resources = &resources;
    linux_part.cgroups_path = TEXT(fixture, "kubepods:cri:c1");
    container.id = TEXT(fixture, "c1");
    container.pod_sandbox_id = TEXT(fixture, "pod7");
    container.name = TEXT(fixture, "main");
    container.state = NRI__PKG__API__V1ALPHA1__CONTAINER_STATE__CONTAINER_RUNNING;
    container.pid = 4711;
    container.args = args;
    container.n_args = 3;
    container.env = env;
    container.n_env = 6;
    container.mounts = mounts;
    container.n_mounts = 3;
    container.labels = labels;
    container.n_labels = 1;
    container.annotations = annotations;
    container.n_annotations = 1;
    container.linux = &linux_part;
    return nri_container_view(fixture_round_trip(fixture, &container));
}
