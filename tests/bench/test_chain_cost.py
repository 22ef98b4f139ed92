#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_chain_cost.py CHAIN PLUGIN DRIVER RECORDING: what a CreateContainer through ten plugins costs nri_runtime, against a
loop that only packs and unpacks.

Instructions are counted, both in this run, and only their ratio counts: no time is in it. The difference of a long and a
short run leaves out starting and ending. Allocations are those that libnri asks its allocator for once it is warm.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PLUGINS = 10
BATCHES = 21  # of a run, the warm-up counted (bench_chain.c)
FEW, MANY = 2, 10  # requests in a batch
# The runtime has 0.85 of the loop's instructions, though it merges: it encodes again only what plugins changed. Without
# that it is 1.3 (doc/performance.md).
RATIO = 1.0


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s failed:\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return done.stdout


class Cost:
    def __init__(self, scratch, chain, plugin, driver, recording):
        self.chain, self.plugin = chain, plugin
        self.payload, self.out = os.path.join(scratch, "payload"), os.path.join(scratch, "callgrind.out")
        run(driver, "payload", recording, self.payload)

    def command(self, mode, count):
        return self.chain, mode, self.payload, str(count), str(PLUGINS), self.plugin

    def instructions(self, mode, count):
        run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + self.out, *self.command(mode, count))
        with open(self.out, encoding="ascii", errors="replace") as file:
            return int(re.search(r"^summary: (\d+)", file.read(), re.MULTILINE).group(1))

    def per_request(self, mode):
        requests = (MANY - FEW) * BATCHES * PLUGINS
        return (self.instructions(mode, MANY) - self.instructions(mode, FEW)) / requests

    def allocations(self):
        return int(re.search(r"^allocations (\d+)", run(*self.command("nri", MANY)), re.MULTILINE).group(1))


def main():
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        cost = Cost(scratch, *(os.path.abspath(path) for path in sys.argv[1:]))
        base, runtime, allocations = cost.per_request("floor"), cost.per_request("nri"), cost.allocations()
    print("instructions for each request to one of %d plugins: %.0f, packing and unpacking alone %.0f: %.2f of it, "
          "limit %.2f" % (PLUGINS, runtime, base, runtime / base, RATIO))
    print("allocations in %d creations: %d, limit 0" % ((BATCHES - 1) * MANY, allocations))
    if base < 10000:
        sys.exit("the loop to compare with does not do its work")
    return 0 if runtime <= RATIO * base and allocations == 0 else 1


sys.exit(main())
