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
        self.assertEqual(names, ["floor", "10-a", "20-b"] * 5)
        bars = [float(bar.get("width")) for bar in tree.iter("{http://www.w3.org/2000/svg}rect") if bar.get("class")]
        self.assertEqual(len(bars), 15)
        self.assertTrue(all(0 < bar <= 480 for bar in bars), bars)
        self.run_nrictl("bench", *FEW, *plugins, "--chart", "chart.html")
        page = self.read("chart.html")
        html.parser.HTMLParser().feed(page)
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        for fetched in ("src=", "href=", "url(", "<script"):
            self.assertNotIn(fetched, page)

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
                           (["--size", "60000", "--", "x"], "--outstanding times --size is at most 65536"),
                           (["--rounds", "10000", "--calls", "100000", "--", "x"], "--rounds times --calls"),
                           (["--timeout", "soon", "--", "x"], "--timeout"),
                           (["--plugin", "1-x=y"], "NN-NAME"),
                           (["--plugin", "x"] * 8, "--plugin may be given 7 times")):
            with self.subTest(argv):
                self.refused("bench", *argv, says=says)
        self.refused("bench", "--cpu", "1023", "--", "nri-template", says="--cpu 1023", expect=case.ENVIRONMENT)
        self.refused("bench", *FEW, "--chart", "no/such/chart.svg", "--", "nri-template", says="no/such/chart.svg",
                     expect=case.ENVIRONMENT)

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
