#!/usr/bin/env python3
"""Parts and states that were made by another program: each field is checked when it is read."""

import json
import resource
import struct
import subprocess

from cli_support import CliTest, main

import numpy as np

MAGIC = b"OOCPART\n"


def with_hash(data):
    """Returns the bytes of a file with their checksum."""
    digits = subprocess.run(["xxh128sum", "-"], input=data, capture_output=True, check=True).stdout
    return data + bytes.fromhex(digits.split()[0].decode())


def parts_of(data):
    """Returns the header of a file and what follows it."""
    length = struct.unpack("<Q", data[8:16])[0]
    return json.loads(data[16:16 + length]), data[16 + length:-16]


class ForgedTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.f32", np.arange(1000, dtype="f4"))
        self.succeed("reduce", "x.f32", "--shard", "0/1", "-o", "reduce.part")
        self.succeed("histogram", "x.f32", "--range=0:9", "--bins", "3", "--shard", "0/1", "-o",
                     "histogram.part")

    def write_file(self, header, payload):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        self.write("forged.part", with_hash(MAGIC + struct.pack("<Q", len(text)) + text + payload))

    def forge(self, name, path, value):
        """Writes a file with another value at a place of its header."""
        header, payload = parts_of((self.directory / name).read_bytes())
        place = header
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        self.write_file(header, payload)

    def test_what_is_not_forged_is_merged(self):
        for name in ("reduce.part", "histogram.part"):
            self.forge(name, ["about", "device"], "cpu")
            self.json("merge", "forged.part")

    def test_fields_of_parts(self):
        for name, path, values in (
                ("reduce.part", ["question", "command"], ["\x1b[31mx", 'a"b', "convert", 5, ""]),
                ("reduce.part", ["question", "reduce", "nan"], ["other", 1]),
                ("reduce.part", ["question", "dtype"], ["f5", "", 4, "f8", "{x:f4}"]),
                ("histogram.part", ["question", "command"], ["reduce"]),
                ("histogram.part", ["question", "histogram", "bins"], [0, -1, 2.5, 1 << 40, "3"]),
                ("histogram.part", ["question", "histogram", "range"], [[5, 4], [0], ["0", "9"]]),
                ("histogram.part", ["question", "histogram", "edges"], [[3, 2], [1], 5]),
                ("reduce.part", ["about", "seconds"], [-1, "1"]),
                ("reduce.part", ["about", "bytes"], [-1, 1.5]),
                ("reduce.part", ["about", "shard"], [[3, 3], [1], [0, -2]]),
                ("reduce.part", ["about", "input"], [[], "x", {"a": "\0, \"b\": 1"}]),
                ("reduce.part", ["payload"], [[], {}]),
                ("reduce.part", ["records"], [5, "x"])):
            for value in values:
                with self.subTest(path=path, value=value):
                    self.forge(name, path, value)
                    done = self.refuse(3, "forged.part", "merge", "forged.part", "--json")
                    self.assertNotIn("\x1b", done.stderr)

    def test_texts_are_escaped(self):
        for path in (["about", "heading"], ["about", "device"]):
            self.forge("reduce.part", path, "a\x1b[31m\nb\u0085")
            self.assertNotIn("\x1b", self.succeed("merge", "forged.part").stdout)
            self.json("merge", "forged.part")

    def test_statistics_that_no_values_have(self):
        header, payload = parts_of((self.directory / "reduce.part").read_bytes())
        node = len(payload) - 72  # count, nan, sum, m2, two keys, argmin, argmax, first_nan
        for field, values in ((1, [1001, 5]), (6, [2**64 - 1, 1000]), (7, [2**64 - 1, 1 << 40]),
                              (8, [3])):
            for value in values:
                with self.subTest(field=field, value=value):
                    at = node + 8 * field
                    self.write_file(header, payload[:at] + struct.pack("<Q", value) +
                                    payload[at + 8:])
                    self.refuse(3, "saved partial result", "merge", "forged.part")

    def test_sums_that_wrap(self):
        header, payload = parts_of((self.directory / "histogram.part").read_bytes())
        counts = list(struct.unpack("<6Q", payload[-48:]))
        counts[0] += 1 << 63
        counts[1] += 1 << 63
        self.write_file(header, payload[:-48] + struct.pack("<6Q", *counts))
        self.refuse(3, "other counts", "merge", "forged.part")

    def test_headers_take_little_time_and_memory(self):
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (10, 10))

        header, payload = parts_of((self.directory / "reduce.part").read_bytes())
        fields = "{" + ",".join(f"f{i}:u1" for i in range(80000)) + "}"
        self.forge("reduce.part", ["question", "dtype"], fields)
        self.refuse(3, "forged.part", "merge", "forged.part", preexec_fn=limits)
        text = json.dumps(header)
        most = 60 << 20
        for filling in ("[" + "0," * (most // 2) + "0]", '"' + "x" * most + '"',
                        "{" + ",".join(f'"{i}":0' for i in range(most // 12)) + "}",
                        "[" * 1000 + "]" * 1000, "[" + '{"a":[]},' * (most // 9) + "0]"):
            for key in ("question", "about", "input", "covers", "payload", "records", "more"):
                with self.subTest(key=key, filling=filling[:20]):
                    value = json.dumps(header.get(key, ""))
                    forged = text.replace(f'"{key}": {value}', f'"{key}": {filling}')
                    if key == "more":
                        forged = text[:-1] + f', "more": {filling}}}'
                    self.write_file(forged.encode(), payload)
                    done = self.run_program("merge", "forged.part", preexec_fn=limits)
                    allowed = {0, 3} if key == "more" else {2, 3} if key == "question" else {3}
                    self.assertIn(done.returncode, allowed, done.stderr[:500])

    def test_names_of_outputs_in_states(self):
        with open(self.path("big.f32"), "wb") as file:
            file.truncate(1 << 36)
        words = ["convert", "big.f32", "-o", "y.f16", "--to", "f2", "--resume", "y.state"]
        process, _ = self.at_work(*words, "--checkpoint-every", "0.1")
        while not (self.directory / "y.state").exists():
            self.assertIsNone(process.poll())
        process.terminate()
        process.communicate(timeout=60)
        for value in ("", "x", "../../zz", "aaaaaaaaaaaaaaaa", "a\x1b[31mb", 7):
            header, payload = parts_of((self.directory / "y.state").read_bytes())
            header["about"]["outputs"][0]["id"] = value
            text = json.dumps(header).encode()
            self.write("bad.state", with_hash(MAGIC + struct.pack("<Q", len(text)) + text +
                                              payload))
            done = self.refuse(3, "damaged", *words[:-1], "bad.state")
            self.assertNotIn("\x1b", done.stderr)

    def test_names_of_fields_are_escaped(self):
        dtype = "{'a\x1b[31mb':f4}"
        for words in (["reduce", "x.f32"], ["info", "x.f32"], ["convert", "x.f32", "-o", "y.npy"]):
            for json_word in ([], ["--json"]):
                done = self.run_program(*words, "--dtype", dtype, *json_word)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
        done = self.run_program("reduce", "x.f32", "--dtype", "{'a\x1b[31mb':f5}")
        self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    main()
