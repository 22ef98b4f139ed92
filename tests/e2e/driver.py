#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""driver.py --program PLUGIN [--examples DIRECTORY] [--creates N] [--restarts N] [SCENARIO...]

Plays scenarios on the containerd of the root that it runs in (enter.sh). Each scenario has a containerd of its own.
"""

import argparse
import subprocess
import sys

sys.dont_write_bytecode = True

import cgroup  # noqa: E402
import harness  # noqa: E402
import node  # noqa: E402
import scenarios  # noqa: E402, F401


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--examples", default="/build/examples")
    parser.add_argument("--creates", type=int, default=10)  # of slow, an even number
    parser.add_argument("--restarts", type=int, default=5)  # of restart
    parser.add_argument("scenario", nargs="*")
    options = parser.parse_args()
    unknown = [name for name in options.scenario if name not in harness.SCENARIOS]
    if unknown:
        parser.error("no scenario %s; there are: %s" % (", ".join(unknown), " ".join(harness.SCENARIOS)))

    tried = subprocess.run([options.program, "--help"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print("the plugin does not run in this root: %s" % (tried.stderr or tried.stdout).strip())
        return 1
    version = node.read_version()
    print("containerd %d.%d.%d, cgroup v%d" % (*version, 2 if cgroup.UNIFIED else 1), flush=True)

    harness.Run.program = options.program
    harness.Run.examples = options.examples
    harness.Run.creates = options.creates
    harness.Run.restarts = options.restarts
    report = harness.Report()
    for name in options.scenario or harness.SCENARIOS:
        report.play(name, version)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
