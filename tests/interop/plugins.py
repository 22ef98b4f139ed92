# SPDX-License-Identifier: Apache-2.0
"""plugins.py HOST PLUGIN WORK [SCENARIO...]: Go plugins of several versions and one of libnri on one nri_runtime."""

import os
import shutil
import signal
import sys
import time

from hosting import LIFE, Host, Process, play

HOST, PLUGIN, WORK = (os.path.realpath(path) for path in sys.argv[1:4])

# Name, index and version of each Go plugin; the one of libnri stands in the middle.
GO = {"old": ("10", "0.6.1"), "mid": ("20", "0.8.0"), "ten": ("60", "0.10.0"), "new": ("70", "0.12.5")}
C = ("libnri", "50")
# The events of pod sandboxes that came with NRI 0.10, and the validation.
SINCE_0_10 = ["UpdatePodSandbox", "PostUpdatePodSandbox", "ValidateContainerAdjustment"]
# A time-out that is reached: what a plugin that does answer has at most.
SHORT = 4.0
ALL = LIFE[:4] + ["ValidateContainerAdjustment"] + LIFE[4:]


def program(version):
    return os.path.join(WORK, "go-events-" + version)


def go(test, host, name, *options, version=None, idx=None):
    index, its = GO.get(name, (None, None))
    plugin = test.start(Process([program(version or its), "--name", name, "--idx", idx or index, "--socket", host.socket,
                                 *options]))
    host.connected("%s-%s" % (idx or index, name))
    return plugin


def libnri(test, host, *options):
    plugin = test.start(Process([PLUGIN, "--name", C[0], "--idx", C[1], "--socket", host.socket, "--events", "all",
                                 "--add-env", "BY_LIBNRI=yes", "--add-annotation", "by/libnri=yes", *options]))
    host.connected("%s-%s" % (C[1], C[0]))
    return plugin


def everyone(test, host):
    plugins = {name: go(test, host, name) for name in GO}
    plugins["libnri"] = libnri(test, host)
    return plugins


def knows(name):
    """The events of a life that a plugin is told of, in their order."""
    return [event for event in ALL if name not in ("old", "mid") or event not in SINCE_0_10]


def sequence(plugin, pod=None):
    """What came to a plugin of the events of a life."""
    return [(one["event"], one["pod"]) for one in plugin.all() if one["event"] in ALL and pod in (None, one["pod"])]


def wait_removed(plugins, *names):
    for plugin in plugins.values():
        for name in names:
            plugin.wait(event="RemovePodSandbox", pod=name)


def sequences(test):
    """the lives of three containers, one after the other and at once: every plugin is told all that it knows, in order"""
    host = test.start(Host(HOST, test.directory.name))
    plugins = everyone(test, host)
    for name in ("one", "two", "three"):
        outcomes = host.lives(name)
        test.equal("outcomes without an error", [o["text"] for o in outcomes if o["code"]], [])
    wait_removed(plugins, "one", "two", "three")
    for name, plugin in plugins.items():
        expected = [(event, pod) for pod in ("one", "two", "three") for event in knows(name)]
        test.check("%s was told %d events in their order" % (name, len(expected)), sequence(plugin) == expected,
                   sequence(plugin))
    at_once = ("four", "five", "six")
    outcomes = host.lives(*at_once)
    test.equal("outcomes without an error, at once", [o["text"] for o in outcomes if o["code"]], [])
    wait_removed(plugins, *at_once)
    for name, plugin in plugins.items():
        for pod in at_once:
            expected = [(event, pod) for event in knows(name)]
            test.check("%s was told the life of %s in its order" % (name, pod), sequence(plugin, pod) == expected,
                       sequence(plugin, pod))
    validations = plugins["new"].all(event="ValidateContainerAdjustment")
    test.equal("the plugins whose answers a Go validator is told of", sorted(validations[0]["plugins"]),
               sorted(["%s-%s" % (index, name) for name, (index, _) in GO.items()] + ["50-libnri"]))
    test.equal("NRI version told by the oldest, the newest and libnri's",
               [host.connected(p)["version"] != "" for p in ("10-old", "70-new", "50-libnri")], [False, True, True])
    test.equal("the process of a plugin", host.connected("10-old")["pid"], plugins["old"].pid)
    test.equal("lost plugins", host.all(what="lost"), [])
    test.equal("warnings", host.all(what="log"), [])
    test.equal("the host's end", host.quit(), 0)
    for name, plugin in plugins.items():
        plugin.wait(event="End")
        test.check("%s ends" % name, plugin.process.wait(30) in (0, 1), plugin.process.returncode)


def merging(test):
    """adjustments of Go plugins and of libnri's are merged, each sees those before it"""
    host = test.start(Host(HOST, test.directory.name))
    plugins = everyone(test, host)
    outcome = host.call("CreateContainer", "merged")
    order = ["OLD", "MID", "LIBNRI", "TEN", "NEW"]
    test.equal("variables, in the order of the plugins", [(e["key"], e["value"]) for e in outcome["adjust"]["env"]],
               [("BY_" + name, "yes") for name in order])
    test.equal("annotations", outcome["adjust"]["annotations"], {"by/" + name.lower(): "yes" for name in order})
    for name, plugin in plugins.items():
        seen = plugin.wait(event="CreateContainer", container="merged")["env"]
        before = order[:order.index(name.upper())]
        test.equal("variables that %s sees" % name, seen, ["PATH=/bin"] + ["BY_%s=yes" % b for b in before])


def conflict(test):
    """the same variable by a Go plugin and by libnri's is refused in Go's words, and the next container is created"""
    host = test.start(Host(HOST, test.directory.name))
    old, new = go(test, host, "old", "--clash"), go(test, host, "new", "--clash")
    test.start(libnri(test, host, "--add-env", "CLASH=libnri"))
    outcome = host.call("CreateContainer", "clash")
    test.check("the creation fails", outcome["code"] != "", outcome)
    test.equal("its text", outcome["text"], 'plugins "50-libnri" and "10-old" both tried to set Env CLASH')
    test.equal("the last plugin is not asked", new.all(event="CreateContainer"), [])
    test.equal("the next container", host.call("CreateContainer", "fine")["text"], "")
    old.kill()
    host.lost("10-old")
    outcome = host.call("CreateContainer", "clash")
    test.equal("the other way round", outcome["text"], 'plugins "70-new" and "50-libnri" both tried to set Env CLASH')


def slow(test):
    """a Go plugin that sleeps longer than the request time-out is dropped, the others do not notice"""
    for version in ("0.6.1", "0.12.5"):
        host = test.start(Host(HOST, os.path.join(test.directory.name, version), request=SHORT))
        sleeper = go(test, host, "sleeper", "--sleep", "1h", version=version, idx="30")
        old, last = go(test, host, "old"), libnri(test, host)
        began = time.monotonic()
        host.tell("call", "CreateContainer", "slow")
        outcome = host.wait(what="outcome", name="slow")
        taken = time.monotonic() - began
        test.equal("the creation with a sleeping plugin of %s" % version, outcome["text"], "")
        test.check("it takes the time-out of %.0f s and ends before the plugin's sleep" % SHORT, taken >= SHORT, taken)
        test.equal("variables", [e["key"] for e in outcome["adjust"]["env"]], ["BY_OLD", "BY_LIBNRI"])
        lost = host.lost("30-sleeper")
        test.equal("the plugin is lost for", lost["code"], "NRI_E_TIMEOUT")
        test.check("in words", "CreateContainer" in lost["text"], lost)
        sleeper.wait(event="Closed")
        test.equal("the next creation", host.call("CreateContainer", "slow-two")["text"], "")
        for plugin in (old, last):
            plugin.wait(event="CreateContainer", container="slow-two")
            test.equal("what an other saw", [e["container"] for e in plugin.all(event="CreateContainer")],
                       ["slow", "slow-two"])
        test.equal("lost", [one["plugin"] for one in host.all(what="lost")], ["30-sleeper"])


def unsolicited(test):
    """a plugin's own updates are applied and answered, with those that failed"""
    host = test.start(Host(HOST, test.directory.name))
    plugins = {name: go(test, host, name, "--update", "ctr-one,ctr-fails") for name in GO}
    for name, plugin in plugins.items():
        plugin.signal(signal.SIGUSR1)
        answer = plugin.wait(event="UpdateContainers")
        test.equal("the answer to %s" % name, (answer["error"], answer["failed"]), ("", ["ctr-fails"]))
        test.equal("what was asked", host.wait(what="update", plugin="%s-%s" % (GO[name][0], name))["count"], 2)
    plugin = libnri(test, host, "--update-cpu-shares", "321")
    host.call("PostStartContainer", "fails")
    plugin.wait(event="PostStartContainer")
    plugin.signal(signal.SIGUSR1)
    answer = plugin.wait(event="UpdateContainers")
    test.equal("the answer to libnri's", (answer["error"], answer["failed"]), ("", 1))


def large(test):
    """a Synchronize of 20 MB comes in parts; a stub that does not know parts is dropped, and that is told"""
    host = test.start(Host(HOST, test.directory.name))
    first = go(test, host, "old")
    test.equal("an empty node", first.wait(event="Synchronize")["containers"], 0)
    host.tell("node", 2000, 10 * 1024)
    for name in ("mid", "ten", "new"):
        told = go(test, host, name).wait(event="Synchronize")
        test.equal("what %s is told" % name, (told["pods"], told["containers"]), (2000, 2000))
    told = libnri(test, host).wait(event="Synchronize")
    test.equal("what libnri's plugin is told", (told["pods"], told["containers"]), (2000, 2000))
    ancient = test.start(Process([program("0.6.1"), "--name", "ancient", "--idx", "40", "--socket", host.socket]))
    ancient.wait(event="Closed")
    said = host.wait(what="log", level="warn")
    test.check("the stub without parts is named, and why it goes", "40-ancient" in said["text"] and
               "does not handle split sync requests" in said["text"], host.all(what="log"))
    test.equal("it never counted as connected", host.all(what="connected", plugin="40-ancient"), [])
    test.equal("the others stay", host.all(what="lost"), [])
    outcome = host.call("CreateContainer", "after")
    test.equal("variables", [e["key"] for e in outcome["adjust"]["env"]],
               ["BY_OLD", "BY_MID", "BY_LIBNRI", "BY_TEN", "BY_NEW"])


def launched(test):
    """Go plugins and one of libnri are launched from the plugin directory, and end with the runtime"""
    directory = os.path.join(test.directory.name, "plugins")
    configs = os.path.join(test.directory.name, "conf.d")
    os.mkdir(directory)
    os.mkdir(configs)
    for name, (index, version) in GO.items():
        shutil.copy(program(version), os.path.join(directory, "%s-%s" % (index, name)))
    output = os.path.join(test.directory.name, "libnri.json")
    os.symlink(PLUGIN, os.path.join(directory, "50-libnri"))
    with open(os.path.join(configs, "50-libnri.conf"), "w", encoding="utf-8") as file:
        file.write("output=%s\nadd-env=BY_LIBNRI=yes\n" % output)
    host = test.start(Host(HOST, test.directory.name, directory, configs))
    pids = [one["pid"] for one in host.all(what="connected")]
    test.equal("launched", sorted(one["plugin"] for one in host.all(what="connected")),
               ["10-old", "20-mid", "50-libnri", "60-ten", "70-new"])
    test.equal("where from", {one["origin"] for one in host.all(what="connected")}, {0})
    outcomes = host.lives("one")
    test.equal("outcomes without an error", [o["text"] for o in outcomes if o["code"]], [])
    created = [o for o in outcomes if o["event"] == "CreateContainer"][0]
    test.equal("variables", [e["key"] for e in created["adjust"]["env"]],
               ["BY_OLD", "BY_MID", "BY_LIBNRI", "BY_TEN", "BY_NEW"])
    test.equal("the host's end", host.quit(), 0)
    test.equal("processes that are left", [pid for pid in pids if os.path.exists("/proc/%d" % pid)], [])


sys.exit(play([sequences, merging, conflict, slow, unsolicited, large, launched], sys.argv[4:]))
