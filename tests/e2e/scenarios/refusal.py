# SPDX-License-Identifier: Apache-2.0
"""A plugin that refuses: its words are in the CRI's error."""

import cri
from harness import scenario
from node import Node
from plugin import Plugin


@scenario
def pod_refused(run):
    """a refused RunPodSandbox fails the pod with the plugin's text"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--refuse", "RunPodSandbox=no pod on a Sunday, says e2e")
    try:
        node.run_pod("pod-m")
        run.check("the pod fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error has the plugin's text", "no pod on a Sunday, says e2e" in text, text)
    run.equal("the plugin is still there", plugin.process.poll(), None)


@scenario
def container_refused(run):
    """a refused CreateContainer fails the container with the plugin's text, and is followed by Stop and Remove"""
    node = Node(run)
    plugin = Plugin(run, run.program, "--refuse", "CreateContainer=this image is not to my taste")
    pod = node.run_pod("pod-n")
    try:
        pod.create("c0")
        run.check("the container fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error has the plugin's text", "this image is not to my taste" in text, text)
    plugin.wait("RemoveContainer")
    run.equal(
        "the events",
        [e["event"] for e in plugin.events()],
        ["RunPodSandbox", "CreateContainer", "StopContainer", "RemoveContainer"],
    )
    pod.remove()
    plugin.wait("RemovePodSandbox")
    run.equal("the plugin is still there", plugin.process.poll(), None)


@scenario
def refused_later(run):
    """a refusal that comes after the handler has returned counts too"""
    node = Node(run)
    Plugin(run, run.program, "--later", "CreateContainer=100", "--refuse", "CreateContainer=thought about it: no")
    pod = node.run_pod("pod-o")
    try:
        pod.create("c0")
        run.check("the container fails", False)
    except cri.Error as error:
        text = error.details()
        run.check("the CRI error has the plugin's text", "thought about it: no" in text, text)
