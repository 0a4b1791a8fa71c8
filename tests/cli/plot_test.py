#!/usr/bin/env python3
"""Tests the pictures of histograms that --plot writes."""

import os
import re
import resource
import signal
import struct
import subprocess
import zlib
from pathlib import Path
from xml.etree import ElementTree

from cli_support import PROGRAM, CliTest, clean_environment, main

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


def png_size(data):
    """Returns the width and height of a PNG file; checks that it is complete."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, kinds, size = 8, [], None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(
            kind + body)
        kinds.append(kind)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        at += 12 + length
    assert kinds[-1] == b"IEND"
    return size


class PlotTest(CliTest):
    def plot(self, *words, file="p.svg", env=None):
        """Returns the result that a command prints and the picture that it draws."""
        document = self.json("histogram", *words, "--plot", file, "--device", "cpu", env=env)
        return document["result"], ElementTree.parse(self.path(file)).getroot()

    def texts(self, picture):
        return [text.text for text in picture.iter(SVG + "text")]

    def test_bars_have_the_counts(self):
        rng = np.random.default_rng(3)
        self.write("x.f32", rng.normal(size=10000).astype("f4"))
        result, picture = self.plot("x.f32", "--bins", "20")
        bars = [bar for bar in picture.iter(SVG + "rect")
                if bar.get("class") in ("bar", "bar small")]
        self.assertEqual([int(bar.get("data-count")) for bar in bars], result["counts"])
        heights = np.array([float(bar.get("height")) for bar in bars])
        scale = heights.max() / max(result["counts"])
        expected = np.maximum(np.array(result["counts"]) * scale, 1)
        np.testing.assert_allclose(heights, expected, atol=0.11)
        ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars]
        np.testing.assert_allclose(ends[:-1], [float(bar.get("x")) for bar in bars[1:]], atol=0.11)
        self.check_tooltips(picture, result)
        self.assertIn("x.f32: 10,000 values of float32", self.texts(picture))
        self.assertIn("count", self.texts(picture))

    def check_tooltips(self, picture, result):
        """Checks the tooltips of bins: their edges and their counts."""
        titles = [title.text for title in picture.iter(SVG + "title")]
        words = [re.fullmatch(r"\[(.*), (.*)[\])]: ([\d,]+)", title) for title in titles]
        self.assertEqual([int(found[3].replace(",", "")) for found in words], result["counts"])
        self.assertEqual([found[1] for found in words[1:]], [found[2] for found in words[:-1]])
        edges = [words[0][1]] + [found[2] for found in words]
        np.testing.assert_allclose([float(edge) for edge in edges], result["edges"], rtol=5e-6)
        for edge in edges:
            self.assertLessEqual(len(re.sub(r"e.*|\D", "", edge).lstrip("0")), 6, edge)

    def test_steps_have_the_counts(self):
        self.write("x.u8", np.random.default_rng(5).integers(0, 200, 10000, dtype="u1"))
        result, picture = self.plot("x.u8")
        self.check_tooltips(picture, result)
        steps, = (path for path in picture.iter(SVG + "path") if path.get("class") == "steps")
        self.assertEqual([int(count) for count in steps.get("data-counts").split()],
                         result["counts"])
        bottom = float(re.match(r"M\S+ ([\d.]+)", steps.get("d"))[1])
        heights = bottom - np.array(re.findall(r"V([\d.]+)H", steps.get("d")), "f8")
        scale = heights.max() / max(result["counts"])
        np.testing.assert_allclose(heights, np.array(result["counts"]) * scale, atol=0.2)

    def test_titles(self):
        self.write("x.u8", bytes(range(256)))
        words = ("--title", "Ages <of> & all", "--xlabel", "age \u2192 years\x1b")
        _, picture = self.plot("x.u8", *words)
        self.assertEqual(self.texts(picture)[0], "Ages <of> & all")
        self.assertIn("age \u2192 years ", self.texts(picture))
        self.assertNotIn("value", self.texts(picture))
        self.succeed("reduce", "x.u8", "--histogram", "4", *words, "--plot", "r.svg")
        self.assertIn("Ages <of> & all", self.texts(ElementTree.parse(self.path("r.svg"))))
        for option in ("--title", "--xlabel"):
            self.check_error(2, "histogram", "x.u8", option, "x")

    def test_unequal_bins_are_densities(self):
        self.write("x.f64", np.random.default_rng(4).uniform(0, 10, 10000))
        result, picture = self.plot("x.f64", "--edges", "0,0.5,1,10")
        heights = np.array([float(bar.get("height")) for bar in picture.iter(SVG + "rect")
                            if bar.get("class", "").startswith("bar")])
        density = np.array(result["counts"]) / np.diff(result["edges"])
        np.testing.assert_allclose(heights / heights.max(), density / density.max(), atol=0.002)
        said = "3 bins from 0 to 10, bars are densities: counts per 0.5"
        self.assertIn(said, self.texts(picture))
        self.assertIn("density", self.texts(picture))
        self.assertIn(said, self.succeed("histogram", "x.f64", "--edges", "0,0.5,1,10").stdout)
        _, picture = self.plot("x.f64", "--edges", "0,5,10", file="equal.svg")
        self.assertIn("2 bins from 0 to 10", self.texts(picture))

    def test_a_comb_of_integers_is_said(self):
        for code in ("i4", "u2", "i8"):
            data = np.random.default_rng(6).integers(3, 1004, 100_000).astype(code)
            data[:2] = 3, 1003
            self.write("x.bin", data)
            words = ("histogram", "x.bin", "--dtype", code)
            done = self.succeed(*words)
            self.assertIn("note: bins hold 3 to 4 integers each, so equal counts look like a comb; "
                          "251 bins over the range 3:1007 hold 4 each\n", done.stderr)
            for other in (["--bins", "251", "--range", "3:1007"], ["--edges", "3,4,9,11"],
                          ["--log-bins"], ["--bins", "10"]):
                self.assertNotIn("comb", self.succeed(*words, *other).stderr, other)
        self.write("x.u8", bytes(range(256)))
        self.assertNotIn("comb", self.succeed("histogram", "x.u8").stderr)
        self.assertIn("bins hold 0 to 1 integers each", self.succeed(
            "histogram", "x.u8", "--range", "0:9", "--bins", "20").stderr)
        self.assertIn("comb", self.succeed("reduce", "x.u8", "--histogram", "100").stderr)

    def test_what_lies_outside_is_said(self):
        self.write("x.f32", np.array([-5, 0.5, 9, 9, np.nan], "f4"))
        _, picture = self.plot("x.f32", "--range", "0:1", "--bins", "4", "--log-scale")
        self.assertIn("4 bins from 0 to 1, log scale", self.texts(picture))
        self.assertIn("not drawn: 1 below, 2 above, 1 nan", self.texts(picture))

    def test_the_same_counts_make_the_same_bytes(self):
        self.write("x.f32", np.arange(100000, dtype="f4"))
        pictures = set()
        for index, chunk in enumerate(("64K", "1M")):
            self.plot("x.f32", "--chunk", chunk, file=f"{index}.svg")
            pictures.add(Path(self.path(f"{index}.svg")).read_bytes())
        self.assertEqual(len(pictures), 1)

    def test_names_of_any_bytes(self):
        name = b"a<&>\"' \xff\x01.u8"
        (Path(os.fsencode(self.directory).decode()) / os.fsdecode(name)).write_bytes(bytes(100))
        done = subprocess.run([PROGRAM, "histogram", name, "--plot", "p.svg", "--device", "cpu"],
                              cwd=self.directory, env=clean_environment(), capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        picture = ElementTree.parse(self.path("p.svg")).getroot()
        self.assertIn("a<&>\"' \\xff\\x01.u8: 100 values", self.texts(picture)[0])

    def test_of_no_values(self):
        self.write("x.u8", b"")
        _, picture = self.plot("x.u8")
        self.assertIn("no values", self.texts(picture))

    def test_png(self):
        self.write("x.u8", bytes(range(256)))
        self.plot("x.u8")
        svg = ElementTree.parse(self.path("p.svg")).getroot()
        done = self.succeed("histogram", "x.u8", "--plot", "p.png", "--device", "cpu")
        self.check_message(done)
        self.assertEqual(png_size(Path(self.path("p.png")).read_bytes()),
                         (2 * int(svg.get("width")), 2 * int(svg.get("height"))))

    def test_without_who_draws_png(self):
        self.write("x.u8", bytes(256))
        self.check_error(6, "histogram", "x.u8", "--plot", "p.png", "--device", "cpu",
                         env={"PATH": "/nowhere"})
        self.assertEqual(os.listdir(self.directory), ["x.u8"])
        self.plot("x.u8", env={"PATH": "/nowhere"})

    def test_who_draws_png_may_fail(self):
        self.write("x.u8", bytes(256))
        tools = self.directory / "tools"
        tools.mkdir()
        program = tools / "rsvg-convert"
        for script in ("echo no fonts >&2; echo more >&2; exit 1", "kill -9 $$", "exit 0"):
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            self.check_error(6, "histogram", "x.u8", "--plot", "p.png",
                             env={"PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(sorted(os.listdir(self.directory)), ["tools", "x.u8"])

    def test_files_that_are_there_stay(self):
        self.write("x.u8", bytes(100))
        self.write("old.svg", b"old")
        self.check_error(6, "histogram", "x.u8", "--plot", "old.svg")
        self.assertEqual(Path(self.path("old.svg")).read_bytes(), b"old")
        _, picture = self.plot("x.u8", "--force", file="old.svg")
        self.assertEqual(picture.tag, SVG + "svg")

    def test_files_that_cannot_be(self):
        self.write("x.svg", bytes(100))
        for name in ("p.pdf", "p", "p.svg.gz"):
            self.check_error(2, "histogram", "x.svg", "--plot", name)
        self.check_error(6, "histogram", "x.svg", "--plot", "no/p.svg")
        self.check_error(2, "histogram", "x.svg", "--plot", "./x.svg", "--force")
        for trace in ("p.svg", "./p.svg"):
            self.check_error(2, "histogram", "x.svg", "--plot", "p.svg", "--trace", trace)
        self.assertEqual(os.listdir(self.directory), ["x.svg"])

    def test_a_file_by_two_names_through_a_link(self):
        self.write("x.u8", bytes(100))
        os.mkdir(self.path("real"))
        os.symlink("real", self.path("link"))
        self.check_error(2, "histogram", "x.u8", "--plot", "real/p.svg", "--trace", "link/p.svg")
        os.symlink("p.svg", self.path("dangling.svg"))
        self.check_error(2, "histogram", "x.u8", "--plot", "dangling.svg", "--trace", "p.svg")
        os.symlink("loop", self.path("loop"))  # cannot be resolved, so it is not the same file
        self.check_error(6, "histogram", "x.u8", "--plot", "loop/p.svg", "--trace", "loop/t.pf")
        self.assertEqual(os.listdir(self.path("real")), [])

    def test_an_axis_as_short_as_can_be(self):
        self.write("x.u8", bytes(100))
        self.plot("x.u8", "--range", "0:5e-324", "--bins", "1")
        self.assertNotIn(b"nan", Path(self.path("p.svg")).read_bytes())

    def test_a_failed_run_leaves_nothing(self):
        self.write("x.f32", np.full(10, np.nan, "f4"))
        self.check_error(3, "histogram", "x.f32", "--plot", "p.svg")
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_a_result_is_shown_if_its_picture_cannot_be_written(self):
        self.write("x.u8", bytes(100))
        done = self.run_program("histogram", "x.u8", "--json", "--plot", "p.svg",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                      (1000, 1000)))
        self.assertEqual(done.returncode, 6)
        self.assertEqual(self.check_document(done.stdout)["result"]["count"], 100)
        self.assertRegex(done.stderr, r"ooc-run: error: p\.svg: write failed .*\(EFBIG\)")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])

    def test_an_interrupted_run_writes_none(self):
        with open(self.path("x.u8"), "wb") as file:
            file.truncate(4 << 40)  # too many bytes to read during a test
        self.write("old.svg", b"old")
        for name in ("new.svg", "old.svg"):
            process, _ = self.at_work("histogram", "x.u8", "--plot", name, "--force", "--device",
                                      "cpu")
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, stderr)
            self.assertIn(f"ooc-run: note: interrupted, so {name} is not written\n", stderr)
            self.assertIn("PARTIAL: interrupted; covers", stdout)
        self.assertEqual(sorted(os.listdir(self.directory)), ["old.svg", "x.u8"])
        self.assertEqual(Path(self.path("old.svg")).read_bytes(), b"old")


if __name__ == "__main__":
    main()
