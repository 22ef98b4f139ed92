# SPDX-License-Identifier: Apache-2.0
"""Two plugins on one containerd."""

import cri
from harness import scenario
from node import Node
from plugin import Plugin


@scenario
def two_in_order(run):
    """two plugins are called by their index, and the later one sees what the earlier one changed"""
    node = Node(run)
    last = Plugin(run, run.program, "--add-env", "LAST=90", name="last", idx="90")  # started first, called last
    first = Plugin(run, run.program, "--add-env", "FIRST=10", name="first", idx="10")
    env = node.run_pod("pod-k").start("c0").env()
    early = first.wait("CreateContainer")
    late = last.wait("CreateContainer")
    run.check("index 10 was called before index 90", early["t"] < late["t"], (early["t"], late["t"]))
    run.check("90 saw the variable of 10", "FIRST=10" in late["env"], late["env"])
    run.check("10 did not see the variable of 90", "LAST=90" not in early["env"], early["env"])
    run.equal("inside, of 10", env.get("FIRST"), "10")
    run.equal("inside, of 90", env.get("LAST"), "90")


@scenario
def conflict(run):
    """two plugins that set one env variable: the creation fails with an error that names both"""
    node = Node(run)
    Plugin(run, run.program, "--add-env", "SAME=1", name="left", idx="10")
    Plugin(run, run.program, "--add-env", "SAME=2", name="right", idx="20")
    pod = node.run_pod("pod-l")
    try:
        pod.create("c0")
        run.check("the creation fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the error names both plugins and the variable", all(w in text for w in ("left", "right", "SAME")), text)
