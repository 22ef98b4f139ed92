#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_bench.py NRICTL PROGRAMS: what nrictl bench measures, draws and refuses. No figure is held against another
but where one has to contain the other."""
import html.parser
import json
import os
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import case
import sim

FEW = ["--rounds", "2", "--calls", "5", "--starts", "2"]
EVENTS = ("CreateContainer", "StartContainer")
# Is a plugin as far as its connection; what it does then is the rest of the text.
RAW = ("import os, socket, sys, time\n"
       "s = socket.socket(fileno=int(os.environ['NRI_PLUGIN_SOCKET']))\n")
# A whole plugin, whose name no other library lets through: it answers everything with nothing.
NAMED = RAW + """
def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data

def send(connection, stream, kind, data):
    frame = len(data).to_bytes(4, "big") + stream.to_bytes(4, "big") + bytes([kind, 0]) + data
    s.sendall(connection.to_bytes(4, "big") + len(frame).to_bytes(4, "big") + frame)

send(2, 1, 1, field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"RegisterPlugin")
     + field(3, field(1, b"a<b&\\x1b[31mc\\"") + field(2, b"10")))
stream = s.makefile("rb")
while header := stream.read(8):
    data = stream.read(int.from_bytes(header[4:], "big"))
    if header[3] == 1:
        send(1, int.from_bytes(data[4:8], "big"), 2, b"")
"""
# It stops behind the handshake's two calls.
STOPS = """    if int.from_bytes(data[4:8], "big") == 3:
        os.kill(os.getpid(), 19)
"""
# The same behind the first part of the first event.
STOPS_LATER = STOPS.replace("== 3", "== 5")
# From then on it answers each call twice; answers the first one where nothing was asked; calls without end, or what a runtime
# has not; answers without end.
TWICE = """    if int.from_bytes(data[4:8], "big") > 3:
        send(1, int.from_bytes(data[4:8], "big"), 2, b"")
"""
ELSEWHERE = """    send(1, 7, 2, b"")
"""
ENDLESS = """    import threading
    threading.Thread(target=lambda: [0 for _ in iter(lambda: s.recv(65536), b"")], daemon=True).start()
    while True:
        send(2, 3, 1, field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"UpdateContainers"))
"""
UNKNOWN = """    send(2, 3, 1, field(1, b"nri.pkg.api.v1alpha1.Runtime") + field(2, b"LetMeIn"))
"""
SLOWLY = """    for byte in bytes.fromhex("000000010000ffff") + bytes([0, 0, 255, 0, 0, 0, 0, 9, 2, 0]) + bytes(65000):
        s.sendall(bytes([byte]))
        time.sleep(0.02)
"""


class Bench(case.Case):
    def measure(self, *arguments):
        return self.run_json("bench", "--output", "json", *FEW, *arguments)

    def raw(self, text):
        """A plugin's command line that runs this Python once it is connected."""
        return ["--", "python3", self.path(self.write("raw.py", RAW + text))]

    def scripted(self, *rules):
        path = self.write("script.json", json.dumps({"rules": list(rules)}))
        return ["--", os.path.join(sim.SCRIPTED, "nri-scripted"), "--script", self.path(path), "--name", "scripted", "--idx", "10"]

    def test_every_figure(self):
        result = self.measure("--plugin", "10-template=nri-template", "--plugin",
                               "nri-logger --socket {socket} --name logger --idx 20")
        self.assertEqual([plugin["plugin"] for plugin in result["plugins"]], ["10-template", "20-logger"])
        self.assertEqual(result["plugins"][1]["command"][0], "nri-logger")
        for side in [result["floor"], *result["plugins"]]:
            for event in EVENTS:
                figures = side[event]
                self.assertEqual(figures["round_trips"], 2 * 5)
                order = [figures[key] for key in ("min_ns", "median_ns", "p90_ns", "p99_ns", "max_ns")]
                self.assertEqual(order, sorted(order))
                self.assertGreater(order[0], 0)
                self.assertGreater(figures["calls_per_second"], 0)
                self.assertGreater(figures["cpu_ns"], 0)
        for plugin in result["plugins"]:
            self.assertEqual(plugin["registered"]["starts"], 2)
            self.assertLessEqual(plugin["registered"]["min_ns"], plugin["synchronised"]["min_ns"])
            self.assertLessEqual(plugin["idle_rss_bytes"], plugin["peak_rss_bytes"])
        self.assertEqual(result["floor"]["start"]["starts"], 2)
        self.assertGreater(result["floor"]["rss_bytes"], 0)

    def test_the_size_is_the_requests(self):
        sizes = []
        for size in (4000, 20000):
            result = self.measure("--outstanding", "2", "--size", str(size), "--", "nri-template")
            sizes.append(result["plugins"][0]["CreateContainer"]["request_bytes"])
            self.assertEqual(result["floor"]["CreateContainer"]["request_bytes"], sizes[-1])
        # With a second mux frame's header, and lengths that need another byte.
        self.assertIn(sizes[1] - sizes[0] - 16000, range(8, 24))
        self.assertLess(abs(sizes[0] - 4000), 200)

    def test_a_slow_plugin_is_slow(self):
        """What a handler sleeps is in the round trip, and not in the CPU time nor in the other event."""
        sleep = 30
        rule = {"event": "CreateContainer", "sleep_ms": sleep}
        plugin = self.measure(*self.scripted(rule))["plugins"][0]
        self.assertGreaterEqual(plugin["CreateContainer"]["min_ns"], sleep * 1000000)
        self.assertLess(plugin["CreateContainer"]["cpu_ns"], sleep * 1000000)
        self.assertLess(plugin["StartContainer"]["min_ns"], sleep * 1000000)

    def test_table(self):
        lines = self.run_nrictl("bench", *FEW, "--", "nri-template").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["floor", "10-nri-template"])
        for line in lines[1:13]:
            self.assertRegex(line, r" x\d+\.\d\d$")
        self.assertRegex(lines[-1], r"^2 turns of 5 calls, 2 starts, all on CPU \d+\. ")
        self.assertIn("on any CPU", self.run_nrictl("bench", *FEW, "--no-pin", "--", "nri-template").stdout)

    def test_chart(self):
        plugins = ["--plugin", "10-a=nri-template", "--plugin", "20-b=nri-template"]
        self.run_nrictl("bench", *FEW, *plugins, "--chart", "chart.svg")
        tree = ElementTree.parse(self.path("chart.svg"))
        names = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "name"]
        self.assertEqual(names, ["floor", "10-a", "20-b"] * 6)
        bars = [float(bar.get("width")) for bar in tree.iter("{http://www.w3.org/2000/svg}rect") if bar.get("class")]
        self.assertEqual(len(bars), 18)
        self.assertTrue(all(0 < bar <= 480 for bar in bars), bars)
        self.run_nrictl("bench", *FEW, *plugins, "--chart", "chart.html")
        page = self.read("chart.html")
        html.parser.HTMLParser().feed(page)
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        for fetched in ("src=", "href=", "url(", "<script"):
            self.assertNotIn(fetched, page)

    def test_a_result_outlives_its_chart(self):
        os.symlink("/dev/full", self.path("full.html"))
        for chart, says in (("no/such/chart.svg", "no/such/chart.svg: No such file"), ("full.html", "full.html: No space left")):
            done = self.run_nrictl("bench", *FEW, "--chart", chart, "--", "nri-template", expect=case.ENVIRONMENT)
            self.assertIn("start to synchronised", done.stdout)
            self.assertIn(says, done.stderr)

    def named(self, name, behind=""):
        """A plugin's command line, which has that name and these lines of Python behind its answers."""
        text = NAMED.replace('b"a<b&\\x1b[31mc\\""', repr(name))
        self.assertIn(repr(name), text)
        return ["--", "python3", self.path(self.write("named.py", text + behind))]

    def test_names_that_a_chart_has_no_room_or_no_form_for(self):
        longest = "\u00e9" * 55
        for name in (longest, "\ufffe\u009b"):
            self.run_nrictl("bench", *FEW, "--chart", "chart.svg", *self.named(name.encode()))
            tree = ElementTree.parse(self.path("chart.svg"))
            names = [text for text in tree.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "name"]
            self.assertLess(len(names[1].text), 24)
            self.assertEqual(names[1].get("textLength"), "170" if name == longest else None)
            self.assertEqual([title.text for title in names[1]], ["10-" + longest[:50]] if name == longest else [])

    def test_two_of_one_name(self):
        plugins = ["--plugin", "10-a=nri-template", "--plugin", "10-a=nri-template", "--plugin", "10-a=nri-template"]
        self.assertEqual([plugin["plugin"] for plugin in self.measure(*plugins)["plugins"]], ["10-a", "10-a (2)", "10-a (3)"])

    def test_a_program_has_the_identity_of_its_name(self):
        os.symlink(os.path.join(case.PROGRAMS, "nri-template"), self.path("20-mine"))
        self.assertEqual(self.measure("--", "./20-mine")["plugins"][0]["plugin"], "20-mine")

    def test_an_event_that_it_does_not_want(self):
        plugin = ["--", "nri-logger", "--events", "CreateContainer"]
        figures = self.measure(*plugin)["plugins"][0]
        self.assertEqual([figures[event]["subscribed"] for event in EVENTS], [True, False])
        lines = self.run_nrictl("bench", *FEW, *plugin).stdout.splitlines()
        self.assertEqual(lines[-1], "10-nri-logger does not subscribe to StartContainer: a runtime would not send it one.")

    def test_what_it_is_sent(self):
        """Each turn has its calls one by one, and as many again side by side."""
        report = self.path("report")
        self.measure("--warm-up", "3", *self.scripted(), "--report", report)
        seen = [line["event"] for line in map(json.loads, self.read("report").splitlines()) if line["what"] == "event"]
        for event in EVENTS:
            self.assertEqual(seen.count(event), 3 + 2 * (5 + 5))

    def test_a_name_is_text_in_a_chart(self):
        path = self.path(self.write("named.py", NAMED))
        table = self.run_nrictl("bench", *FEW, "--chart", "chart.svg", "--", "python3", path).stdout
        self.assertIn("10-a&lt;b&amp;?[31mc&quot;", self.read("chart.svg"))
        names = [text.text for text in ElementTree.parse(self.path("chart.svg")).iter() if text.get("class") == "name"]
        self.assertEqual(names[:2], ["floor", "10-a<b&?[31mc\""])
        self.assertNotIn("\x1b", table)

    def test_what_is_no_plugin(self):
        for argv, code, says in (
                (["--", "nri-no-such"], case.ENVIRONMENT, "nri-no-such: No such file or directory"),
                (["--", "sh", "-c", "echo out of sorts; exit 3"], case.FINDING,
                 "sh: has closed the connection; it ended with status 3; it printed: out of sorts"),
                (["--", "sh", "-c", "exit 4; : {socket}"], case.FINDING, "sh: ended with status 4 before it connected"),
                (["--timeout", "300ms", "--", "sleep", "1000"], case.FINDING, "sleep: no answer within 300 ms"),
                (["--timeout", "300ms", "--", "sh", "-c", "sleep 1000; : {socket}"], case.FINDING,
                 "sh: does not connect within 300 ms")):
            with self.subTest(says):
                self.refused("bench", *FEW, *argv, says=says, expect=code)

    def test_a_plugin_that_is_none_after_all(self):
        for text, says in (
                ("s.send(b'\\xff' * 4096); s.recv(1)", "python3: "),
                ("s.close(); time.sleep(1000)", "python3: has closed the connection"),
                ("s.send(bytes.fromhex('0000000100000000a0'))\ntime.sleep(1000)", "python3: no answer within")):
            with self.subTest(text):
                self.refused("bench", *FEW, "--timeout", "1s", *self.raw(text), says=says, expect=case.FINDING)

    def test_a_plugin_that_fails_later(self):
        self.refused("bench", *FEW, *self.scripted({"event": "CreateContainer", "error": "not today"}),
                     says="10-scripted: refuses CreateContainer: not today", expect=case.FINDING)
        path = self.path(self.write("stops.py", NAMED + STOPS))
        self.refused("bench", *FEW, "--timeout", "500ms", "--", "python3", path,
                     says="no answer within 500 ms (--timeout)", expect=case.FINDING)

    def test_a_plugin_that_answers_what_was_not_asked(self):
        for behind, patience, says in (
                (TWICE, [], "10-x: a reply on stream 5, on which no request waits for one"),
                (ELSEWHERE, [], "10-x: a reply on stream 7, on which no request waits for one"),
                (UNKNOWN, [], "10-x: a call of LetMeIn where one of UpdateContainers was due"),
                (ENDLESS, ["--timeout", "1s"], ": no answer within 1000 ms (--timeout)"),
                (SLOWLY, ["--timeout", "1s"], ": no answer within 1000 ms (--timeout)")):
            with self.subTest(says):
                self.refused("bench", *FEW, *patience, *self.named(b"x", behind), says=says, expect=case.FINDING)
        self.refused("bench", *FEW, *self.named(b"\xff"), says="its RegisterPlugin: RegisterPluginRequest.plugin_name: not UTF-8",
                     expect=case.FINDING)

    def test_a_plugin_that_does_not_read(self):
        large = ["bench", "--size", "1000000", "--outstanding", "1", "--starts", "1"]
        self.refused(*large, "--timeout", "3s", *self.named(b"x", STOPS_LATER), expect=case.FINDING,
                     says="10-x: does not read what is sent within 3000 ms (--timeout)")
        # Ctrl-C ends the wait, however long it may be.
        command = self.named(b"x", STOPS_LATER.replace("os.kill", 'os.write(os.open("stopping", os.O_WRONLY), b"."); os.kill'))
        os.mkfifo(self.path("stopping"))
        nrictl = subprocess.Popen([case.NRICTL, *large, "--timeout", "10m", *command], cwd=self.directory,
                                  env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(nrictl.kill)
        with open(self.path("stopping"), "rb") as stopping:
            self.assertEqual(stopping.read(1), b".")
        nrictl.send_signal(signal.SIGINT)
        out, err = nrictl.communicate(timeout=case.PATIENCE)
        self.assertEqual((nrictl.returncode, out, err), (case.ENVIRONMENT, "", "nrictl bench: interrupted: there is no result\n"))

    def test_calls_of_the_plugin_are_answered(self):
        update = {"update": [{"container_id": "ctr0", "linux": {"resources": {"cpu": {"shares": "1024"}}}}]}
        result = self.measure(*self.scripted({"event": "StartContainer", "background": [
            {**update, "count": 1, "timeout_ms": 5000}]}))
        self.assertEqual(result["plugins"][0]["StartContainer"]["round_trips"], 10)

    def test_usage(self):
        for argv, says in (([], "a plugin's command line is needed"),
                           (["--rounds", "0", "--", "x"], "--rounds"),
                           (["--calls", "many", "--", "x"], "--calls"),
                           (["--outstanding", "33", "--", "x"], "--outstanding"),
                           (["--warm-up", "0", "--", "x"], "--warm-up"),
                           (["--size", "60000", "--", "x"], "--outstanding times --size is at most 65536"),
                           (["--rounds", "10000", "--calls", "100000", "--", "x"], "--rounds times --calls"),
                           (["--timeout", "soon", "--", "x"], "--timeout"),
                           (["--plugin", "1-x=y"], "NN-NAME"),
                           (["--plugin", "x"] * 8, "--plugin may be given 7 times")):
            with self.subTest(argv):
                self.refused("bench", *argv, says=says)
        self.refused("bench", "--cpu", "1023", "--", "nri-template", says="--cpu 1023", expect=case.ENVIRONMENT)

    def test_an_interrupt_leaves_nothing(self):
        """The plugin tells its process by a pipe, which is at its end when all that held it are gone."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), tempfile.TemporaryDirectory(prefix="nb") as directory:
                fifo = self.path("alive-%d" % number)
                os.mkfifo(fifo)
                nrictl = subprocess.Popen(
                    [case.NRICTL, "bench", "--rounds", "10000", "--", "sh", "-c",
                     "exec 9>'%s'; exec nri-template" % fifo], cwd=self.directory,
                    env={**self.environment(), "TMPDIR": directory}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True)
                with open(fifo, "rb") as alive:
                    nrictl.send_signal(number)
                    out, err = nrictl.communicate(timeout=case.PATIENCE)
                    self.assertEqual(alive.read(), b"")
                self.assertEqual((nrictl.returncode, out), (case.ENVIRONMENT, ""))
                self.assertIn("interrupted: there is no result", err)
                self.assertEqual(os.listdir(directory), [])


case.main()
