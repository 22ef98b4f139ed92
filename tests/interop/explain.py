#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain.py NRICTL LOGGER WORK: nrictl explain at a runtime on the Go NRI module 0.12.5, which tells validators who owns what.

Exit: 0 each change is its plugin's, 1 it is not, 77 with a reason when there is no Go or its modules cannot be had.
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
NRICTL, LOGGER, WORK = (os.path.realpath(path) for path in sys.argv[1:4])
VERSION = "0.12.5"
# Far above what anything here needs.
PATIENCE = 120


@contextlib.contextmanager
def started(*argv, **options):
    process = subprocess.Popen(argv, text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def main():
    built = subprocess.run([os.path.join(HERE, "plugin.sh"), WORK, VERSION, "create"], check=False)
    if built.returncode != 0:
        return built.returncode
    with tempfile.TemporaryDirectory(prefix="nri") as directory, contextlib.ExitStack() as stack:
        socket = os.path.join(directory, "nri.sock")
        runtime = stack.enter_context(started(os.path.join(WORK, "go-create-" + VERSION), socket, "3",
                                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        if runtime.stdout.readline() != "listening\n":
            print("the runtime does not listen")
            return 1
        for index, name, change in (("10", "a", "PATH=/a"), ("20", "b", "B=2")):
            stack.enter_context(started(LOGGER, "--idx", index, "--name", name, "--socket", socket, "--add-env", change,
                                        stdout=subprocess.DEVNULL))
        explain = stack.enter_context(started(NRICTL, "explain", "--socket", socket, "-n", "1", "--output", "json",
                                              stdout=subprocess.PIPE))
        out, _ = explain.communicate(timeout=PATIENCE)
        runtime_out, _ = runtime.communicate(timeout=PATIENCE)
    (event,) = json.loads(out)["events"]
    seen = [(plugin["plugin"], change["key"], change.get("before"), change.get("after"))
            for plugin in event["plugins"] for change in plugin["changes"]]
    expected = [("10-a", "PATH", "PATH=/bin", "PATH=/a"), ("20-b", "B", None, "B=2")]
    if (explain.returncode, event["attributed"], seen, sorted(runtime_out.split())) == (0, True, expected, ["B=2", "PATH=/a"]):
        print("2 changes, each its plugin's")
        return 0
    print("nrictl explain ended with %d: %s; the runtime has %s" % (explain.returncode, json.dumps(event), runtime_out))
    return 1


sys.exit(main())
