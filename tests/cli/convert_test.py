#!/usr/bin/env python3
"""Compares conversions with NumPy's astype."""

import os
import re

from cli_support import CliTest, main

import numpy as np

CODES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]
RANDOM = np.random.default_rng(31)


def values(code, count=4099):
    """Returns values over the whole range of a type, without NaN and the infinities."""
    data = np.frombuffer(RANDOM.bytes(count * np.dtype(code).itemsize), code).copy()
    if code[-2] == "f":
        data[~np.isfinite(data)] = 1
        data[:count // 4] = np.arange(count // 4) / 8
    return data


def fits(data, code):
    """Returns the values for which astype is defined: floats in the range of an integer."""
    if data.dtype.kind != "f" or code[0] == "f":
        return data
    limits = np.iinfo(code)
    wide = np.trunc(data.astype(np.longdouble))
    return data[(wide >= limits.min) & (wide <= limits.max)]


def count_inexact(before, after):
    """Counts the values that differ. A long double represents every value of every type."""
    return int((before.astype(np.longdouble) != after.astype(np.longdouble)).sum())


def beyond(before, code):
    """Returns for each value whether it is beyond a type."""
    if code[-2] == "f":
        with np.errstate(over="ignore"):
            return np.isinf(before.astype(code)) & ~np.isinf(before.astype("f8"))
    limits = np.iinfo(code)
    wide = np.trunc(before.astype(np.longdouble))
    return ~((wide >= limits.min) & (wide <= limits.max))


def losses(before, after, code):
    """Returns the counts that convert gives."""
    inexact, overflowed = count_inexact(before, after), int(beyond(before, code).sum())
    return {"inexact": inexact, "rounded": inexact - overflowed, "overflowed": overflowed,
            "clipped": 0}


def round_to_bf16(data):
    """Returns the bits of float32 data rounded to bf16, to nearest even."""
    bits = data.view("u4")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


class ValueTest(CliTest):
    def convert(self, source, target, *words):
        return self.json("convert", source, "-o", target, "--force", *words)["result"]

    def test_any_type_to_any_other(self):
        for source in CODES:
            for target in CODES:
                data = fits(values(source), target)
                if data.dtype.kind != "f" and data.itemsize > 2 and target == "f2":
                    data %= 65536  # above 2^24 NumPy rounds twice, through float32
                with self.subTest(source=source, target=target), np.errstate(over="ignore"):
                    self.write("x.bin", data)
                    result = self.convert("x.bin", "y.bin", "--dtype", source, "--to", target)
                    wanted = data.astype(target)
                    self.assertEqual(np.fromfile(self.path("y.bin"), target).tobytes(),
                                     wanted.tobytes())
                    self.assertEqual(result, {
                        "count": data.size, "from": np.dtype(source).str,
                        "to": np.dtype(target).str, **losses(data, wanted, target),
                        "path": "y.bin", "bytes_written": wanted.nbytes})

    def test_bfloat16(self):
        data = values("f4")
        data = data[np.abs(data) < 3e38]
        self.write("x.f32", data)
        result = self.convert("x.f32", "y.bf16")
        bits = np.fromfile(self.path("y.bf16"), "u2")
        self.assertEqual(bits.tolist(), round_to_bf16(data).tolist())
        self.assertEqual(result["to"], "<bf16")
        wide = (bits.astype("u4") << 16).view("f4")
        self.assertEqual(result["inexact"], count_inexact(data, wide))
        self.assertEqual(self.convert("y.bf16", "z.f32")["inexact"], 0)
        self.assertEqual(np.fromfile(self.path("z.f32"), "f4").tobytes(), wide.tobytes())

    def test_what_an_integer_cannot_be(self):
        self.write("x.f32", np.array([np.nan, np.inf, -np.inf, 300, -1, 1.5, 2, -0.0], "f4"))
        self.assertEqual(self.convert("x.f32", "y.u8")["inexact"], 6)
        self.assertEqual(np.fromfile(self.path("y.u8"), "u1").tolist(),
                         [0, 255, 0, 255, 0, 1, 2, 0])
        self.assertEqual(self.convert("x.f32", "y.i16")["inexact"], 4)

    def test_nan_and_infinity_survive_as_floats(self):
        self.write("x.f64", np.array([np.nan, np.inf, -np.inf, 1e300, -0.0]))
        self.assertEqual(self.convert("x.f64", "y.f16")["inexact"], 1)
        found = np.fromfile(self.path("y.f16"), "f2")
        np.testing.assert_array_equal(found, [np.nan, np.inf, -np.inf, np.inf, 0])
        self.assertTrue(np.signbit(found[-1]))

    def test_clipped_at_the_ends_of_a_type(self):
        for source in CODES:
            for target in CODES:
                data = values(source)
                is_beyond = beyond(data, target)
                with self.subTest(source=source, target=target), \
                        np.errstate(over="ignore", invalid="ignore"):
                    self.write("x.bin", data)
                    plain = self.convert("x.bin", "y.bin", "--dtype", source, "--to", target)
                    kept = np.fromfile(self.path("y.bin"), target)
                    result = self.convert("x.bin", "y.bin", "--dtype", source, "--to", target,
                                          "--clip")
                    limits = (np.finfo if target[0] == "f" else np.iinfo)(target)
                    low, high = np.array([limits.min, limits.max], target)
                    wanted = np.where(is_beyond, np.where(data < 0, low, high), kept)
                    self.assertEqual(np.fromfile(self.path("y.bin"), target).tobytes(),
                                     wanted.tobytes())
                    self.assertEqual(
                        [result[key] for key in ("rounded", "overflowed", "clipped")],
                        [plain["rounded"], 0, plain["overflowed"]])

    def test_clipping_keeps_infinity_and_nan_apart(self):
        data = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 70000, 0.1, -0.0])
        self.write("x.f64", data)
        result = self.convert("x.f64", "y.f16", "--clip")
        np.testing.assert_array_equal(np.fromfile(self.path("y.f16"), "f2"),
                                      np.array([np.nan, np.inf, -np.inf, 65504, -65504, 65504,
                                                0.1, 0], "f2"))
        self.assertEqual([result[key] for key in ("rounded", "overflowed", "clipped")], [1, 0, 3])
        result = self.convert("x.f64", "y.i8", "--clip")
        self.assertEqual(np.fromfile(self.path("y.i8"), "i1").tolist(),
                         [0, 127, -128, 127, -128, 127, 0, 0])
        self.assertEqual([result[key] for key in ("rounded", "overflowed", "clipped")], [1, 1, 5])
        self.check_error(3, "convert", "x.f64", "-o", "z.f16", "--clip", "--strict")

    def test_byte_orders(self):
        for source, target in (("<f4", ">f4"), (">i2", "<i2"), (">u8", ">f8"), ("<f8", ">f2")):
            data = values(source)
            self.write("x.bin", data)
            with self.subTest(source=source, target=target), np.errstate(over="ignore"):
                result = self.convert("x.bin", "y.bin", "--dtype", source, "--to", target)
                self.assertEqual((result["from"], result["to"]), (source, target))
                with open(self.path("y.bin"), "rb") as file:
                    self.assertEqual(file.read(), data.astype(target).tobytes())

    def test_the_same_bits_however_it_runs(self):
        data = values("f8", 300_007)
        self.write("x.f64", data)
        wanted = self.convert("x.f64", "y.f32")
        with open(self.path("y.f32"), "rb") as file:
            content = file.read()
        for words in (["--chunk", "256K"], ["--streams", "1"], ["--streams", "5", "--threads", "3"],
                      ["--engine", "threads"], ["--direct", "no"], ["--device", "cpu"],
                      ["--memory", "64M"]):
            with self.subTest(words=words):
                self.assertEqual(self.convert("x.f64", "y.f32", *words), wanted)
                with open(self.path("y.f32"), "rb") as file:
                    self.assertEqual(file.read(), content)


class FormatTest(CliTest):
    def test_npy_to_raw_and_back(self):
        data = values("f4", 60).reshape(3, 4, 5)
        np.save(self.path("x.npy"), data)
        self.succeed("convert", "x.npy", "-o", "y.f32")
        self.assertEqual(np.fromfile(self.path("y.f32"), "f4").tobytes(), data.tobytes())
        for shape in ("3x4x5", "12x5", "60"):
            self.succeed("convert", "y.f32", "-o", "z.npy", "--to", ">f4", "--shape", shape,
                         "--force")
            back = np.load(self.path("z.npy"))
            self.assertEqual("x".join(map(str, back.shape)), shape)
            self.assertEqual(back.dtype.str, ">f4")
            np.testing.assert_array_equal(back.ravel(), data.ravel())

    def test_npy_keeps_its_shape(self):
        data = RANDOM.integers(0, 99, (7, 11))
        np.save(self.path("x.npy"), data)
        self.succeed("convert", "x.npy", "-o", "y.npy", "--to", "u1")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), data)
        self.succeed("convert", "x.npy", "-o", "z.npy", "--to", "u1", "--shape", "77")
        self.assertEqual(np.load(self.path("z.npy")).shape, (77,))

    def test_a_part_has_one_dimension(self):
        np.save(self.path("x.npy"), np.arange(12).reshape(3, 4))
        self.succeed("convert", "x.npy", "-o", "y.npy", "--to", "f4", "--count", 5)
        self.assertEqual(np.load(self.path("y.npy")).tolist(), [0, 1, 2, 3, 4])

    def test_several_files_are_one_dataset(self):
        parts = [values("i2", count) for count in (1000, 1, 33)]
        names = [self.write(f"{i}.i16", part) for i, part in enumerate(parts)]
        document = self.json("convert", *names, "-o", "all.npy", "--to", "i4")
        self.assertEqual(len(document["input"]["files"]), 3)
        self.assertEqual(np.load(self.path("all.npy")).tolist(), np.concatenate(parts).tolist())

    def test_a_part_of_a_raw_file(self):
        data = np.arange(100, dtype=">u4")
        self.write("x.raw", b"header" + data.tobytes())
        result = self.json("convert", "x.raw", "--dtype", ">u4", "--offset", 6, "--count", 10,
                           "-o", "y.u8")["result"]
        self.assertEqual((result["count"], result["to"]), (10, "|u1"))
        self.assertEqual(np.fromfile(self.path("y.u8"), "u1").tolist(), list(range(10)))

    def test_an_empty_file(self):
        self.write("x.f32", b"")
        document = self.json("convert", "x.f32", "-o", "y.npy", "--to", "f2")
        self.assertEqual(document["result"]["count"], 0)
        self.assertEqual(np.load(self.path("y.npy")).shape, (0,))
        self.succeed("convert", "x.f32", "-o", "y.f16")
        self.assertEqual(os.path.getsize(self.path("y.f16")), 0)

    def test_the_run(self):
        self.write("x.f32", values("f4", 100_000))
        document = self.json("convert", "x.f32", "-o", "y.f64")
        self.assertEqual(document["command"], "convert")
        self.assertGreater(document["run"]["stages"]["write"]["busy_seconds"], 0)
        self.assertLessEqual(document["run"]["publish_seconds"], document["run"]["seconds"])
        self.assertEqual(document["run"]["passes"], 1)

    def test_for_people(self):
        self.write("x.f32", np.array([1, 2, 0.1], "f4"))
        text = self.succeed("convert", "x.f32", "-o", "y.i8").stdout
        self.assertRegex(text, r"^x\.f32: 3 values of float32 \(from \.f32\)\n"
                               r"wrote y\.i8: 3 values of int8, 3 bytes\n"
                               r"1 cut to integers\n\n12 bytes in ")
        text = self.succeed("convert", "x.f32", "-o", "y.f64").stdout
        self.assertIn("\nlossless\n", text)

    def test_what_has_become_of_values(self):
        for value, from_type, to_type, *words in (
                (2**24 + 1, "i4", "f4"), (2**24 + 1, "i4", "f2"), (2**24 + 1, "i4", "f2", "--clip"),
                (32767, "i2", "f2"), (65535, "u2", "f2"), (0.1, "f8", "f4"), (1e300, "f8", "f4"),
                (0.1, "f4", "bf16"), (3.4e38, "f4", "bf16"), (300, "i4", "u1"), (-1, "i8", "u8"),
                (-1, "i8", "u8", "--clip"), (0.5, "f4", "i1"), (500, "f4", "i1"),
                (np.nan, "f4", "i1", "--clip")):
            name = f"x{value}.bin"
            self.write(name, np.array([value], from_type))
            done = self.succeed("convert", name, "--dtype", from_type, "-o", "y.bin", "--to",
                                to_type, "--force", *words)
            self.check_message(done, re.search("\n(1 .*\n)", done.stdout)[1])
        self.write("x.f64", np.array([0.1, 0.3, 1e6] * 5000))
        done = self.succeed("convert", "x.f64", "-o", "y.f16")
        self.check_message(done, re.search("\n(10,000 .*\n)", done.stdout)[1])


class KeptTypeTest(CliTest):
    def test_without_to_the_type_stays(self):
        values = np.arange(20, dtype=">i2")
        self.write("x.bin", values)
        self.json("convert", "x.bin", "-o", "y.npy", "--dtype", ">i2", "--shape", "4x5")
        found = np.load(self.path("y.npy"))
        self.assertEqual(found.dtype, values.dtype)
        np.testing.assert_array_equal(found, values.reshape(4, 5))
        self.succeed("convert", "y.npy", "-o", "z.dat")
        self.assertEqual((self.directory / "z.dat").read_bytes(), values.tobytes())
        self.succeed("convert", "y.npy", "-o", "w.i64")  # the file's ending takes precedence
        np.testing.assert_array_equal(np.fromfile(self.path("w.i64"), "<i8"), values)


class UsageTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.f32", np.arange(12, dtype="f4"))

    def refuse_and_keep(self, code, *words, **options):
        self.check_error(code, "convert", "x.f32", *words, **options)
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_what_is_missing(self):
        self.refuse_and_keep(2, "--to", "f2")
        self.check_error(2, "convert", "-o", "y.f16")

    def test_what_contradicts_itself(self):
        self.refuse_and_keep(2, "-o", "y.f16", "--to", "f4")
        self.refuse_and_keep(2, "-o", "y.bin", "--to", "f2", "--shape", "3x4")
        self.refuse_and_keep(2, "-o", "y.npy", "--to", "f2", "--shape", "3x5")
        self.refuse_and_keep(2, "-o", "y.npy", "--to", "bf16")

    def test_bad_values(self):
        for to, shape in [("f2", "3x"), ("f2", "3,4"), ("f3", "3x4")]:
            self.refuse_and_keep(2, "-o", "y.npy", "--to", to, "--shape", shape)

    def test_strict(self):
        self.write("x.f32", np.array([1, 2.5, np.nan], "f4"))
        self.refuse_and_keep(3, "-o", "y.u8", "--strict")
        self.succeed("convert", "x.f32", "-o", "y.f16", "--strict")


if __name__ == "__main__":
    main()
