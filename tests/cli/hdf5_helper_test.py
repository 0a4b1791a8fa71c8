#!/usr/bin/env python3
"""Tests how the helper of HDF5 files is found and started, and programs in its place that fail, or
print tables that break a rule."""

import json
import os
import shutil
import struct
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np
from cli_support import PROGRAM, CliTest, clean_environment, main

try:
    import h5py
except ImportError:
    print("h5py is not installed")
    sys.exit(77)

NOT_STORED = (2**64 - 1, 2**64 - 1)


class Hdf5HelperTest(CliTest):
    def setUp(self):
        super().setUp()
        with h5py.File(self.path("x.h5"), "w") as file:
            file["x"] = np.arange(1000, dtype="f4")
        self.offset = h5py.File(self.path("x.h5"))["x"].id.get_offset()

    def helper(self, code):
        path = self.directory / "helper"
        path.write_text("#!/usr/bin/python3 -IS\nimport os, struct, sys\n" + textwrap.dedent(code))
        path.chmod(0o755)
        return {"OOC_DESCRIBE_HDF5": str(path)}

    def table(self, *arrays, places=(), **members):
        line = json.dumps({"schema": "ooc.extents/1", "files": ["x.h5"], "arrays": arrays} |
                          members).encode() + b"\n"
        line += b"".join(struct.pack("<QQ", *place) for place in places)
        return self.helper(f"sys.stdout.buffer.write({line!r})")

    def refused(self, env):
        self.check_error(3, "reduce", "x.h5::x", env=env)

    def test_a_helper_that_is_not_there(self):
        self.refused({"OOC_DESCRIBE_HDF5": "/nowhere"})
        self.check_error(3, "info", "x.h5", env={"OOC_DESCRIBE_HDF5": "/nowhere"})
        alone = self.directory / "bin" / "ooc-run"
        alone.parent.mkdir()
        shutil.copy(PROGRAM, alone)
        program = Path(PROGRAM).parent / "ooc-describe-hdf5"
        installed = self.directory / "libexec/ooc/ooc-describe-hdf5"
        installed.parent.mkdir(parents=True)
        shutil.copy(program, installed)
        for code in 0, 3:
            done = subprocess.run([alone, "reduce", self.path("x.h5")], capture_output=True,
                                  env=clean_environment(), check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            installed.unlink(missing_ok=True)

    def test_what_a_helper_gets(self):
        env = self.helper(f"""
            assert os.environ == {{"LANG": "C.UTF-8"}}, os.environ
            assert sys.argv[1:] == ["x.h5"] and sys.stdin.read() == ""
            assert sorted(map(int, os.listdir("/proc/self/fd")))[:3] == [0, 1, 2]
            assert len(os.listdir("/proc/self/fd")) <= 5, os.listdir("/proc/self/fd")
            sys.stdout.write('{{"schema": "ooc.extents/1", "files": ["x.h5"], "arrays": [{{"name": '
                             '"/x", "dtype": "<f4", "shape": [1000], "extents": '
                             '[[0, {self.offset}, 4000]]}}]}}\\n')
            """)
        self.assertEqual(self.json("reduce", "x.h5", env=env)["result"]["sum"], 499500)

    def test_helpers_that_fail(self):
        for code in ("os.kill(os.getpid(), 11)", "sys.exit('I do not like it')", "os._exit(7)",
                     "pass", "room = bytearray(2 << 30)",
                     "while True: os.write(1, bytes(1 << 20))",
                     "while True: os.write(2, bytes(1 << 20))"):
            with self.subTest(code):
                done = self.run_program("reduce", "x.h5", env=self.helper(code))
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("x.h5: looks like HDF5, and cannot be read", done.stderr)

    def test_tables_that_break_a_rule(self):
        array = {"name": "/x", "dtype": "<f4", "shape": [1000]}
        whole = array | {"extents": [[0, self.offset, 4000]]}
        chunks = array | {"chunks": [250], "codecs": [], "entries": 4}
        places = [(self.offset + 1000 * i, 1000) for i in range(4)]
        self.assertEqual(self.json("reduce", "x.h5", env=self.table(whole))["result"]["count"],
                         1000)
        self.assertEqual(
            self.json("reduce", "x.h5", env=self.table(chunks, places=places))["result"]["sum"],
            499500)
        size = os.path.getsize(self.path("x.h5"))
        tables = [
            dict(arrays=[whole], schema="ooc.extents/2"), dict(arrays=[whole], files=["x.h5", "y"]),
            dict(arrays=[whole, whole]), dict(arrays=[whole, whole | {"name": "/y"}]),
            dict(arrays=[whole], places=[(0, 0)]),
            dict(arrays=[array | {"extents": [[0, size - 3999, 4000]]}]),
            dict(arrays=[array | {"extents": [[0, 2**64 - 1, 4000]]}]),
            dict(arrays=[array | {"extents": [[0, self.offset, 3999]]}]),
            dict(arrays=[array | {"extents": [[1, self.offset, 4000]]}]),
            dict(arrays=[array | {"extents": [[0, -1, 4000]]}]),
            dict(arrays=[array]), dict(arrays=[chunks]), dict(arrays=[chunks], places=places[:3]),
            dict(arrays=[chunks], places=[*places, places[0]]),
            dict(arrays=[chunks], places=[*places[:3], (self.offset + 2999, 1000)]),
            dict(arrays=[chunks], places=[*places[:3], (size - 999, 1000)]),
            dict(arrays=[chunks], places=[*places[:3], (self.offset, 0)]),
            dict(arrays=[chunks], places=[*places[:3], (self.offset, 2**64 - 1)]),
            dict(arrays=[chunks], places=[*places[:3], (self.offset + 3000, 1 << 32 | 1000)]),
            dict(arrays=[chunks], places=[*places[:3], (self.offset + 3000, 999)]),
            dict(arrays=[chunks | {"codecs": [["rot13"]]}], places=places),
            dict(arrays=[chunks | {"codecs": [["zstd"], ["lz4"]]}], places=places),
            dict(arrays=[chunks | {"codecs": [["shuffle", 0]]}], places=places),
            dict(arrays=[chunks | {"chunks": [0]}], places=places),
            dict(arrays=[chunks | {"chunks": [250, 1]}], places=places),
            dict(arrays=[chunks | {"entries": 5}], places=[*places, NOT_STORED]),
            dict(arrays=[chunks | {"shape": [2**63, 2**63]}], places=places),
            dict(arrays=[chunks | {"fill": "none"}], places=places),
            dict(arrays=[whole | {"dtype": "<f3"}]), dict(arrays=[{"name": "/x", "alias": "/y"}]),
        ]
        for table in tables:
            arrays = table.pop("arrays")
            with self.subTest(table=table, arrays=arrays):
                self.refused(self.table(*arrays, **table))
        for text in ("[", "[]\\n", "{}\\n", "x" * 1000, "\\n", "[" * 100 + "\\n"):
            self.refused(self.helper(f"sys.stdout.write('{text}')"))

    def test_codecs_decode_exactly_what_the_shape_says(self):
        with h5py.File(self.path("x.h5"), "r+") as file:
            file["more"] = np.frombuffer(zlib.compress(bytes(4001)), "u1")
            offset, size = file["more"].id.get_offset(), file["more"].size
        chunks = {"name": "/x", "dtype": "<f4", "shape": [1000], "chunks": [1000],
                  "codecs": [["deflate"]], "entries": 1}
        self.refused(self.table(chunks, places=[(offset, size)]))


if __name__ == "__main__":
    main()
