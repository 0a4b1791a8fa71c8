#!/usr/bin/env python3
"""Tests ooc-run scan: its files against NumPy, and what it refuses."""

import os
import signal
import stat

import numpy as np
from cli_support import CliTest, main, messages_of

COUNT = 700_001
RANDOM = np.random.default_rng(4)
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")


def values_of(dtype, count=COUNT):
    """Returns random values; of floats, numbers near 1, so that sums stay in range."""
    if "f" in dtype:
        return RANDOM.normal(size=count).astype(dtype)
    return np.frombuffer(RANDOM.bytes(count * int(dtype[1])), dtype)


def float_sums(values):
    """Returns sums by the definition: rows of 256 and tiles of 65,536, whose totals are doubles
    that keep what rounding loses."""
    padded = np.zeros(-(-len(values) // 65536) * 65536)
    padded[:len(values)] = values
    in_rows = np.cumsum(padded.reshape(-1, 256, 256), axis=2)  # adds one after another
    rows = np.cumsum(in_rows[:, :, -1], axis=1)
    in_tiles = in_rows
    in_tiles[:, 1:] += rows[:, :-1, None]
    high = low = 0.0
    for tile in in_tiles:
        first, lost = two_sum(np.float64(high), tile)
        sums, lows = two_sum(first, lost + low)
        high, low = sums[-1, -1], lows[-1, -1]
        tile[:] = sums
    return in_tiles.reshape(-1)[:len(values)]


def two_sum(a, b):
    """Returns a sum, and what rounding has lost of it."""
    total = a + b
    of_b = total - a
    lost = (a - (total - of_b)) + (b - of_b)
    return total, np.where(np.isfinite(lost), lost, 0)


def shifted(sums):
    """Returns the sums of the elements before each one."""
    return np.append(np.zeros(1, sums.dtype), sums)[:len(sums)]


class ScanTest(CliTest):
    def scan(self, name, *words, output="y.npy"):
        """Scans a file; returns the array written, which the document describes."""
        result = self.json("scan", name, "-o", output, "--force", "--verify", *words)["result"]
        found = np.load(self.path(output))
        self.assertEqual(found.ndim, 1)
        self.assertEqual(result["count"], len(found))
        self.assertEqual(result["bytes_written"], found.nbytes)
        self.assertEqual(result["to"], "|u1" if found.dtype == bool else found.dtype.str)
        self.assertIs(result["verified"], True)
        return found

    def same_bits(self, found, expected):
        self.assertEqual(found.dtype, expected.dtype)
        self.assertEqual(found.tobytes(), expected.tobytes())

    def test_sums_of_integers_of_every_type(self):
        for dtype in TYPES:
            if dtype[0] == "f":
                continue
            values = values_of(dtype)
            np.save(self.path("x.npy"), values)
            sums = np.cumsum(values, dtype="u8" if dtype == "u8" else "i8")
            self.same_bits(self.scan("x.npy"), sums)
            self.same_bits(self.scan("x.npy", "--exclusive"), shifted(sums))

    def test_sums_of_floats(self):
        for dtype in ("f2", "f4", "f8", ">f4"):
            values = values_of(dtype)
            np.save(self.path("x.npy"), values)
            sums = float_sums(values)
            found = self.scan("x.npy")
            self.same_bits(found, sums)
            exact = np.cumsum(values, dtype=np.longdouble)
            bound = (np.abs(exact) + 512 * np.cumsum(np.abs(values), dtype="f8")) * 2.0**-53
            self.assertTrue(np.all(np.abs(found - exact) <= bound))
            self.same_bits(self.scan("x.npy", "--exclusive"), shifted(sums))

    def test_extremes_of_every_type(self):
        for dtype in TYPES:
            values = values_of(dtype).copy()
            if dtype[0] == "f":
                values[[100, 200]] = np.inf, -np.inf
                values[600_000] = np.nan
            np.save(self.path("x.npy"), values)
            for word, accumulate in (("--min", np.minimum.accumulate),
                                     ("--max", np.maximum.accumulate)):
                self.same_bits(self.scan("x.npy", word), accumulate(values))

    def test_bfloat16(self):
        values = values_of("f4").view("u4") & 0xffff0000
        self.write("x.bf16", (values >> 16).astype("u2"))
        self.same_bits(self.scan("x.bf16"), float_sums(values.view("f4")))
        self.json("scan", "x.bf16", "-o", "y.bf16", "--max", "--verify")
        largest = np.maximum.accumulate(values.view("f4")).view("u4") >> 16
        self.assertEqual(self.directory.joinpath("y.bf16").read_bytes(),
                         largest.astype("u2").tobytes())

    def test_zeros_of_both_signs(self):
        values = np.array([-0.0, 0.0, -0.0], "f4")
        np.save(self.path("x.npy"), values)
        self.same_bits(self.scan("x.npy"), np.zeros(3))
        for word in ("--min", "--max"):  # the first one stays
            self.same_bits(self.scan("x.npy", word), np.full(3, -0.0, "f4"))

    def test_special_values(self):
        for at in ({100: np.inf}, {100: np.inf, 300_000: -np.inf}, {5: np.nan}, {699_999: np.nan},
                   {0: -np.inf}, {3: 1e308, 70_000: 1e308, 140_000: -1e308}):
            values = np.ones(COUNT)
            for place, value in at.items():
                values[place] = value
            np.save(self.path("x.npy"), values)
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(self.scan("x.npy"), float_sums(values), str(at))

    def test_constant_empty_and_one_element(self):
        for values in (np.full(300_000, 0.1), np.zeros(0, "f4"), np.zeros(0, "u1"),
                       np.array([7], "i2"), np.array([2.5], "f4")):
            np.save(self.path("x.npy"), values)
            sums = float_sums(values) if values.dtype.kind == "f" else np.cumsum(values, dtype="i8")
            self.same_bits(self.scan("x.npy"), sums)
            self.same_bits(self.scan("x.npy", "--exclusive"), shifted(sums))
            self.same_bits(self.scan("x.npy", "--min"), np.minimum.accumulate(values))

    def test_same_bits_for_all_sizes(self):
        values = values_of("f4", 3_000_000)
        self.write("x.f32", values)
        sums = float_sums(values)
        for words in (("--chunk", "64K", "--streams", 3), ("--chunk", "32M", "--streams", 1),
                      ("--engine", "threads"), ("--memory", "64M")):
            self.same_bits(self.scan("x.f32", *words), sums)

    def test_parts_fields_shapes_and_several_files(self):
        rows = np.arange(60_000, dtype="i4").reshape(3, 100, 200)
        np.save(self.path("x.npy"), rows)
        flat = rows.reshape(-1)
        self.same_bits(self.scan("x.npy"), np.cumsum(flat, dtype="i8"))
        self.same_bits(self.scan("x.npy", "--skip", 1000, "--count", 5000),
                       np.cumsum(flat[1000:6000], dtype="i8"))
        self.json("scan", "x.npy", "x.npy", "-o", "z.npy")
        np.testing.assert_array_equal(np.load(self.path("z.npy")), np.cumsum(np.tile(flat, 2)))
        structs = np.zeros(300_000, [("a", "i2"), ("x", ">f4"), ("text", "S90")])
        structs["x"] = values_of("f4", 300_000)
        np.save(self.path("s.npy"), structs)
        self.same_bits(self.scan("s.npy::x"), float_sums(structs["x"]))
        np.save(self.path("b.npy"), flat % 3 == 0)
        self.same_bits(self.scan("b.npy"), np.cumsum(flat % 3 == 0, dtype="i8"))
        self.same_bits(self.scan("b.npy", "--max"), np.maximum.accumulate(flat % 3 == 0))

    def test_raw_files_and_text(self):
        values = values_of("f4")
        self.write("x.f32", values)
        text = self.succeed("scan", "x.f32", "-o", "y.f64", "--device", "cpu", "--verify")
        self.assertEqual(self.directory.joinpath("y.f64").read_bytes(),
                         float_sums(values).tobytes())
        self.assertIn("wrote y.f64: running sum, 700,001 values of float64", text.stdout)
        self.assertIn("verified", text.stdout)
        document = self.json("scan", "x.f32", "-o", "m.f32", "--min")
        self.assertEqual(document["result"]["value"], "min")
        self.assertIsNone(document["result"]["verified"])

    def test_verify_finds_a_changed_output(self):
        """Once the output is in place, its last value is changed, as by a disk: not its times."""
        size = 64 << 20
        os.truncate(self.write("x.u8", b""), size)
        process = self.start("scan", "x.u8", "-o", "y.u8", "--max", "--verify", "--device", "cpu")
        output = self.directory / "y.u8"
        while process.poll() is None and not output.exists():
            pass
        self.stop(process)
        status = output.stat()
        with open(output, "r+b") as file:
            file.seek(size - 1)
            file.write(b"\x07")
        output.chmod(status.st_mode ^ stat.S_IXUSR)  # explains the time of the change
        os.utime(output, ns=(status.st_atime_ns, status.st_mtime_ns))
        process.send_signal(signal.SIGCONT)
        _, stderr = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 10, stderr)
        self.check_message(process, messages_of(stderr))

    def test_explain_writes_nothing(self):
        self.write("x.f32", values_of("f4"))
        words = ("scan", "x.f32", "-o", "y.npy", "--explain")
        self.assertIn("y.npy: 700,001 values of float64", self.succeed(*words).stdout)
        self.json(*words)
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_goes_on_from_a_checkpoint(self):
        values = values_of("f4")
        self.write("x.f32", values)
        self.json("scan", "x.f32", "-o", "y.f64", "--resume", "saved")
        self.assertEqual(self.directory.joinpath("y.f64").read_bytes(),
                         float_sums(values).tobytes())
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.f32", "y.f64"])

    def test_refusals(self):
        self.write("x.f32", values_of("f4"))
        np.save(self.path("s.npy"), np.zeros(5, [("x", "f4"), ("label", "i2")]))
        np.save(self.path("f.npy"), np.asfortranarray(np.ones((3, 4))))
        there = ["f.npy", "s.npy", "x.f32"]
        for words in (("x.f32",),
                      ("x.f32", "y.f64"),
                      ("x.f32", "-o", "y.f32"),
                      ("x.f32", "-o", "y.f64", "--min"),
                      ("x.f32", "-o", "y.npy", "--min", "--max"),
                      ("x.f32", "-o", "y.npy", "--min", "--exclusive"),
                      ("x.f32", "-o", "y.npy", "--max", "--exclusive"),
                      ("x.f32", "-o", "y.npy", "--shard", "0/2"),
                      ("x.f32", "-o", "x.f32")):
            self.check_error(2, "scan", *words)
        self.check_error(3, "scan", "s.npy", "-o", "y.npy")
        self.check_error(3, "scan", "f.npy", "-o", "y.npy")
        self.check_error(4, "scan", "none.f32", "-o", "y.npy")
        self.write("y.npy", b"mine")
        self.check_error(6, "scan", "x.f32", "-o", "y.npy")
        self.assertEqual(sorted(os.listdir(self.directory)), [*there, "y.npy"])
        self.assertEqual(self.directory.joinpath("y.npy").read_bytes(), b"mine")


if __name__ == "__main__":
    main()
