#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chain.py BUILD RECORDING: what a CreateContainer costs with 1, 4 and 10 plugins, on libnri's runtime side and on Go's.

All processes of a measurement are on one CPU. A measurement's figure is its best batch; of several, taken in turn, the
best counts, since what others do on the machine only ever adds.
"""

import os
import shutil
import subprocess
import sys
import tempfile

GO_VERSION = "0.12.5"
PLUGINS = (1, 4, 10)
COUNT, ROUNDS = 100, 3


def say(text):
    print(text, file=sys.stderr, flush=True)


def pin():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def measure(*command):
    done = subprocess.run(command, preexec_fn=pin, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout.startswith("ns "):
        sys.exit("chain: %s failed:\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return int(done.stdout.split()[1]) / 1e3


def go_programs(build):
    """The plugin and the runtime side made with Go; None where they cannot be built."""
    work = os.path.join(build, "tests", "interop", "bench-" + GO_VERSION)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop", "plugin.sh")
    for package in ("chain", "chainhost"):
        done = subprocess.run([script, work, GO_VERSION, package], capture_output=True, text=True)
        if done.returncode == 77:
            say("not beside Go: " + done.stdout.strip())
            return None
        if done.returncode != 0:
            sys.exit("chain: %s failed:\n%s%s" % (script, done.stdout, done.stderr))
    return [os.path.join(work, "go-%s-%s" % (package, GO_VERSION)) for package in ("chain", "chainhost")]


def launchable(scratch, program, count):
    """A plugin directory with so many copies of a program."""
    directory = os.path.join(scratch, "%s-%d" % (os.path.basename(program), count))
    if not os.path.isdir(directory):
        os.mkdir(directory)
        for i in range(count):
            shutil.copy(program, os.path.join(directory, "%02d-b%d" % (i, i)))
    return directory


def main():
    build, recording = os.path.abspath(sys.argv[1]), sys.argv[2]
    here = os.path.join(build, "tests", "bench")
    chain, plugin = os.path.join(here, "bench_chain"), os.path.join(here, "bench_chain_plugin")
    go = go_programs(build)
    with tempfile.TemporaryDirectory() as scratch:
        payload = os.path.join(scratch, "payload")
        subprocess.run([os.path.join(here, "bench_driver"), "payload", recording, payload], check=True)
        rows = {"packing and unpacking alone, libnri plugins": lambda n: (chain, "floor", payload, str(COUNT), str(n), plugin),
                "nri_runtime, libnri plugins": lambda n: (chain, "nri", payload, str(COUNT), str(n), plugin)}
        if go is not None:
            rows["packing and unpacking alone, Go plugins"] = lambda n: (chain, "floor", payload, str(COUNT), str(n), go[0])
            rows["nri_runtime, Go plugins"] = lambda n: (chain, "nri", payload, str(COUNT), str(n), go[0])
            rows["Go adaptation, libnri plugins"] = lambda n: (go[1], payload, str(COUNT), launchable(scratch, plugin, n))
            rows["Go adaptation, Go plugins"] = lambda n: (go[1], payload, str(COUNT), launchable(scratch, go[0], n))
        best = {}
        for i in range(ROUNDS):
            say("chains of plugins, round %d of %d ..." % (i + 1, ROUNDS))
            for name, command in rows.items():
                for n in PLUGINS:
                    taken = measure(*command(n))
                    best[name, n] = min(taken, best.get((name, n), taken))
    floor = {"libnri": "packing and unpacking alone, libnri plugins", "Go": "packing and unpacking alone, Go plugins"}
    print("One CreateContainer through a chain of plugins, in us on one CPU; in times of packing and unpacking alone.\n")
    print("%-44s" % "" + "".join("%18s" % ("%d plugin%s" % (n, "" if n == 1 else "s")) for n in PLUGINS))
    for name in rows:
        base = floor["libnri" if name.endswith("libnri plugins") else "Go"]
        print("%-44s" % name + "".join("%9.1f us %5.2f" % (best[name, n], best[name, n] / best[base, n]) for n in PLUGINS))


main()
