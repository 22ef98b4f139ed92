#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that each rule of layering.py can fail, and that what is allowed passes."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import layering  # noqa: E402

SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def violations(files, spdx=SPDX):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(spdx + text)
        checker = layering.Checker(root)
        checker.run()
        return checker.violations


class Rules(unittest.TestCase):
    def bad(self, path, text, rule, line=2):
        self.assertEqual([v.split(": ")[0:2] for v in violations({path: text})],
                         [[f"{path}:{line}", rule]])

    def good(self, path, text):
        self.assertEqual(violations({path: text}), [])

    def test_include_upward(self):
        for lower, upper in zip(layering.ROOMS, layering.ROOMS[1:]):
            if lower == "app":
                continue
            self.bad(f"lib/{lower}/a.c", f'#include "{upper}/b.h"\n', "upward")
            if upper != "app":
                self.good(f"lib/{upper}/a.c", f'#include "{lower}/b.h"\n')
        self.good("lib/wire/a.h", '#include "wire/b.h"\n')

    def test_include_of_generated_messages_is_upward(self):
        self.bad("lib/wire/a.c", '#include "proto/nri.pb-c.h"\n', "upward")
        self.bad("lib/json/a.c", "#include <protobuf-c/protobuf-c.h>\n", "upward")
        self.bad("examples/a/a.c", "#include <protobuf-c/protobuf-c.h>\n", "upward")
        self.good("lib/wire/a.c", "#include <protobuf-c/protobuf-c.h>\n")

    def test_include_without_room(self):
        self.bad("lib/base/a.c", '#include "arena.h"\n', "include")
        self.bad("lib/base/a.c", '#include "../json/a.h"\n', "include")
        self.bad("lib/json/a.c", "#include <base/arena.h>\n", "include")

    def test_unknown_room(self):
        self.assertIn("lib/util:0: room: not in the list of rooms",
                      violations({"lib/util/a.c": "int a;\n"}))

    def test_app_and_examples_see_public_headers_only(self):
        self.bad("lib/app/a.c", '#include "base/arena.h"\n', "public")
        self.bad("examples/logger/a.c", '#include "plugin/plugin.h"\n', "public")
        self.good("examples/logger/a.c", '#include <nri/nri.h>\n#include "options.h"\n')

    def test_public_headers(self):
        self.bad("include/nri/a.h", "#include <stdio.h>\n", "public")
        self.bad("include/nri/a.h", "#include <uv.h>\n", "uv")
        self.good("include/nri/a.h", "#include <nri/b.h>\n#include <stdint.h>\n")
        found = violations({
            "include/nri/a.h": "", "include/nri/nri.h": "",
            "include/nri/meson.build": "install_headers('nri.h')\n"})
        self.assertEqual(found, ["include/nri/a.h:0: public: not in include/nri/meson.build",
                                 "include/nri/a.h:0: public: not included by <nri/nri.h>"])

    def test_uv(self):
        self.bad("lib/plugin/a.c", "#include <uv.h>\n", "uv")
        self.bad("examples/a/a.c", "# include <uv.h>\n", "uv")
        self.good("lib/io/a.c", "#include <uv.h>\n")
        self.good("lib/app/a.c", "#include <uv.h>\n")

    def test_what_is_for_nri_app_alone(self):
        for header in ("microhttpd.h", "yaml.h"):
            self.bad("lib/io/a.c", f"#include <{header}>\n", "app")
            self.bad("lib/base/a.c", f"#include <{header}>\n", "app")
            self.good("lib/app/a.c", f"#include <{header}>\n")
            self.good("examples/a/a.c", f"#include <{header}>\n")
        self.bad("lib/io/a.c", "#include <nri/app.h>\n", "upward")
        self.good("lib/app/a.c", "#include <nri/app.h>\n")
        self.good("examples/a/a.c", "#include <nri/app.h>\n")

    def test_app_header_is_not_part_of_nri_h(self):
        self.assertEqual(violations({
            "include/nri/app.h": "", "include/nri/nri.h": "",
            "include/nri/meson.build": "install_headers('nri.h', 'app.h')\n"}), [])

    def test_yajl(self):
        self.bad("lib/model/a.c", "#include <yajl/yajl_parse.h>\n", "yajl")
        self.bad("lib/io/a.c", "#include <yajl/yajl_gen.h>\n", "yajl")
        self.good("lib/json/a.c", "#include <yajl/yajl_parse.h>\n")
        self.good("examples/logger/a.c", "#include <yajl/yajl_gen.h>\n")

    def test_system_calls(self):
        for call in layering.SYSTEM_CALLS:
            self.bad("lib/rpc/a.c", f"int f(void) {{ return {call}(1); }}\n", "syscall")
            if call not in ("time", "gettimeofday"):  # test_time_of_day()
                self.good("lib/io/a.c", f"int f(void) {{ return {call}(1); }}\n")
        for header in sorted(layering.SYSTEM_HEADERS):
            self.bad("lib/base/a.c", f"#include <{header}>\n", "syscall")

    def test_member_of_that_name_is_no_system_call(self):
        self.good("lib/plugin/a.c", "int f(struct h *h) { return h->read(h) + h->x.open (1); }\n")
        self.good("lib/plugin/a.h", "struct h { int (*read)(struct h *); };\n")
        self.good("lib/plugin/a.c", "int f(void) { return nri_read(1) + reopen(2); }\n")

    def test_allocation(self):
        for call in layering.ALLOCATORS + ["free"]:
            self.bad("lib/json/a.c", f"void f(void *p) {{ {call}(p); }}\n", "allocation")
            self.good("lib/base/a.c", f"void f(void *p) {{ {call}(p); }}\n")
        self.bad("lib/io/a.c", "void *(*f)(size_t) = malloc;\n", "allocation")
        self.good("lib/io/a.c", "void f(struct h *h) { h->free(h); nri_free(h); }\n")

    def test_printing_and_ending(self):
        for call in layering.PRINTERS:
            self.bad("lib/io/a.c", f"void f(void) {{ {call}(1); }}\n", "print")
        self.bad("lib/base/a.c", "FILE *f = stderr;\n", "print")
        self.good("lib/app/a.c", 'void f(void) { printf("x"); exit(1); }\n')
        self.good("lib/base/a.c", "static_assert(1, \"x\");\nint f(void) { return snprintf(0); }\n")

    def test_time_of_day(self):
        for text in ("clock_gettime(CLOCK_REALTIME, &now);", "now = time(NULL);", "gettimeofday(&now, NULL);",
                     "sem_timedwait(&s, &until);", "pthread_cond_timedwait(&c, &l, &until);"):
            self.bad("examples/a/a.c", text + "\n", "clock")
            self.bad("tests/plugins/a/a.c", text + "\n", "clock")
        self.good("examples/a/a.c", "clock_gettime(CLOCK_MONOTONIC, &now);\nx = lifetime(1) + a->time(2);\n")
        self.good("lib/app/log.c", "clock_gettime(CLOCK_REALTIME, &now);\n")
        waits = {"examples/a/a.c": "pthread_cond_timedwait(&c, &l, &until);\n",
                 "examples/a/b.c": "pthread_condattr_setclock(&a, CLOCK_MONOTONIC);\n"}
        self.assertEqual(violations(waits), [])

    def test_comments_and_strings_are_no_code(self):
        self.good("lib/rpc/a.c", "/* read(fd) and\n * malloc(1) */\n// abort()\n"
                  'const char *s = "exit(1) \\" write(2)"; char c = \'"\'; int d;\n'
                  "/* #include <uv.h>\n#include <uv.h>\n*/\n")
        self.bad("lib/rpc/a.c", "/* one */ void f(void) { abort(); /* two */ }\n", "print")

    def test_line_number_after_a_long_comment(self):
        self.bad("lib/rpc/a.c", "/* a\n * b\n */\nvoid f(void) { abort(); }\n", "print", line=5)

    def test_length(self):
        path = "lib/base/a.c"
        self.good(path, "int a;\n" * (layering.MAX_LINES - 1))
        self.bad(path, "int a;\n" * layering.MAX_LINES, "length", line=layering.MAX_LINES)
        self.bad("tests/unit/a.c", "int a;\n" * layering.MAX_LINES, "length",
                 line=layering.MAX_LINES)

    def test_licence(self):
        self.assertEqual(violations({"lib/base/a.c": "int a;\n"}, spdx=""),
                         ["lib/base/a.c:1: licence: the first line has the SPDX identifier"])

    def test_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(layering.Checker(root).run(), 0)


if __name__ == "__main__":
    unittest.main()
