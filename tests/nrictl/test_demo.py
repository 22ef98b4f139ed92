#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_demo.py NRICTL PROGRAMS: what README.md and doc/nrictl.md show of tools/demo.sh is what it prints."""
import os
import re
import shutil

import case

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, os.pardir)


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def timeless(text):
    """Without times, and the blanks that stand for their width and at the ends of lines."""
    return [re.sub(r" +[0-9]+\.[0-9]{2} ms| +TIME|^ {20,}", " TIME", line).rstrip() for line in text.splitlines()]


class Demo(case.Case):
    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        self.write(name, text + "\n")

    def machine(self):
        for program in "nri-cpu-pinner", "nri-device-injector":
            if not os.path.exists(os.path.join(case.PROGRAMS, program)):
                self.skipTest(program + " was not built")
        shutil.copy(os.path.join(ROOT, "tools", "demo.yaml"), self.path("demo.yaml"))
        for cpu in range(8):
            self.put(f"sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list", str(cpu))
        for name, text in (("cpu/online", "0-7"), ("node/online", "0"), ("node/node0/cpulist", "0-7")):
            self.put("sys/devices/system/" + name, text)

    def demo(self):
        self.machine()
        return timeless(self.run_nrictl("explain", "--container", "db", "demo.yaml").stdout)

    def test_readme(self):
        shown = re.search(r"^    CreateContainer of db.*?\n\n", read("README.md"), re.MULTILINE | re.DOTALL).group()
        self.assertEqual(timeless(re.sub(r"^    ", "", shown, flags=re.MULTILINE).rstrip("\n")), self.demo())

    def test_documentation(self):
        shown = re.search(r"^CreateContainer of db.*?(?=^```)", read("doc", "nrictl.md"), re.MULTILINE | re.DOTALL).group()
        self.assertEqual(timeless(shown), self.demo())

    def test_the_simulation(self):
        # What the script shows of it begins at this line.
        self.machine()
        shown = self.run_nrictl("sim", "demo.yaml").stdout.split("\nplugins\n")[1].splitlines()
        self.assertEqual({line.split()[0] for line in shown[1:3]}, {"10-device-injector", "20-cpu-pinner"})
        self.assertRegex(shown[-1], r"^passed: 6 of 6 steps, \d+ events")

    def test_the_script_makes_that_machine(self):
        # The test's machine is the script's: what it writes where.
        script = read("tools", "demo.sh")
        for piece in ("for cpu in 0 1 2 3 4 5 6 7;", 'echo "$cpu" >"$place/sys/devices/system/cpu/cpu$cpu/topology/core_cpus_list"',
                      'echo 0-7 >"$place/sys/devices/system/cpu/online"', 'echo 0 >"$place/sys/devices/system/node/online"',
                      'echo 0-7 >"$place/sys/devices/system/node/node0/cpulist"',
                      'nrictl sim "$place/demo.yaml"', "sed -n '/^plugins$/,$p' \"$place/sim.txt\"",
                      'nrictl explain --container db "$place/demo.yaml"'):
            self.assertIn(piece, script)


case.main()
