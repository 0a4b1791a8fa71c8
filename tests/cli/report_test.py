#!/usr/bin/env python3
"""Tests the HTML pages that --report writes."""

import json
import os
import re
import resource
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from cli_support import PROGRAM, CliTest, clean_environment, main

import numpy as np

MIB = 1 << 20


class Page:
    """A page about a run. The constructor raises if it is not well-formed."""

    def __init__(self, path):
        self.text = Path(path).read_text(encoding="utf-8")
        assert self.text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
        self.root = ElementTree.fromstring(self.text)
        assert self.root.tag == "html"

    def with_class(self, name):
        return [one for one in self.root.iter() if name in (one.get("class") or "").split()]

    def words(self, element):
        return " ".join("".join(element.itertext()).split())

    def section(self, title):
        found, = (one for one in self.root.iter("section") if one.find("h2").text == title)
        return found

    def facts(self, title):
        """Returns the values of a section's tables by the words of their JSON keys."""
        facts = {}
        for row in self.section(title).iter("tr"):
            name, data = row.find("th"), row.find("td/data")
            if name is not None and data is not None:
                key = (name.get("title") or self.words(name)).replace("_", " ")
                facts.setdefault(key, data.get("value"))
        return facts

    def chunks(self, work):
        """Returns the chunks that the timeline shows for `work`, such as "read". It shows only
        parts of a long run, and an event may be in two of them."""
        chunks = set()
        for title in self.root.iter("title"):
            found = re.match(work + r" (\d+)(?: to (\d+))?[:,]", title.text)
            if found:
                chunks |= set(range(int(found[1]), int(found[2] or found[1]) + 1))
        return chunks


def parsed(text):
    """Parses a value of a page as JSON."""
    try:
        return json.loads(text, parse_constant=str)
    except json.JSONDecodeError:
        return text


class ReportTest(CliTest):
    def report(self, *words, env=None):
        """Returns the document that a command prints and its page; checks that they agree."""
        document = self.json(*words, "--report", "r.html", "--device", "cpu", env=env)
        page = Page(self.path("r.html"))
        self.check(page, document)
        return document, page

    def check(self, page, document):
        """Checks that the page shows the content of the document and refers to no other file."""
        for foreign in ("http:", "https:", "<script", "<link", "<img", "@import", "url("):
            self.assertNotIn(foreign, page.text)
        self.check_facts(page, "Result", document["result"])
        self.check_facts(page, "What was chosen, and why",
                         {**document["run"], "verdict": None})  # shown in the banner
        for reason in document["run"]["reasons"]:
            self.assertIn(reason, [one.text for one in page.root.iter("li")])
        self.check_stages(page, document["run"]["stages"])
        banner, = page.with_class("verdict")
        verdict = document["run"]["verdict"]
        self.assertEqual(banner.text, verdict or banner.text)
        if verdict is None:
            self.assertRegex(banner.text, "^No verdict: ")

    def test_labels_are_words(self):
        self.write("x.f32", np.arange(1000, dtype="f4"))
        _, page = self.report("reduce", "x.f32")
        names = [page.words(name) for name in page.root.iter("th")]
        for word in ("standard deviation", "size of a chunk", "I/O engine", "place of the maximum"):
            self.assertIn(word, names)
        for key in ("stddev", "argmax", "chunk bytes", "in flight"):
            self.assertNotIn(key, names)

    def check_facts(self, page, section, values):
        facts = page.facts(section)
        for key, value in values.items():
            if value is not None and not isinstance(value, (list, dict)):
                self.assertEqual(parsed(facts[key.replace("_", " ")]), value, key)

    def check_stages(self, page, stages):
        rows = page.section("Where the time went").find("table/tbody").findall("tr")
        # Without copies, the page counts the waits for copies as waits of the kernel.
        stages = {name: dict(stage) for name, stage in stages.items() if stage is not None}
        for name in "h2d", "d2h":
            if name in stages and stages[name]["busy_seconds"] == 0:
                copy = stages.pop(name)
                for key in "waits_in_seconds", "waits_out_seconds":
                    stages["kernel"][key] += copy[key]
        labels = {"h2d": "copy in", "d2h": "copy out"}  # names on the CPU
        stages = {labels.get(name, name): stage for name, stage in stages.items()}
        self.assertEqual([row.find("th").text for row in rows], list(stages))
        for row in rows:
            stage = stages[row.find("th").text]
            values = [parsed(data.get("value")) for data in row.iter("data")]
            self.assertEqual(values, [value for value in stage.values() if value is not None])

    def test_a_histogram(self):
        values = np.random.default_rng(3).normal(size=4 * MIB).astype("f4")
        self.write("x.f32", values)
        document, page = self.report("histogram", "x.f32", "--bins", "20", "--chunk", "1M")
        counts = [int(bar.get("data-count")) for bar in page.with_class("bar")]
        self.assertEqual(counts, document["result"]["counts"])
        rows = page.section("Result").find("details/table/tbody").findall("tr")
        edges = document["result"]["edges"]
        self.assertEqual([[parsed(data.get("value")) for data in row.iter("data")] for row in rows],
                         [list(row) for row in zip(edges, edges[1:], counts)])
        self.assertIn("histogram x.f32 --bins 20", page.words(page.with_class("command")[0]))
        self.assertIn(0, page.chunks("read"))
        self.assertIn(15, page.chunks("read"))
        self.assertLessEqual(page.chunks("read"), set(range(16)))

    def test_bins_by_the_thousand(self):
        self.write("x.f32", np.arange(MIB, dtype="f4"))
        _, page = self.report("histogram", "x.f32", "--bins", "100000", "--log-scale")
        self.assertEqual(len(page.with_class("steps")), 1)
        self.assertLess(len(page.text), 300_000)

    def test_statistics(self):
        self.write("x.f64", np.array([1.5, np.nan, np.inf]))
        self.report("reduce", "x.f64", "--nan", "omit")
        self.write("x.u64", np.full(1000, (1 << 64) - 1, "u8"))
        document, page = self.report("reduce", "x.u64", "--force")
        self.assertEqual(page.facts("Result")["sum"], str(1000 * ((1 << 64) - 1)))
        self.assertEqual(document["result"]["sum"], 1000 * ((1 << 64) - 1))

    def test_counts_of_values_are_no_bins(self):
        self.write("x.u8", bytes([1, 2, 2]))
        document, page = self.report("distinct", "x.u8", "--counts", "2")
        self.assertEqual(page.facts("Result")["count"], "3")
        self.assertEqual(len(document["result"]["counts"]), 2)

    def test_a_conversion(self):
        self.write("x.f32", np.arange(4 * MIB, dtype="f4"))
        document, page = self.report("convert", "x.f32", "-o", "y.f16", "--chunk", "1M")
        rows = page.section("Where the time went").find("table/tbody").findall("tr")
        self.assertEqual([row.find("th").text for row in rows], ["disk", "kernel", "write"])
        self.assertEqual(document["result"]["bytes_written"], 8 * MIB)
        self.assertIn(15, page.chunks("write"))
        self.assertLessEqual(page.chunks("write"), set(range(16)))

    def test_a_product(self):
        np.save(self.path("a.npy"), np.random.default_rng(1).random((1000, 1000), "f4"))
        document, page = self.report("matmul", "a.npy", "a.npy", "-o", "c.npy", "--memory", "6M",
                                     "--verify")
        self.assertTrue(document["result"]["verified"])
        self.assertEqual([one.text for one in page.section("Input").iter("h3")], ["a", "b"])
        chunks = set(range(document["run"]["chunks"]))
        self.assertLessEqual(page.chunks("read"), chunks)  # not those that the check has read
        figure = page.with_class("figure")[0]
        self.assertRegex(page.words(figure), r"^[\d.]+ .?FLOP/s ?arithmetic$")

    def test_what_is_verified_is_not_of_the_run(self):
        self.write("x.f32", np.arange(4 * MIB, dtype="f4"))
        _, page = self.report("reduce", "x.f32", "--chunk", "1M", "--verify")
        self.assertLessEqual(page.chunks("read"), set(range(16)))

    def test_together_with_other_files(self):
        self.write("x.u8", bytes(range(256)))
        self.report("histogram", "x.u8", "--trace", "t.pf", "--plot", "p.svg")
        self.assertEqual(sorted(os.listdir(self.directory)), ["p.svg", "r.html", "t.pf", "x.u8"])

    def test_names_of_any_bytes(self):
        name = b"a<&>\"' \xff\x01.u8"
        (Path(os.fsencode(self.directory).decode()) / os.fsdecode(name)).write_bytes(bytes(100))
        done = subprocess.run([PROGRAM, "reduce", name, "--report", "r.html", "--device", "cpu"],
                              cwd=self.directory, env=clean_environment(), capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(self.path("r.html"))
        shown = "a<&>\"' \\xff\\x01.u8"
        self.assertIn(shown + ": 100 values", page.with_class("heading")[0].text)
        self.assertIn(shown, [one.text for one in page.section("Input").iter("td")])

    def test_an_empty_file(self):
        self.write("x.f32", b"")
        _, page = self.report("histogram", "x.f32")
        self.assertIn("Nothing was read.", [one.text for one in page.with_class("note")])

    def test_variables_are_named(self):
        self.write("x.u8", bytes(100))
        _, page = self.report("reduce", "x.u8", env={"OOC_CHUNK": "1M"})
        rows = {row.find("th").text: page.words(row.find("td"))
                for row in page.section("Machine and version").iter("tr")}
        self.assertEqual(rows["OOC_CHUNK"], "1M")

    def test_it_is_said(self):
        self.write("x.u8", bytes(100))
        self.check_message(self.succeed("reduce", "x.u8", "--report", "r.html"))
        done = self.succeed("reduce", "x.u8", "--report", "r.html", "--force", "--quiet")
        self.assertEqual(done.stderr, "")

    def test_files_that_are_there_stay(self):
        self.write("x.u8", bytes(100))
        self.write("old.html", b"old")
        self.check_error(6, "reduce", "x.u8", "--report", "old.html")
        self.assertEqual(Path(self.path("old.html")).read_bytes(), b"old")

    def test_files_that_cannot_be(self):
        self.write("x.html", bytes(100))
        self.check_error(2, "reduce", "x.html", "--report", "r.pdf")
        self.check_error(6, "reduce", "x.html", "--report", "no/r.html")
        self.check_error(2, "reduce", "x.html", "--report", "./x.html", "--force")
        self.check_error(2, "convert", "x.html", "-o", "y.html", "--to", "u1", "--report", "y.html")
        self.check_error(2, "reduce", "x.html", "--trace", "r.html", "--report", "./r.html")
        self.assertEqual(os.listdir(self.directory), ["x.html"])

    def test_a_failed_run_leaves_nothing(self):
        self.write("x.f32", np.full(10, np.nan, "f4"))
        self.check_error(3, "histogram", "x.f32", "--report", "r.html")
        self.assertEqual(os.listdir(self.directory), ["x.f32"])

    def test_a_result_is_shown_if_its_report_cannot_be_written(self):
        self.write("x.u8", bytes(100))
        done = self.run_program("reduce", "x.u8", "--json", "--report", "r.html",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                      (1000, 1000)))
        self.assertEqual(done.returncode, 6)
        self.assertEqual(self.check_document(done.stdout)["result"]["count"], 100)
        self.assertRegex(done.stderr, r"ooc-run: error: r\.html: write failed .*\(EFBIG\)")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])

    def test_of_a_run_that_is_interrupted(self):
        with open(self.path("x.u8"), "wb") as file:
            file.truncate(4 << 40)  # too many bytes to read during a test
        process, _ = self.at_work("reduce", "x.u8", "--report", "r.html", "--device", "cpu",
                                  "--json")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        document = self.check_document(stdout)
        page = Page(self.path("r.html"))
        banner, = page.with_class("bad")
        self.assertRegex(banner.text, "^PARTIAL: interrupted; the result covers .* of 4.40 TB")
        self.assertEqual(page.facts("Result")["covered bytes"],
                         str(document["result"]["covered_bytes"]))
        windows = [one.text for one in page.section("What happened when").iter("h3")]
        self.assertEqual(len(windows), 3)
        # 200 ms, or less if there are many events.
        self.assertRegex(windows[0], r"^The first [\d.]+ ms$")
        self.assertRegex(windows[2], r"^The last [\d.]+ ms$")


if __name__ == "__main__":
    main()
