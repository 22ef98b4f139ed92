#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_code_in_docs.py ROOT BUILD LIBRARY APP_LIBRARY CC...: the C in every page, compiled as it stands. The blocks of a
page are one file up to the one with main(), with which the next file begins after it; what is behind the last belongs to that.
A program whose last block has a block of text behind it is run, and must print that. The daemon in doc/app.md and the
container manager in doc/runtime.md are run as the pages say. BUILD has the generated headers; APP_LIBRARY is "" where nri-app
was not built."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from case import Case, Program
from protobuf import fields, last

ROOT, BUILD, LIBRARY = map(os.path.abspath, sys.argv[1:4])
APP_LIBRARY = sys.argv[4]
COMPILER = sys.argv[5:]
del sys.argv[1:]

BLOCK = re.compile(r"^```c\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*$", re.MULTILINE)
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# A page need not use all that it shows.
UNUSED = ["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-const-variable"]
HEADERS = ["-I", os.path.join(ROOT, "include"), "-I", os.path.join(BUILD, "include")]


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def pages():
    patterns = ["README.md", "doc/*.md", "examples/*/*.md"]
    found = [name for pattern in patterns for name in glob.glob(os.path.join(ROOT, pattern))]
    return sorted(os.path.relpath(name, ROOT) for name in found)


def programs(page):
    """The files of a page: (source, what it prints)."""
    found, blocks = [], []
    for code, printed in BLOCK.findall(page):
        blocks.append(code)
        if "int main(" in code:
            found.append(("".join(blocks), printed))
            blocks = []
    if found and blocks:
        source, printed = found.pop()
        return [*found, (source + "".join(blocks), printed)]
    return found or [("".join(blocks), "")]


class Compiled(Case):
    def written(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def compiled(self, name, text):
        """A program linked with libnri; with libuv too, where its source wants that."""
        source, path = self.written(name + ".c", text), os.path.join(self.directory, name)
        libraries = [LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)] + (["-luv"] if "<uv.h>" in text else [])
        subprocess.run([*COMPILER, *WARNINGS, *HEADERS, source, "-o", path, *libraries], check=True)
        return path


def has_libuv():
    """The system's, which libnri links too, and not one of a subproject's."""
    if os.environ.get("NRI_LIBUV") == "internal":
        return False
    command = [*COMPILER, "-E", "-include", "uv.h", "-x", "c", os.devnull]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class CodeInDocs(Compiled):
    def test_files_of_a_page(self):
        one, two = "```c\nint a;\n```\n", "text\n```c\nint main(void)\n```\n"
        shown, last = "```text\nx\n```\n", "```c\nint b;\n```\n"
        both = "int a;\nint main(void)\n"
        self.assertEqual(programs(one + last), [("int a;\nint b;\n", "")])
        self.assertEqual(programs(one + two + last), [(both + "int b;\n", "")])
        self.assertEqual(programs(one + two + "\n" + shown + one + two + last), [(both, "x\n"), (both + "int b;\n", "")])

    def test_every_page_compiles(self):
        with_code = [page for page in pages() if BLOCK.search(read(page))]
        self.assertLessEqual({"README.md", "doc/app.md", "doc/deadlines.md", "doc/reconnect.md"}, set(with_code))
        without_libuv = not has_libuv()
        for page in with_code:
            for number, (text, printed) in enumerate(programs(read(page)), 1):
                if without_libuv and "<uv.h>" in text:
                    print("%s, program %d: not compiled, for want of the system's libuv" % (page, number))
                    continue
                with self.subTest(page, program=number):
                    name = "%s-%d" % (page.replace("/", "-"), number)
                    source = self.written(name + ".c", text)
                    command = [*COMPILER, *WARNINGS, *UNUSED, *HEADERS, "-fsyntax-only", source]
                    ended = subprocess.run(command, capture_output=True, text=True, check=False)
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                    if printed:
                        command = [self.compiled(name, text)]
                        ended = subprocess.run(command, capture_output=True, text=True, check=False)
                        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, printed, ""))

    def test_fences_are_pairs(self):
        for page in pages():
            with self.subTest(page):
                kinds = FENCE.findall(read(page))
                self.assertEqual(len(kinds) % 2, 0)
                self.assertEqual([kind for kind in kinds[1::2] if kind != "```"], [])

    def test_links(self):
        for page in pages():
            where = os.path.join(ROOT, os.path.dirname(page))
            links = [link for link in re.findall(r"\]\(([^)#:]+)\)", read(page))]
            with self.subTest(page):
                self.assertEqual([link for link in links if not os.path.exists(os.path.join(where, link))], [])


# An external plugin of the container manager's: once it is synchronised, it asks for more than there is.
ASKING = r"""
#include <nri/nri.h>
#include <stdio.h>
static void answered(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    printf("%s, %zu failed: %s\n", nri_error_name(nri_update_result_code(result)),
           nri_update_result_failed_count(result), nri_update_result_failed_id(result, 0));
    (void)user;
    nri_plugin_stop(plugin);
}
static int nothing(nri_request *req, void *user)
{
    (void)req;
    (void)user;
    return 0;
}
static int synchronize(nri_request *req, void *user)
{
    nri_updates *updates = NULL;
    int code = nri_updates_new(&updates, NULL);
    if (code == 0)
        code = nri_update_set_cpu_shares(nri_updates_container(updates, "ctr0"), 77);
    if (code == 0)
        code = nri_update_set_cpu_shares(nri_updates_container(updates, "other"), 78);
    if (code == 0)
        code = nri_updates_evict(updates, "other", "it is in the way");
    if (code == 0)
        code = nri_plugin_update_containers(nri_request_plugin(req), updates, NULL, answered, NULL);
    nri_updates_free(updates);
    (void)user;
    return code;
}
int main(int argc, char **argv)
{
    struct nri_plugin_ops ops = {.size = sizeof ops, .on_synchronize = synchronize, .on_stop_container = nothing};
    struct nri_plugin_options options = {.size = sizeof options, .name = "asking", .index = "20", .socket_path = argv[1]};
    nri_plugin *plugin = NULL;
    if (argc != 2 || nri_plugin_new(&plugin, &ops, &options, NULL, NULL) != 0)
        return 2;
    int code = nri_plugin_run(plugin);
    nri_plugin_close(plugin, NULL, NULL);
    return code != 0;
}
"""


class Manager(Compiled):
    """The container manager in doc/runtime.md."""

    def setUp(self):
        super().setUp()
        (source,) = [text for text, _ in programs(read("doc/runtime.md")) if "signalfd" in text]
        self.program = self.compiled("manager", source)
        for name in ("plugins", "configs", "bundle"):
            os.mkdir(os.path.join(self.directory, name))
        self.config = self.written("bundle/config.json", '{"ociVersion": "1.2.0", "process": {"args": ["sh"]}}')
        self.socket = os.path.join(self.directory, "run", "nri.sock")
        reader, writer = os.pipe()
        self.out = os.fdopen(reader, encoding="utf-8")
        self.addCleanup(self.out.close)
        self.writer = writer

    def start(self, *required):
        places = [os.path.join(self.directory, name) for name in ("plugins", "configs")]
        command = [self.program, *places, self.socket, os.path.dirname(self.config), *required]
        running = Program(self.directory, command, stdout=self.writer)
        os.close(self.writer)
        self.addCleanup(running.close)
        return running

    def records(self, running):
        lines = [json.loads(line) for line in running.err().splitlines() if line.startswith("{")]
        return [(line["event"], [step["plugin"] for step in line["steps"]]) for line in lines]

    def test_creates_a_container(self):
        os.rename(self.compiled("hello", programs(read("README.md"))[0][0]),
                  os.path.join(self.directory, "plugins", "10-hello"))
        asking = self.compiled("asking", ASKING)
        running = self.start("hello")
        self.assertEqual(self.out.readline(), "ctr0 is created\n", running.err())
        with open(self.config, encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(config["annotations"], {"example.com/manager": "yes"})
        self.assertEqual(config["process"]["env"], ["HELLO=nri"])
        asked = subprocess.run([asking, self.socket], capture_output=True, text=True, check=False)
        self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, "NRI_OK, 1 failed: other\n", ""))
        self.assertEqual(self.out.readline(), "evicted other: it is in the way\n")
        with open(self.config, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["linux"]["resources"]["cpu"], {"shares": 77})
        running.process.send_signal(signal.SIGUSR1)
        counted = 'nri_runtime_invocations_total{plugin="10-hello",event="CreateContainer"} 1\n'
        self.assertTrue(any(line == counted for line in self.out))
        self.assertEqual(running.end()[0], 0, running.err())
        self.assertIn(("CreateContainer", ["05-mark", "10-hello"]), self.records(running))

    def test_required_plugin_is_missing(self):
        running = self.start("hello")
        line = self.out.readline()
        self.assertIn("ctr0 is not created: ", line, running.err())
        self.assertIn("hello", line)
        self.assertEqual(running.end()[0], 0, running.err())
        events = [event for event, _ in self.records(running)]
        self.assertEqual(events, ["RunPodSandbox", "CreateContainer", "StopContainer", "RemoveContainer"])


@unittest.skipUnless(APP_LIBRARY, "nri-app was not built")
class Daemon(Case):
    """doc/app.md."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.directory, "limits")
        source = self.program + ".c"
        with open(source, "w", encoding="utf-8") as file:
            file.write("".join(code for code, _ in programs(read("doc/app.md"))))
        libraries = [os.path.abspath(APP_LIBRARY), LIBRARY]
        paths = ["-Wl,-rpath," + os.path.dirname(library) for library in libraries]
        subprocess.run([*COMPILER, *WARNINGS, *HEADERS, source, "-o", self.program, *libraries, *paths], check=True)
        (shown,) = re.findall(r"^    echo '(memory: .*)' > limits.yaml$", read("doc/app.md"), re.MULTILINE)
        self.config = os.path.join(self.directory, "limits.yaml")
        self.checkpoint = os.path.join(self.directory, "notes")
        self.write(shown)

    def write(self, text):
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.rename(self.config + ".new", self.config)

    def checked(self):
        command = [self.program, "--config", self.config, "--check-config"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_check_config(self):
        ended = self.checked()
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        for text, reason in [("owners: [a]", "memory.limit: is required, but not given"),
                             ("memory: {limit: 1Mi}", 'memory.limit: "1Mi" is out of range: at least 4Mi'),
                             ("memory: {limit: 67108865}", "memory.limit: is no number of pages")]:
            with self.subTest(text):
                self.write(text)
                ended = self.checked()
                self.assertEqual(ended.returncode, 2)
                self.assertIn(reason, ended.stderr)

    def test_update_waits_for_the_runtime(self):
        reader, writer = os.pipe()
        log = os.fdopen(reader, encoding="utf-8")
        self.addCleanup(log.close)
        command = [self.program, "--config", self.config, "--checkpoint", self.checkpoint]
        running = Program(self.directory, [*command, "--socket", self.listener.path], stderr=writer)
        os.close(writer)
        self.addCleanup(running.close)
        connection = self.listener.accept()
        connection.start()
        # ContainerAdjustment.linux.resources.memory.limit, an OptionalInt64.
        value = last(connection.create(), 1)
        for number in (6, 2, 1, 1, 1):
            value = last(fields(value), number)
        self.assertEqual(value, 64 << 20)
        with open(self.checkpoint, encoding="utf-8") as file:
            self.assertIn('{"notes":{"ctr0":"limited"}}', file.read())
        # The runtime goes; while it is away the configuration changes; the next one is told.
        connection.close()
        self.assertTrue(any("connection closed" in line for line in log))
        self.write("memory: {limit: 128Mi}")
        self.assertTrue(any("was read again, and taken" in line for line in log))
        again = self.listener.accept()
        again.registration()
        again.answer_registration()
        again.configure()
        request = again.runtime_call("UpdateContainers")
        update = fields(last(request, 1))
        self.assertEqual(last(update, 1), b"ctr0")
        value = last(update, 2)
        for number in (1, 1, 1, 1):
            value = last(fields(value), number)
        self.assertEqual(value, 128 << 20)
        self.assertEqual(running.end(signal.SIGTERM)[0], 0)


if __name__ == "__main__":
    unittest.main()
