# SPDX-License-Identifier: Apache-2.0
"""One containerd with its own state, and the pods and containers that a scenario makes on it."""

import base64
import collections
import json
import os
import re
import shutil
import socket
import subprocess
import time

import cri
import images
from harness import PATIENCE, Unmet
from stream import Stream

WORK = "/run/nri-e2e"
SOCKET = WORK + "/containerd.sock"
NRI_SOCKET = "/run/nri/nri.sock"
PLUGIN_DIR = "/opt/nri/plugins"
CONFIG_DIR = "/etc/nri/conf.d"

NRI_SECTION = """
[plugins.'io.containerd.nri.v1.nri']
  disable = false
  disable_connections = false
  socket_path = '{nri}'
  plugin_path = '{plugins}'
  plugin_config_path = '{configs}'
  plugin_registration_timeout = '5s'
  plugin_request_timeout = '2s'
"""

# restrict_oom_score_adj: without it runc dies where the machine does not let us lower scores.
CONFIG_2 = """version = 3
root = '{work}/root'
state = '{work}/state'
[grpc]
  address = '{socket}'
[plugins.'io.containerd.internal.v1.opt']
  path = '{work}/opt'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '{pause}'
[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = true
"""

CONFIG_1 = """version = 2
root = '{work}/root'
state = '{work}/state'
[grpc]
  address = '{socket}'
[plugins.'io.containerd.internal.v1.opt']
  path = '{work}/opt'
[plugins.'io.containerd.grpc.v1.cri']
  sandbox_image = '{pause}'
  disable_apparmor = true
  restrict_oom_score_adj = true
"""

# Ends on SIGTERM, so that stopping a container need not wait for the grace period.
IDLE = ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"]


def read_version():
    """The version of the root's containerd, as (major, minor, patch)."""
    text = subprocess.run(["containerd", "--version"], check=True, capture_output=True, text=True).stdout
    match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        raise Unmet("no version in the output of containerd --version: %r" % text)
    return tuple(int(number) for number in match.groups())


class Node:
    """A running containerd. `cri` is its CRI client."""

    def __init__(self, run):
        self._run = run
        run.node = self
        self.process = None
        self.log = None
        self.cri = None
        self._parent = "/" + os.environ["NRI_E2E_CGROUP"]
        run.callback(self._clean)
        shutil.rmtree(WORK, ignore_errors=True)
        os.makedirs(WORK)
        text = (CONFIG_1 if run.version[0] < 2 else CONFIG_2) + NRI_SECTION
        with open(WORK + "/config.toml", "w", encoding="utf-8") as file:
            file.write(
                text.format(
                    work=WORK, socket=SOCKET, pause=images.PAUSE, nri=NRI_SOCKET, plugins=PLUGIN_DIR, configs=CONFIG_DIR
                )
            )
        self.start()
        images.build("/usr/bin/busybox", WORK + "/images.tar")
        subprocess.run(
            ["ctr", "-a", SOCKET, "-n", "k8s.io", "images", "import", WORK + "/images.tar"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        # The CRI service learns of images by an event that it handles when it gets to it.
        for image in (images.PAUSE, images.BUSYBOX):
            self._ask_until(lambda: self.cri.ImageStatus(image={"image": image}), lambda reply: "image" in reply, image)

    def _ask_until(self, ask, wanted, what):
        """Ask containerd again and again until the answer is the one WANTED; each question waits for its answer."""
        end = time.monotonic() + PATIENCE
        seen = None
        while time.monotonic() < end:
            try:
                seen = ask()
                if wanted(seen):
                    return
            except cri.Error as error:
                seen = error.details()
        raise Unmet("containerd does not get ready: %s: %s" % (what, seen))

    def start(self):
        """Start containerd and return when its CRI service answers; also after kill(), on the same state."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            # containerd tells service managers when it serves, and this is the manager.
            path = WORK + "/ready"
            if os.path.exists(path):
                os.unlink(path)
            ready.bind(path)
            ready.settimeout(PATIENCE)
            self.process = subprocess.Popen(
                ["containerd", "-c", WORK + "/config.toml"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(os.environ, NOTIFY_SOCKET=path),
                text=True,
                errors="replace",
            )
            self.log = Stream(self.process.stderr)
            self._connected = collections.Counter()
            try:
                while b"READY=1" not in ready.recv(4096):
                    pass
            except TimeoutError:
                raise Unmet("containerd did not become ready; the end of its log: " + self.log_tail()) from None
        self.cri = cri.Client(SOCKET, PATIENCE)
        self.cri.wait_ready()
        # The CRI service answers "not initialized yet" for a moment after gRPC is up.
        self._ask_until(self.cri.Status, lambda reply: True, "the CRI service")
        if not os.path.exists(NRI_SOCKET):
            raise Unmet("containerd serves the CRI, but has no NRI socket; the end of its log: " + self.log_tail())

    def log_tail(self):
        return "\n".join(self.log.all())[-1500:]

    def wait_connected(self, plugin):
        """Return when containerd says that PLUGIN is connected, once more than at the last call."""
        wanted = 'plugin \\"%s\\" connected' % plugin
        self._connected[plugin] += 1
        self.log.wait(lambda line: wanted in line, "log line: " + wanted, self._connected[plugin])

    def kill(self):
        """SIGKILL, as when the machine's memory runs out: pods and containers live on."""
        self.cri.close()
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self):
        self.cri.close()
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(PATIENCE)

    def _clean(self):
        if self.process is not None and self.process.poll() is None:
            self.stop()
        kill_shims()  # they have containerd's standard error too
        if self.log is not None:
            self.log.join()
        with open("/proc/self/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1] for line in file]
        for mount in reversed(mounts):
            if mount.startswith(WORK + "/"):
                subprocess.run(["umount", "-l", mount], check=False, stderr=subprocess.DEVNULL)

    # Pods and containers

    def run_pod(self, name, annotations=None):
        config = {
            "metadata": {"name": name, "uid": "uid-" + name, "namespace": "default"},
            "log_directory": WORK + "/logs/" + name,
            "labels": {"suite": "e2e"},
            "annotations": {"pod-says": name, **(annotations or {})},
            "linux": {
                "cgroup_parent": self._parent + "/" + name,
                # The machine's network (that of the test's namespace), so that no network plugin is needed.
                "security_context": {"namespace_options": {"network": "NODE", "pid": "CONTAINER"}},
            },
        }
        os.makedirs(config["log_directory"], exist_ok=True)
        return Pod(self, self.cri.RunPodSandbox(config=config)["pod_sandbox_id"], config)


class Pod:
    def __init__(self, node, pod_id, config):
        self.node = node
        self.id = pod_id
        self.config = config

    def create(self, name, command=None, annotations=None):
        config = {
            "metadata": {"name": name},
            "image": {"image": images.BUSYBOX},
            "command": command or IDLE,
            "envs": [{"key": "FROM_CRI", "value": "yes"}],
            "labels": {"container": name},
            "annotations": annotations or {},
            "log_path": name + ".log",
            "linux": {
                "resources": {
                    "cpu_period": 100000,
                    "cpu_quota": 50000,
                    "cpu_shares": 512,
                    "memory_limit_in_bytes": 64 << 20,
                },
                "security_context": {"namespace_options": {"network": "NODE", "pid": "CONTAINER"}},
            },
        }
        reply = self.node.cri.CreateContainer(pod_sandbox_id=self.id, config=config, sandbox_config=self.config)
        return Container(self.node, reply["container_id"])

    def start(self, name, **more):
        container = self.create(name, **more)
        container.start()
        return container

    def remove(self):
        self.node.cri.StopPodSandbox(pod_sandbox_id=self.id)
        self.node.cri.RemovePodSandbox(pod_sandbox_id=self.id)


class Container:
    def __init__(self, node, container_id):
        self.node = node
        self.id = container_id

    def start(self):
        self.node.cri.StartContainer(container_id=self.id)

    def spec(self):
        """The OCI spec that the container was made from."""
        reply = self.node.cri.ContainerStatus(container_id=self.id, verbose=True)
        return json.loads(reply["info"]["info"])["runtimeSpec"]

    def cgroup(self):
        return self.spec()["linux"]["cgroupsPath"]

    def execute(self, *command):
        """The output of COMMAND, run in the container by a real exec."""
        reply = self.node.cri.ExecSync(container_id=self.id, cmd=list(command), timeout=10)
        return base64.b64decode(reply.get("stdout", "")).decode()

    def env(self):
        return dict(line.split("=", 1) for line in self.execute("env").splitlines() if "=" in line)

    def update(self, **resources):
        self.node.cri.UpdateContainerResources(container_id=self.id, linux=resources)

    def remove(self):
        self.node.cri.StopContainer(container_id=self.id, timeout=5)
        self.node.cri.RemoveContainer(container_id=self.id)


def kill_shims():
    """End the shims (and with them the containers) that outlived their containerd. This process is the only other one
    in its pid namespace, so no shim of anybody else's can be met."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as file:
                program = file.read().split(b"\0")[0]
            if os.path.basename(program).startswith(b"containerd-shim"):
                os.kill(int(entry), 9)
        except (FileNotFoundError, ProcessLookupError):
            pass
