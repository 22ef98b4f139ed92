#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_mini_runtime.py RUNTIME OCI_APPLY MINI_RUNTIME SCRIPTED: mini-runtime starts two plugins, asks
them about a bundle, and runs it with a real OCI runtime: what both adjusted is seen from inside.

77, with the reason, where the runtime is not installed or cannot run the bundle as it is.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

from test_bundle import TIMEOUT, Bundle, skip

SCRIPT = r"""
echo "env=$FIRST,$SECOND"
echo "mount=$(cat /added/file)"
echo "device=$(stat -c '%F %t:%T' /dev/mine)"
echo "quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cut -d' ' -f1 /sys/fs/cgroup/cpu.max)"
exit 5
"""


def plugin(directory, name, scripted, adjust):
    """A launched plugin gets no arguments and no PATH: a script in its place has both."""
    script = os.path.join(directory, name + ".json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"event": "CreateContainer", "adjust": adjust}]}, file)
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexport LD_LIBRARY_PATH='{os.environ.get('LD_LIBRARY_PATH', '')}'\n"
                   f"exec '{scripted}' --script '{script}'\n")
    os.chmod(path, 0o755)


def main():
    runtime, apply, mini, scripted = sys.argv[1], *map(os.path.abspath, sys.argv[2:5])
    runtime = shutil.which(runtime, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if runtime is None:
        skip(sys.argv[1] + " is not installed")
    if os.geteuid() != 0:
        skip("only root can run the bundle")
    with tempfile.TemporaryDirectory() as top:
        bundle = Bundle(runtime, apply, top)
        runs, text = bundle.runs()
        if not runs:
            skip(f"{runtime} cannot run its own bundle here: {text}")
        check(bundle, top, mini, scripted)
    print("ok")


def check(bundle, top, mini, scripted):
    with open(bundle.config, encoding="utf-8") as file:
        config = json.load(file)
    config["process"]["args"] = ["/bin/sh", "-c", SCRIPT]
    with open(bundle.config, "w", encoding="utf-8") as file:
        json.dump(config, file)
    plugins, shared, hooked = (os.path.join(top, name) for name in ("plugins", "shared", "hooked"))
    os.mkdir(plugins)
    os.mkdir(shared)
    with open(os.path.join(shared, "file"), "w", encoding="utf-8") as file:
        file.write("from the host")
    plugin(plugins, "10-first", scripted, {
        "env": [{"key": "FIRST", "value": "1"}],
        "mounts": [{"destination": "/added", "source": shared, "type": "bind",
                    "options": ["rbind", "ro"]}],
        "linux": {"devices": [{"path": "/dev/mine", "type": "c", "major": 1, "minor": 3}]}})
    plugin(plugins, "20-second", scripted, {
        "env": [{"key": "SECOND", "value": "2"}],
        "hooks": {"create_runtime": [{"path": "/bin/sh",
                                      "args": ["sh", "-c", f"echo done >'{hooked}'"]}]},
        "linux": {"resources": {"cpu": {"quota": 50000, "period": 100000}}}})
    done = subprocess.run(
        [*bundle.before, mini, "-r", bundle.runtime, "-p", plugins, "-c", top, top,
         "nri-" + uuid.uuid4().hex[:12]],
        capture_output=True, text=True, timeout=TIMEOUT, check=False)
    facts = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    wanted = {"env": "1,2", "mount": "from the host", "device": "character special file 1:3",
              "quota": "50000"}
    if facts != wanted or done.returncode != 5:
        sys.exit(f"wanted {wanted} and 5, found {facts} and {done.returncode}\n{done.stderr}")
    with open(hooked, encoding="utf-8") as file:
        assert file.read() == "done\n"
    for what in ("10-first", "20-second", "Env FIRST", "Env SECOND", "CPUQuota", "Mounts /added"):
        if what not in done.stderr:
            sys.exit(f"the table has no {what}\n{done.stderr}")


if __name__ == "__main__":
    main()
