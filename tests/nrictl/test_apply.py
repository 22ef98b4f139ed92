#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_apply.py NRICTL PROGRAMS: nrictl apply. What each field does to a document is shown by the oci suite."""
import json
import os
import stat

import case


class Apply(case.Case):
    def test_adjustment(self):
        out = json.loads(self.run_nrictl("apply", "config.json", "adjustment.json").stdout)
        self.assertEqual(out["process"]["env"], ["PATH=/bin:/usr/bin", "LEVEL=debug", "GPUS=0,1"])
        self.assertEqual(out["linux"]["resources"]["cpu"], {"shares": 102, "quota": 50000, "period": 100000, "cpus": "2-3"})
        self.assertEqual(out["linux"]["devices"][0]["path"], "/dev/accel0")
        self.assertIn({"destination": "/models", "type": "bind", "source": "/srv/models", "options": ["rbind", "ro"]},
                      out["mounts"])
        self.assertEqual(out["annotations"], {"example.com/pinned": "true"})

    def test_what_it_does_not_know_is_kept(self):
        text = self.run_nrictl("apply", "config.json", "adjustment.json").stdout
        self.assertIn('"ratio": 1.50', text)
        self.assertIn('"big": 18446744073709551616', text)
        before, after = json.loads(self.read("config.json")), json.loads(text)
        self.assertEqual([key for key in after if key in before], list(before))

    def test_update(self):
        expected = {"shares": 512, "quota": 50000, "period": 100000, "cpus": "0-1"}
        out = json.loads(self.run_nrictl("apply", "--update", "config.json", "update.json").stdout)
        self.assertEqual(out["linux"]["resources"]["cpu"], expected)
        self.assertEqual(out["linux"]["resources"]["memory"], {"limit": 268435456})
        resources = json.dumps(json.loads(self.read("update.json"))["linux"]["resources"])
        again = json.loads(self.run_nrictl("apply", "--update", "config.json", "-", text=resources).stdout)
        self.assertEqual(again, out)

    def test_write(self):
        os.chmod(self.path("config.json"), 0o640)
        before = self.read("config.json")
        printed = self.run_nrictl("apply", "config.json", "adjustment.json").stdout
        done = self.run_nrictl("apply", "-w", "new.json", "config.json", "adjustment.json")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertEqual(json.loads(self.read("new.json")), json.loads(printed))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new.json")).st_mode), 0o640)
        self.assertEqual(self.read("config.json"), before)
        self.run_nrictl("apply", "--write", "config.json", "config.json", "adjustment.json")
        self.assertEqual(json.loads(self.read("config.json")), json.loads(printed))

    def test_standard_input(self):
        printed = self.run_nrictl("apply", "config.json", "adjustment.json").stdout
        for arguments, name in ((("-", "adjustment.json"), "config.json"), (("config.json", "-"), "adjustment.json")):
            self.assertEqual(self.run_nrictl("apply", *arguments, text=self.read(name)).stdout, printed)

    def test_classes(self):
        self.write("change.json", '{"linux": {"resources": {"blockio_class": "fast"}, "rdt": {"clos_id": {"value": "x"}}}}')
        self.write("classes.json", '{"fast": {"weight": 900}, "slow": {"weight": 10}}')
        self.refused("apply", "config.json", "change.json", says="class fast means here is to be given with --blockio-classes FILE")
        out = json.loads(self.run_nrictl("apply", "--blockio-classes", "classes.json", "config.json", "change.json").stdout)
        self.assertEqual(out["linux"]["resources"]["blockIO"], {"weight": 900})
        self.write("none.json", "{}")
        self.refused("apply", "--blockio-classes", "none.json", "config.json", "change.json",
                     says="none.json has no class fast")

    def test_wrong_documents(self):
        self.write("broken.json", '{"env": [\n  {"key": }]}')
        self.refused("apply", "config.json", "broken.json", says="broken.json:2:")
        self.write("unknown.json", '{"enw": []}')
        self.refused("apply", "config.json", "unknown.json", says="enw")
        self.write("list.json", "[]")
        self.refused("apply", "list.json", "adjustment.json", says="list.json")
        self.refused("apply", "--update", "config.json", "list.json", says="list.json: it is an object that is wanted")
        self.refused("apply", "config.json", "absent.json", says="absent.json: No such file")
        self.refused("apply", "config.json", ".", says="is a directory")
        self.refused("apply", "config.json", "-", says="standard input:1:", text="{")

    def test_usage(self):
        self.refused("apply", says="not 0")
        self.refused("apply", "config.json", says="not 1")
        self.refused("apply", "-", "-", says="standard input cannot be both")
        self.refused("apply", "--write", "x", "-", "adjustment.json", says="--write needs a configuration")

    def test_place_that_cannot_be_written(self):
        self.refused("apply", "--write", "absent/x.json", "config.json", "adjustment.json", says="absent/x.json",
                     expect=case.USAGE)


case.main()
