#!/usr/bin/env python3
"""Tests of --device with the names of several devices."""

from cli_support import CliTest, main

import numpy as np

VALUES = np.random.default_rng(86).normal(size=1 << 20).astype("f4")


class DeviceTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.f32", VALUES)

    def test_all_devices_answer_as_one(self):
        for command in (("reduce",), ("reduce", "--exact", "--histogram", "9"), ("histogram",),
                        ("histogram", "--range", "-2:2")):
            words = (*command, self.path("x.f32"))
            alone = self.json(*words, "--device", "cpu")
            together = self.json(*words, "--device", "all")
            self.assertEqual(together["result"], alone["result"])
            self.assertIsNone(alone["run"]["devices"])

    # So few data are read before a GPU has started.
    def test_which_devices_take_part_is_said(self):
        words = ("reduce", self.path("x.f32"), "--device", "all")
        plan = self.json(*words, "--explain")["result"]["plan"]
        self.assertEqual(plan["device"], "cpu")
        self.assertRegex(" ".join(plan["reasons"]), r"the CPU alone \(.+\)")
        run = self.json(*words)["run"]
        self.assertEqual(run["device"], "cpu")
        self.assertIsNone(run["devices"])
        self.assertRegex(run["reasons"][0], r"^the CPU alone \(.+\)$")
        self.assertIn("note: the CPU alone (", self.run_program(*words, "-v").stderr)

    def test_what_is_no_device_is_refused(self):
        for word in ("cuda:", "cuda:0,", "cuda:0,x", "cuda:-1"):
            self.check_error(2, "reduce", self.path("x.f32"), "--device", word)
        self.check_error(2, "reduce", self.path("x.f32"), "--device", "cuda:1,1")
        self.check_error(2, "reduce", self.path("x.f32"), "--device", "cpu,cuda")
        self.check_error(2, "bench", self.path("x.f32"), "--device", "cuda:0,1")

    def test_a_missing_gpu_is_an_error(self):
        for words in ((), ("--explain",)):
            self.refuse(8, "CUDA|GPU", "reduce", self.path("x.f32"), "--device", "cuda:998,999",
                        *words)


if __name__ == "__main__":
    main()
