/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each field of an adjustment but resources: set on an empty document, set over what is there,
 * removed, removed where it is not there, and a wrong type in its place.
 */
#include "fixture.h"

static const struct fixture_row nothing[] = {
    {"{}", "{}", "{}"},
    {"{}", "{ \"b\" : [1.50, 1e400, 12345678901234567890123],\n \"a\": null }",
     "{\"b\":[1.50,1e400,12345678901234567890123],\"a\":null}"},
    {"{\"linux\":{}}", "{\"process\":7}", "{\"process\":7}"},
    {"{}", "[]", "!JSON:1:1: must be an object, found array"},
    {"{}", "{\"a\":1,\"a\":2}", "!JSON:1:8: the key \"a\" is in this object already"},
};

static const struct fixture_row annotations[] = {
    {"{\"annotations\":{\"k\":\"v\"}}", "{}", "{\"annotations\":{\"k\":\"v\"}}"},
    {"{\"annotations\":{\"k\":\"v\"}}", "{\"annotations\":null}",
     "{\"annotations\":{\"k\":\"v\"}}"},
    {"{\"annotations\":{\"b\":\"2\",\"n\":\"3\"}}",
     "{\"annotations\":{\"a\":\"0\",\"b\":\"1\",\"c\":\"0\"},\"z\":1}",
     "{\"annotations\":{\"a\":\"0\",\"b\":\"2\",\"c\":\"0\",\"n\":\"3\"},\"z\":1}"},
    {"{\"annotations\":{\"-b\":\"\"}}", "{\"annotations\":{\"a\":\"0\",\"b\":\"1\"}}",
     "{\"annotations\":{\"a\":\"0\"}}"},
    {"{\"annotations\":{\"-b\":\"\"}}", "{\"annotations\":{\"b\":\"1\"}}", "{\"annotations\":{}}"},
    {"{\"annotations\":{\"-b\":\"\"}}", "{}", "{}"},
    {"{\"annotations\":{\"-b\":\"\"}}", "{\"annotations\":{\"a\":\"0\"}}",
     "{\"annotations\":{\"a\":\"0\"}}"},
    {"{\"annotations\":{\"b\":\"2\",\"-b\":\"\"}}", "{\"annotations\":{\"b\":\"1\",\"c\":\"0\"}}",
     "{\"annotations\":{\"b\":\"2\",\"c\":\"0\"}}"},
    {"{\"annotations\":{\"b\":\"\"}}", "{\"annotations\":{\"b\":\"1\"}}",
     "{\"annotations\":{\"b\":\"\"}}"},
    {"{\"annotations\":{\"b\":\"2\"}}", "{\"annotations\":[]}",
     "!JSON:1:16: annotations: must be an object, found a list"},
    {"{\"annotations\":{\"-b\":\"\"}}", "{\"annotations\":\"x\"}",
     "!JSON:1:16: annotations: must be an object, found a text"},
    {"{\"annotations\":{\"\":\"2\"}}", "{}",
     "!ContainerAdjustment.annotations[0].key: must not be empty"},
    {"{\"annotations\":{\"-\":\"2\"}}", "{}",
     "!ContainerAdjustment.annotations[0].key: must not be \"-\""},
};

static const struct fixture_row env[] = {
    {"{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]}", "{}", "{\"process\":{\"env\":[\"A=1\"]}}"},
    {"{\"env\":[{\"key\":\"A\"}]}", "{\"process\":{}}", "{\"process\":{\"env\":[\"A=\"]}}"},
    {"{\"env\":[{\"key\":\"B\",\"value\":\"x=y\"},{\"key\":\"N\",\"value\":\"9\"}]}",
     "{\"process\":{\"env\":[\"A=0\",\"B=1\",\"C=2\"],\"cwd\":\"/\"}}",
     "{\"process\":{\"env\":[\"A=0\",\"B=x=y\",\"C=2\",\"N=9\"],\"cwd\":\"/\"}}"},
    {"{\"env\":[{\"key\":\"PATH\",\"value\":\"/n\"}]}",
     "{\"process\":{\"env\":[\"PATH=/a\",\"X\",\"PATH=/b\"]}}",
     "{\"process\":{\"env\":[\"PATH=/n\",\"X\"]}}"},
    {"{\"env\":[{\"key\":\"X\",\"value\":\"1\"}]}", "{\"process\":{\"env\":[\"X\",\"XX=2\"]}}",
     "{\"process\":{\"env\":[\"X=1\",\"XX=2\"]}}"},
    {"{\"env\":[{\"key\":\"-B\"}]}", "{\"process\":{\"env\":[\"A=0\",\"B=1\"]}}",
     "{\"process\":{\"env\":[\"A=0\"]}}"},
    {"{\"env\":[{\"key\":\"-B\"}]}", "{\"process\":{\"env\":[\"B=1\",\"B=2\"]}}",
     "{\"process\":{\"env\":[]}}"},
    {"{\"env\":[{\"key\":\"-B\"}]}", "{\"process\":{\"env\":[\"A=1\"]}}",
     "{\"process\":{\"env\":[\"A=1\"]}}"},
    {"{\"env\":[{\"key\":\"-B\"}]}", "{}", "{}"},
    {"{\"env\":[{\"key\":\"-B\"}]}", "{\"process\":{}}", "{\"process\":{}}"},
    {"{\"env\":[{\"key\":\"B\",\"value\":\"2\"},{\"key\":\"-B\"}]}",
     "{\"process\":{\"env\":[\"B=1\",\"C=3\"]}}", "{\"process\":{\"env\":[\"B=2\",\"C=3\"]}}"},
    {"{\"env\":[{\"key\":\"B\",\"value\":\"2\"},{\"key\":\"B\",\"value\":\"3\"}]}", "{}",
     "{\"process\":{\"env\":[\"B=3\"]}}"},
    {"{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]}", "{\"process\":[]}",
     "!JSON:1:12: process: must be an object, found a list"},
    {"{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]}", "{\"process\":{\"env\":{}}}",
     "!JSON:1:19: process.env: must be a list, found an object"},
    {"{\"env\":[{\"key\":\"-A\"}]}", "{\"process\":{\"env\":[\"B=1\",2]}}",
     "!JSON:1:26: process.env[1]: must be a text, found a number"},
    {"{\"env\":[{\"key\":\"\",\"value\":\"1\"}]}", "{}",
     "!ContainerAdjustment.env[0].key: must not be empty"},
    {"{\"env\":[{\"key\":\"A\",\"value\":\"1\"},{\"key\":\"-\",\"value\":\"1\"}]}", "{}",
     "!ContainerAdjustment.env[1].key: must not be \"-\""},
    {"{\"env\":[{\"key\":\"A=B\",\"value\":\"1\"}]}", "{}",
     "!ContainerAdjustment.env[0].key: must not contain \"=\""},
};

static const struct fixture_row args[] = {
    {"{\"args\":[\"a\",\"\",\"b\"]}", "{}", "{\"process\":{\"args\":[\"a\",\"\",\"b\"]}}"},
    {"{\"args\":[\"a\"]}", "{\"process\":{\"args\":[\"x\",\"y\"],\"cwd\":\"/\"}}",
     "{\"process\":{\"args\":[\"a\"],\"cwd\":\"/\"}}"},
    {"{\"args\":[\"\",\"a\"]}", "{\"process\":{\"args\":[\"x\"]}}",
     "{\"process\":{\"args\":[\"a\"]}}"},
    {"{\"args\":[\"\"]}", "{\"process\":{\"args\":[\"x\"]}}", "{\"process\":{\"args\":[\"x\"]}}"},
    {"{\"args\":[\"a\"]}", "{\"process\":{\"args\":7}}", "{\"process\":{\"args\":[\"a\"]}}"},
    {"{\"args\":[\"a\"]}", "{\"process\":7}",
     "!JSON:1:12: process: must be an object, found a number"},
};

static const struct fixture_row hooks[] = {
    {"{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}],\"create_runtime\":[{\"path\":\"/"
     "b\"}],\"create_container\":[{\"path\":\"/c\"}],\"start_container\":[{\"path\":\"/"
     "d\"}],\"poststart\":[{\"path\":\"/e\"}],\"poststop\":[{\"path\":\"/f\"}]}}",
     "{}",
     "{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}],\"createRuntime\":[{\"path\":\"/"
     "b\"}],\"createContainer\":[{\"path\":\"/c\"}],\"startContainer\":[{\"path\":\"/"
     "d\"}],\"poststart\":[{\"path\":\"/e\"}],\"poststop\":[{\"path\":\"/f\"}]}}"},
    {"{\"hooks\":{\"poststop\":[{\"path\":\"/"
     "a\",\"args\":[\"a\",\"b\"],\"env\":[\"A=1\"],\"timeout\":3},{\"path\":\"/b\"}]}}",
     "{\"hooks\":{\"poststop\":[{\"path\":\"/x\",\"new\":1}],\"other\":[]}}",
     "{\"hooks\":{\"poststop\":[{\"path\":\"/x\",\"new\":1},{\"path\":\"/"
     "a\",\"args\":[\"a\",\"b\"],\"env\":[\"A=1\"],\"timeout\":3},{\"path\":\"/"
     "b\"}],\"other\":[]}}"},
    {"{\"hooks\":{}}", "{\"hooks\":7}", "{\"hooks\":7}"},
    {"{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}]}}", "{\"hooks\":7}",
     "!JSON:1:10: hooks: must be an object, found a number"},
    {"{\"hooks\":{\"prestart\":[{\"path\":\"/a\"}]}}", "{\"hooks\":{\"prestart\":{}}}",
     "!JSON:1:22: hooks.prestart: must be a list, found an object"},
    {"{\"hooks\":{\"prestart\":[{\"path\":\"/a\"},{\"args\":[\"a\"]}]}}", "{}",
     "!ContainerAdjustment.hooks.prestart[1].path: must not be empty"},
};

static const struct fixture_row rlimits[] = {
    {"{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":18446744073709551615,\"soft\":1}]}", "{}",
     "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":18446744073709551615,\"soft\":"
     "1}]}}"},
    {"{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":65536,\"soft\":65536},{\"type\":\"RLIMIT_"
     "CORE\"}]}",
     "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":1,\"hard\":1024,\"x\":1},{"
     "\"type\":\"RLIMIT_AS\",\"hard\":1,\"soft\":1},{\"type\":\"RLIMIT_NOFILE\"}]}}",
     "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":65536,\"hard\":65536,\"x\":1}"
     ",{\"type\":\"RLIMIT_AS\",\"hard\":1,\"soft\":1},{\"type\":\"RLIMIT_CORE\",\"hard\":0,"
     "\"soft\":0}]}}"},
    {"{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}]}", "{\"process\":{\"rlimits\":[{}]}}",
     "{\"process\":{\"rlimits\":[{},{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0}]}}"},
    {"{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}]}", "{\"process\":{\"rlimits\":[7]}}",
     "!JSON:1:24: process.rlimits[0]: must be an object, found a number"},
    {"{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}]}", "{\"process\":{\"rlimits\":[{\"type\":7}]}}",
     "!JSON:1:32: process.rlimits[0].type: must be a text, found a number"},
    {"{\"rlimits\":[{\"hard\":1}]}", "{}",
     "!ContainerAdjustment.rlimits[0].type: must not be empty"},
};

static const struct fixture_row cdi[] = {
    {"{\"CDI_devices\":[{\"name\":\"a.com/b=c\"}]}", "{}",
     "!ContainerAdjustment.CDI_devices: this runtime has no CDI (nri_oci_options.inject_cdi)"},
};

static const struct fixture_row cgroups_path[] = {
    {"{\"linux\":{\"cgroups_path\":\"/a\"}}", "{}", "{\"linux\":{\"cgroupsPath\":\"/a\"}}"},
    {"{\"linux\":{\"cgroups_path\":\"/a\"}}", "{\"linux\":{\"cgroupsPath\":7,\"x\":1}}",
     "{\"linux\":{\"cgroupsPath\":\"/a\",\"x\":1}}"},
    {"{\"linux\":{\"cgroups_path\":\"/a\"}}", "{\"linux\":\"x\"}",
     "!JSON:1:10: linux: must be an object, found a text"},
};

static const struct fixture_row oom_score_adj[] = {
    {"{\"linux\":{\"oom_score_adj\":0}}", "{}", "{\"process\":{\"oomScoreAdj\":0}}"},
    {"{\"linux\":{\"oom_score_adj\":-998}}", "{\"process\":{\"oomScoreAdj\":1,\"x\":1}}",
     "{\"process\":{\"oomScoreAdj\":-998,\"x\":1}}"},
    {"{\"linux\":{\"oom_score_adj\":1}}", "{\"process\":[]}",
     "!JSON:1:12: process: must be an object, found a list"},
};

static const struct fixture_row io_priority[] = {
    {"{\"linux\":{\"io_priority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":4}}}", "{}",
     "{\"process\":{\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":4}}}"},
    {"{\"linux\":{\"io_priority\":{\"class\":\"IOPRIO_CLASS_RT\"}}}",
     "{\"process\":{\"ioPriority\":{\"class\":\"x\",\"y\":1},\"z\":1}}",
     "{\"process\":{\"ioPriority\":{\"class\":\"IOPRIO_CLASS_RT\",\"priority\":0},\"z\":1}}"},
    {"{\"linux\":{\"io_priority\":{}}}", "{\"process\":{\"ioPriority\":{\"class\":\"x\"},\"z\":1}}",
     "{\"process\":{\"z\":1}}"},
    {"{\"linux\":{\"io_priority\":{}}}", "{}", "{}"},
    {"{\"linux\":{\"io_priority\":{}}}", "{\"process\":7}",
     "!JSON:1:12: process: must be an object, found a number"},
    {"{\"linux\":{\"io_priority\":{\"class\":9}}}", "{}",
     "!ContainerAdjustment.linux.io_priority.class: 9 is no IOPrioClass"},
};

static const struct fixture_row scheduler[] = {
    {"{\"linux\":{\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"nice\":-3,\"priority\":5,"
     "\"flags\":[\"SCHED_FLAG_RECLAIM\",\"SCHED_FLAG_RESET_ON_FORK\"],\"runtime\":1,\"deadline\":2,"
     "\"period\":18446744073709551615}}}",
     "{}",
     "{\"process\":{\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"nice\":-3,\"priority\":5,"
     "\"flags\":[\"SCHED_FLAG_RECLAIM\",\"SCHED_FLAG_RESET_ON_FORK\"],\"runtime\":1,\"deadline\":2,"
     "\"period\":18446744073709551615}}}"},
    {"{\"linux\":{\"scheduler\":{\"policy\":\"SCHED_OTHER\"}}}",
     "{\"process\":{\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":3},\"z\":1}}",
     "{\"process\":{\"scheduler\":{\"policy\":\"SCHED_OTHER\"},\"z\":1}}"},
    {"{\"linux\":{\"scheduler\":{}}}", "{\"process\":{\"scheduler\":{\"policy\":\"SCHED_FIFO\"}}}",
     "{\"process\":{}}"},
    {"{\"linux\":{\"scheduler\":{}}}", "{}", "{}"},
    {"{\"linux\":{\"scheduler\":{\"policy\":\"SCHED_OTHER\"}}}", "{\"process\":7}",
     "!JSON:1:12: process: must be an object, found a number"},
    {"{\"linux\":{\"scheduler\":{\"policy\":1,\"flags\":[0,7]}}}", "{}",
     "!ContainerAdjustment.linux.scheduler.flags[1]: 7 is no LinuxSchedulerFlag"},
};

static const struct fixture_row seccomp[] = {
    {"{\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ERRNO\",\"default_errno\":38,"
     "\"architectures\":[\"SCMP_ARCH_X86\"],\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\"],\"listener_"
     "path\":\"/"
     "s\",\"listener_metadata\":\"m\",\"syscalls\":[{\"names\":[\"read\",\"write\"],\"action\":"
     "\"SCMP_ACT_ALLOW\"},{\"names\":[\"clone\"],\"action\":\"SCMP_ACT_ERRNO\",\"errno_ret\":0,"
     "\"args\":[{\"index\":1,\"value\":18446744073709551615,\"value_two\":2,\"op\":\"SCMP_CMP_EQ\"}"
     ",{\"op\":\"SCMP_CMP_NE\"}]}]}}}",
     "{\"linux\":{\"seccomp\":7,\"x\":1}}",
     "{\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,"
     "\"architectures\":[\"SCMP_ARCH_X86\"],\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\"],"
     "\"listenerPath\":\"/"
     "s\",\"listenerMetadata\":\"m\",\"syscalls\":[{\"names\":[\"read\",\"write\"],\"action\":"
     "\"SCMP_ACT_ALLOW\"},{\"names\":[\"clone\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":0,"
     "\"args\":[{\"index\":1,\"value\":18446744073709551615,\"valueTwo\":2,\"op\":\"SCMP_CMP_EQ\"},"
     "{\"index\":0,\"value\":0,\"op\":\"SCMP_CMP_NE\"}]}]},\"x\":1}}"},
    {"{\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\"}}}", "{}",
     "{\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\"}}}"},
    {"{\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\"}}}", "{\"linux\":7}",
     "!JSON:1:10: linux: must be an object, found a number"},
};

static const struct fixture_row namespaces[] = {
    {"{\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/n\"}]}}",
     "{}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/n\"}]}}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"network\",\"path\":\"/n\"},{\"type\":\"pid\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/"
     "p\",\"x\":1},{\"type\":\"newer\"},{\"type\":\"network\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"pid\",\"x\":1},{\"type\":\"newer\"},{\"type\":"
     "\"network\",\"path\":\"/n\"}]}}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"-network\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"pid\"}]}}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"-network\"}]}}", "{\"linux\":{}}", "{\"linux\":{}}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"-network\"}]}}", "{}", "{}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"ipc\",\"path\":\"/i\"},{\"type\":\"-ipc\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"ipc\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"ipc\",\"path\":\"/i\"}]}}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"pid\"}]}}", "{\"linux\":{\"namespaces\":{}}}",
     "!JSON:1:24: linux.namespaces: must be a list, found an object"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"pid\"}]}}", "{\"linux\":{\"namespaces\":[[]]}}",
     "!JSON:1:25: linux.namespaces[0]: must be an object, found a list"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"time\"},{\"type\":\"net\"}]}}", "{}",
     "!ContainerAdjustment.linux.namespaces[1].type: must be \"pid\", \"network\", \"mount\", "
     "\"ipc\", \"uts\", \"user\", \"cgroup\" or \"time\", or one of them behind a \"-\""},
    {"{\"linux\":{\"namespaces\":[{\"path\":\"/a\"}]}}", "{}",
     "!ContainerAdjustment.linux.namespaces[0].type: must not be empty"},
};

static const struct fixture_row sysctl[] = {
    {"{\"linux\":{\"sysctl\":{\"net.a\":\"1\"}}}", "{}",
     "{\"linux\":{\"sysctl\":{\"net.a\":\"1\"}}}"},
    {"{\"linux\":{\"sysctl\":{\"net.a\":\"1\",\"-net.b\":\"\"}}}",
     "{\"linux\":{\"sysctl\":{\"net.b\":\"2\",\"net.a\":\"0\"}}}",
     "{\"linux\":{\"sysctl\":{\"net.a\":\"1\"}}}"},
    {"{\"linux\":{\"sysctl\":{\"-net.b\":\"\"}}}", "{\"linux\":{}}", "{\"linux\":{}}"},
    {"{\"linux\":{\"sysctl\":{\"-net.b\":\"\",\"net.b\":\"3\"}}}",
     "{\"linux\":{\"sysctl\":{\"net.b\":\"2\"}}}", "{\"linux\":{\"sysctl\":{\"net.b\":\"3\"}}}"},
    {"{\"linux\":{\"sysctl\":{\"net.a\":\"1\"}}}", "{\"linux\":{\"sysctl\":7}}",
     "!JSON:1:20: linux.sysctl: must be an object, found a number"},
};

static const struct fixture_row net_devices[] = {
    {"{\"linux\":{\"net_devices\":{\"eth0\":{\"name\":\"d0\"},\"eth1\":{}}}}", "{}",
     "{\"linux\":{\"netDevices\":{\"eth0\":{\"name\":\"d0\"},\"eth1\":{}}}}"},
    {"{\"linux\":{\"net_devices\":{\"eth0\":{\"name\":\"d0\"}}}}",
     "{\"linux\":{\"netDevices\":{\"eth0\":7,\"eth1\":{}}}}",
     "{\"linux\":{\"netDevices\":{\"eth0\":{\"name\":\"d0\"},\"eth1\":{}}}}"},
    {"{\"linux\":{\"net_devices\":{\"-eth0\":{}}}}",
     "{\"linux\":{\"netDevices\":{\"eth0\":{},\"eth1\":{}}}}",
     "{\"linux\":{\"netDevices\":{\"eth1\":{}}}}"},
    {"{\"linux\":{\"net_devices\":{\"-eth0\":{}}}}", "{}", "{}"},
    {"{\"linux\":{\"net_devices\":{\"eth0\":{}}}}", "{\"linux\":{\"netDevices\":[]}}",
     "!JSON:1:24: linux.netDevices: must be an object, found a list"},
};

static const struct fixture_row memory_policy[] = {
    {"{\"linux\":{\"memory_policy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0-1\",\"flags\":[\"MPOL_F_"
     "STATIC_NODES\"]}}}",
     "{}",
     "{\"linux\":{\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0-1\",\"flags\":[\"MPOL_F_"
     "STATIC_NODES\"]}}}"},
    {"{\"linux\":{\"memory_policy\":{}}}",
     "{\"linux\":{\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"flags\":[]}}}",
     "{\"linux\":{\"memoryPolicy\":{\"mode\":\"MPOL_DEFAULT\",\"nodes\":\"\"}}}"},
    {"{\"linux\":{\"memory_policy\":{}}}", "{\"linux\":7}",
     "!JSON:1:10: linux: must be an object, found a number"},
    {"{\"linux\":{\"memory_policy\":{\"mode\":77}}}", "{}",
     "!ContainerAdjustment.linux.memory_policy.mode: 77 is no MpolMode"},
};

static const struct fixture_row rdt[] = {
    {"{\"linux\":{\"rdt\":{\"clos_id\":\"gold\",\"schemata\":[\"L3:0=f\",\"MB:0=1\"],\"enable_"
     "monitoring\":true}}}",
     "{}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"gold\",\"schemata\":[\"L3:0=f\",\"MB:0=1\"],"
     "\"enableMonitoring\":true}}}"},
    {"{\"linux\":{\"rdt\":{\"schemata\":[\"L3:0=f\"]}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"x\",\"l3CacheSchema\":\"L3:0=1\",\"memBwSchema\":\"MB:"
     "0=1\",\"y\":1}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"x\",\"y\":1,\"schemata\":[\"L3:0=f\"]}}}"},
    {"{\"linux\":{\"rdt\":{\"clos_id\":\"n\"}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"x\",\"l3CacheSchema\":\"L3:0=1\"}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"n\",\"l3CacheSchema\":\"L3:0=1\"}}}"},
    {"{\"linux\":{\"rdt\":{\"remove\":true}}}", "{\"linux\":{\"intelRdt\":7,\"x\":1}}",
     "{\"linux\":{\"x\":1}}"},
    {"{\"linux\":{\"rdt\":{\"remove\":true}}}", "{}", "{}"},
    {"{\"linux\":{\"rdt\":{}}}", "{}", "{}"},
    {"{\"linux\":{\"rdt\":{\"remove\":true,\"clos_id\":\"n\"}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"x\",\"y\":1}}}",
     "{\"linux\":{\"intelRdt\":{\"closID\":\"n\"}}}"},
    {"{\"linux\":{\"rdt\":{\"clos_id\":\"n\"}}}", "{\"linux\":{\"intelRdt\":[]}}",
     "!JSON:1:22: linux.intelRdt: must be an object, found a list"},
};

static void test_nothing(void **state)
{
    (void)state;
    fixture_rows(nothing, sizeof nothing / sizeof nothing[0], false, NULL);
}

static void test_annotations(void **state)
{
    (void)state;
    fixture_rows(annotations, sizeof annotations / sizeof annotations[0], false, NULL);
}

static void test_env(void **state)
{
    (void)state;
    fixture_rows(env, sizeof env / sizeof env[0], false, NULL);
}

static void test_args(void **state)
{
    (void)state;
    fixture_rows(args, sizeof args / sizeof args[0], false, NULL);
}

static void test_hooks(void **state)
{
    (void)state;
    fixture_rows(hooks, sizeof hooks / sizeof hooks[0], false, NULL);
}

static void test_rlimits(void **state)
{
    (void)state;
    fixture_rows(rlimits, sizeof rlimits / sizeof rlimits[0], false, NULL);
}

static void test_cdi(void **state)
{
    (void)state;
    fixture_rows(cdi, sizeof cdi / sizeof cdi[0], false, NULL);
}

static void test_cgroups_path(void **state)
{
    (void)state;
    fixture_rows(cgroups_path, sizeof cgroups_path / sizeof cgroups_path[0], false, NULL);
}

static void test_oom_score_adj(void **state)
{
    (void)state;
    fixture_rows(oom_score_adj, sizeof oom_score_adj / sizeof oom_score_adj[0], false, NULL);
}

static void test_io_priority(void **state)
{
    (void)state;
    fixture_rows(io_priority, sizeof io_priority / sizeof io_priority[0], false, NULL);
}

static void test_scheduler(void **state)
{
    (void)state;
    fixture_rows(scheduler, sizeof scheduler / sizeof scheduler[0], false, NULL);
}

static void test_seccomp(void **state)
{
    (void)state;
    fixture_rows(seccomp, sizeof seccomp / sizeof seccomp[0], false, NULL);
}

static void test_namespaces(void **state)
{
    (void)state;
    fixture_rows(namespaces, sizeof namespaces / sizeof namespaces[0], false, NULL);
}

static void test_sysctl(void **state)
{
    (void)state;
    fixture_rows(sysctl, sizeof sysctl / sizeof sysctl[0], false, NULL);
}

static void test_net_devices(void **state)
{
    (void)state;
    fixture_rows(net_devices, sizeof net_devices / sizeof net_devices[0], false, NULL);
}

static void test_memory_policy(void **state)
{
    (void)state;
    fixture_rows(memory_policy, sizeof memory_policy / sizeof memory_policy[0], false, NULL);
}

static void test_rdt(void **state)
{
    (void)state;
    fixture_rows(rdt, sizeof rdt / sizeof rdt[0], false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_env),           cmocka_unit_test(test_args),
        cmocka_unit_test(test_hooks),         cmocka_unit_test(test_rlimits),
        cmocka_unit_test(test_cdi),           cmocka_unit_test(test_cgroups_path),
        cmocka_unit_test(test_oom_score_adj), cmocka_unit_test(test_io_priority),
        cmocka_unit_test(test_scheduler),     cmocka_unit_test(test_seccomp),
        cmocka_unit_test(test_namespaces),    cmocka_unit_test(test_sysctl),
        cmocka_unit_test(test_net_devices),   cmocka_unit_test(test_memory_policy),
        cmocka_unit_test(test_rdt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
