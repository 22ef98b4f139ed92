#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_shell.py NRICTL PROGRAMS: nrictl sim --shell, from a pipe and on a terminal."""
import json
import os
import pty
import select
import signal
import subprocess
import time

import case


class Shell(case.Case):
    def shell(self, *lines, expect=case.OK, options=()):
        return self.run_nrictl("sim", "--shell", *options, text="\n".join(lines) + "\n", expect=expect)

    def test_life(self):
        done = self.shell("run pod label.app=web", "create pod app env.A=1 memory=64M", "start app", "containers",
                          "exit app 3", "remove pod", options=["-p", "10-first=nri-template"])
        self.assertIn("create pod app: done, 2 events", done.stdout)
        self.assertIn("  10-first sets Env NRI_TEMPLATE\n", done.stdout)
        self.assertRegex(done.stdout, r"app +app +pod +running")
        self.assertIn("remove pod: done, 3 events", done.stdout)
        self.assertNotIn("nri-template: ", done.stdout)

    def test_file_of_a_container(self):
        self.write("container.json", json.dumps({"args": ["server"], "linux": {"resources": {"cpu": {"shares": "512"}}}}))
        done = self.shell("run pod", "create pod app file=container.json cpu-shares=256", "show app")
        self.assertIn('"server"', done.stdout)
        self.assertIn('"shares": 256', done.stdout)

    def test_json(self):
        lines = self.shell("run pod", "create pod app", "pods", options=["--output", "json"]).stdout.splitlines()
        run, create, pods = (json.loads(line) for line in lines)
        self.assertEqual(run["events"], ["RunPodSandbox"])
        self.assertEqual((create["command"], create["error"], create["done"]), ("create pod app", None, True))
        self.assertEqual(pods[0]["state"], "ready")

    def test_codes(self):
        self.assertIn("line 2: there is no command 'walk'",
                      self.shell("pods", "walk", "start none", expect=case.USAGE).stderr)
        self.assertIn("line 1: start none: there is no container none",
                      self.shell("start none", expect=case.FINDING).stderr)
        self.shell("quit", "walk")

    def test_plugins(self):
        done = self.shell("connect nri-logger --name own --idx 07 --socket {socket}", "launch nri-template", "plugins",
                          "restart", "kill own", expect=case.FINDING)  # own ended with the runtime
        self.assertIn("+ plugin 07-own", done.stdout)
        self.assertRegex(done.stdout, r"00-nri-template +external")

    def test_an_eviction_is_told(self):
        scripted = os.path.join(case.PROGRAMS, os.pardir, "tests", "plugins", "scripted", "nri-scripted")
        if not os.path.exists(scripted):
            self.skipTest("nri-scripted was not built")
        self.write("evict.json", '{"rules": [{"event": "StartContainer", "background": [{"evict": [{"container_id": "app", "reason": "too loud"}]}]}]}')
        process = subprocess.Popen([case.NRICTL, "sim", "--shell", "-p", "10-a=%s --script evict.json" % scripted], cwd=self.directory,
                                   env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)

        def say(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()

        for line in ("run web", "create web app", "start app"):
            say(line)
        for line in process.stdout:
            if line.startswith("* plugin"):
                break
        self.assertEqual(line, "* plugin 10-a evicts app: too loud\n")
        # It is being stopped then, by an operation like any other: one that is asked for behind it finds it stopped.
        say("exit app 1")
        say("containers")
        for line in process.stdout:
            if line.startswith("app"):
                break
        self.assertEqual(line.split(), ["app", "app", "web", "stopped", "143"])
        say("quit")
        self.assertEqual(process.wait(case.PATIENCE), case.FINDING)

    def test_usage(self):
        self.refused("sim", "--shell", "--keep", says="--shell keeps the node")

    def test_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen([case.NRICTL, "sim", "--shell", "--socket", self.path("s")], env=self.environment(),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdin.write("run pod\n")
            process.stdin.flush()
            self.assertIn("run pod: done", process.stdout.readline())
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=case.PATIENCE), case.ENVIRONMENT)
            process.communicate()
            self.assertFalse(os.path.exists(self.path("s")))

    def test_signal_within_a_command(self):
        process = subprocess.Popen([case.NRICTL, "sim", "--shell"], env=self.environment(), cwd=self.directory,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write("connect sh -c 'echo begun; exec sleep 1000'\nrun pod\n")
        process.stdin.flush()
        for line in process.stderr:
            if "begun" in line:
                break
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=case.PATIENCE)
        self.assertEqual(process.returncode, case.ENVIRONMENT)
        self.assertNotIn("run pod", out)

    def test_plugins_go_with_a_killed_simulator(self):
        process = subprocess.Popen([case.NRICTL, "sim", "--shell"], cwd=self.directory,
                                   env={**self.environment(), "TMPDIR": self.directory},
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        os.mkfifo(self.path("pid"))
        process.stdin.write("connect sh -c 'echo $$ > pid; exec sleep 1000'\n")
        process.stdin.flush()
        plugin = os.pidfd_open(int(self.read("pid")))
        self.addCleanup(os.close, plugin)
        process.kill()
        process.communicate()
        self.assertTrue(select.select([plugin], [], [], case.PATIENCE)[0])

    # ---- on a terminal ----

    def start(self):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execve(case.NRICTL, [case.NRICTL, "sim", "--shell"],
                      {**self.environment(), "TERM": "xterm", "XDG_STATE_HOME": self.path("state")})
        self.seen = ""
        self.pid = pid
        self.await_text("nrictl> ")

    def await_text(self, text):
        """Reads until it is there, and forgets what came before its end."""
        until = time.monotonic() + case.PATIENCE
        while text not in self.seen:
            self.assertLess(time.monotonic(), until, self.seen)
            if select.select([self.terminal], [], [], 1)[0]:
                self.seen += os.read(self.terminal, 65536).decode()
        self.seen = self.seen.split(text, 1)[1]

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        # While no line is edited, Ctrl-D is the terminal's own, and is lost when the editor takes that over.
        self.await_text("nrictl> ")
        process = os.pidfd_open(self.pid)
        self.addCleanup(os.close, process)
        self.type("\x04")
        self.assertTrue(select.select([process], [], [], case.PATIENCE)[0])
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), case.OK)

    def test_an_end_that_is_typed_ahead(self):
        self.needs_libedit()
        self.start()
        # While a command is under way the terminal is in its own mode, in which Ctrl-D is no byte.
        self.type("connect sh -c 'echo be''gun; until test -e go; do sleep 0.01; done'\n")
        self.await_text("begun")
        self.type("\x04")
        self.write("go", "")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), case.OK)

    def needs_libedit(self):
        if "libedit" not in subprocess.run(["ldd", case.NRICTL], capture_output=True, text=True, check=True).stdout:
            self.skipTest("nrictl was built without libedit")

    def test_terminal(self):
        self.needs_libedit()
        self.start()
        self.type("run web\n")
        self.await_text("run web: done, 1 event")
        self.await_text("nrictl> ")
        self.type("cr\tw\tapp\n")
        self.await_text("create web app: done, 2 events")
        self.await_text("nrictl> ")
        self.type("st\t")
        self.await_text("start  stop")
        self.type("\x15nonsense\n")
        self.await_text("there is no command 'nonsense'")
        self.end()
        # The next one remembers.
        self.start()
        self.type("\x1b[A\x1b[A\n")
        self.await_text("there is no pod sandbox web")
        self.end()


case.main()
