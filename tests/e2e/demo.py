#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py --examples DIRECTORY: nri-logger changes a container of the containerd in this root, told step by step."""

import argparse
import os
import shlex
import sys

sys.dont_write_bytecode = True

import harness  # noqa: E402
import node as nodes  # noqa: E402
from plugin import Plugin  # noqa: E402


def tell(text):
    """Narration, told apart from output where there is a terminal to do so."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = "\033[1;36m%s\033[0m" % text
    print(text, flush=True)


def show(run, program):
    node = nodes.Node(run)
    tell("containerd %d.%d.%d is up, with NRI on %s." % (*run.version, nodes.NRI_SOCKET))

    options = ["--add-env", "GREETING=hello from a C plugin", "--add-annotation", "example.nri/seen-by=nri-logger"]
    tell("Starting: nri-logger --name logger --idx 10 %s" % " ".join(map(shlex.quote, options)))
    plugin = Plugin(run, program, *options, name="logger")
    tell("containerd has connected and synchronised it. Now a pod with a container, through the CRI.")

    container = node.run_pod("demo-pod").start("demo-container")
    plugin.wait("PostStartContainer")
    tell("What nri-logger was told so far:")
    for record in plugin.events():
        line = "  %-20s pod %-9s %s" % (record["event"], _name(record, "pod"), _container(record))
        print(line.rstrip(), flush=True)
    annotation = container.spec()["annotations"].get("example.nri/seen-by")
    tell("The annotation in the container's OCI spec:")
    print("  example.nri/seen-by: %s" % annotation, flush=True)

    env = container.execute("env")
    tell("And the environment inside the container, by a real exec of env (FROM_CRI is the pod's own):")
    for line in sorted(env.splitlines()):
        print("  " + line, flush=True)
    return 0 if "GREETING=hello from a C plugin" in env.splitlines() and annotation == "nri-logger" else 1


def _name(record, key):
    value = record.get(key, "")
    return value.get("name", "") if isinstance(value, dict) else value


def _container(record):
    name = _name(record, "container")
    return "container " + name if name else ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--examples", required=True)
    options = parser.parse_args()
    with harness.Run(harness.Report(), nodes.read_version()) as run:
        try:
            return show(run, os.path.join(options.examples, "nri-logger"))
        except harness.Unmet as unmet:
            print("demo: %s" % unmet)
            return 1


if __name__ == "__main__":
    sys.exit(main())
