#!/usr/bin/env python3
"""Tests the timelines that --trace writes, with an independent parser."""

import collections
import os
import resource
import signal
import struct

from cli_support import CliTest, held_in_page_cache, main

import numpy as np

MIB = 1 << 20
WROTE = r"(?m)^ooc-run: note: wrote t\.pf, a timeline .*\n"


def fields(data):
    """Yields the fields of a protobuf message as (number, value); a value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 2: None, 5: 4}[kind]
            size = varint() if size is None else size
            value = data[at:at + size]
            if len(value) != size:
                raise ValueError("the message ends within a field")
            at += size
        yield key >> 3, value


def message(data):
    """Parses a message in which no field is repeated."""
    result = {}
    for number, value in fields(data):
        if number in result:
            raise ValueError(f"field {number} comes twice")
        result[number] = value
    return result


Slice = collections.namedtuple("Slice", "track category name begin end chunk bytes")


class Timeline:
    """A trace, parsed by the field numbers of Perfetto's trace_packet.proto and its imports."""

    def __init__(self, path):
        self.tracks = {}    # id: (name, parent)
        self.units = {}     # id of a counter: its unit
        self.counters = {}  # id: [(time, value)]
        self.slices = []
        self.process = None
        self.open = {}
        with open(path, "rb") as file:
            data = file.read()
        for number, packet in fields(data):
            assert number == 1
            self.add_packet(message(packet))
        assert not self.open, "a slice has no end"

    def add_packet(self, packet):
        assert packet[10] == 1, "trusted_packet_sequence_id"
        if 60 in packet:
            self.add_track(message(packet[60]))
        else:
            self.add_event(packet[8], packet[11])

    def add_track(self, track):
        assert track[1] not in self.tracks
        if 3 in track:
            process = message(track[3])
            assert process[1] > 0
            self.process = process[6].decode()
            self.tracks[track[1]] = (self.process, None)
            return
        assert track[5] in self.tracks, "its parent comes before it"
        self.tracks[track[1]] = (track[2].decode(), track[5])
        if 8 in track:
            self.units[track[1]] = message(track[8])[6].decode()
            self.counters[track[1]] = []

    def add_event(self, time, data):
        event, annotations = {}, {}
        for number, value in fields(data):
            if number == 4:
                annotation = message(value)
                annotations[annotation[10].decode()] = annotation[3]
            else:
                assert number not in event
                event[number] = value
        track = event[11]
        assert track in self.tracks
        if event[9] == 4:
            self.counters[track].append((time, struct.unpack("<d", event[44])[0]))
        elif event[9] == 1:
            assert track not in self.open, "slices overlap"
            self.open[track] = (event[22].decode(), event[23].decode(), time, annotations)
        else:
            assert event[9] == 2
            category, name, begin, annotations = self.open.pop(track)
            self.slices.append(Slice(track, category, name, begin, time,
                                     annotations.get("chunk"), annotations["bytes"]))

    def place(self, track):
        """Returns the names of a track and its parents, innermost first."""
        names = []
        while track is not None:
            name, track = self.tracks[track]
            names.append(name)
        return names

    def of(self, category):
        return [one for one in self.slices if one.category == category]

    def counter(self, name):
        found, = (track for track in self.counters if self.tracks[track][0] == name)
        return self.units[found], self.counters[found]


class TraceTest(CliTest):
    def trace(self, *words, stages=("read", "kernel")):
        self.json(*words, "--trace", "t.pf", "--device", "cpu")
        timeline = Timeline(self.path("t.pf"))
        self.assertEqual(timeline.process, "ooc-run " + words[0])
        self.assertEqual({one.category for one in timeline.slices}, set(stages))
        self.check_times(timeline)
        return timeline

    def check_times(self, timeline):
        ends = collections.defaultdict(int)
        for one in timeline.slices:
            self.assertLessEqual(ends[one.track], one.begin)
            self.assertLessEqual(one.begin, one.end)
            ends[one.track] = one.end

    def check_chunks(self, timeline, stage, sizes, passes=1):
        """Checks that each chunk has one slice per pass, with its size."""
        slices = sorted(timeline.of(stage), key=lambda one: one.chunk)
        self.assertEqual([(one.chunk, one.bytes) for one in slices],
                         [(k, size) for k, size in enumerate(sizes) for _ in range(passes)])
        for one in slices:
            self.assertEqual(one.name, f"{stage} {one.chunk}")

    def check_slots(self, timeline, stage, process):
        """Checks that the tracks of a stage are slot 0, slot 1 ... of it; returns their number."""
        tracks = {one.track for one in timeline.of(stage)}
        self.assertCountEqual([timeline.place(track) for track in tracks],
                              [[f"slot {slot}", stage, process] for slot in range(len(tracks))])
        return len(tracks)

    def check_waiting(self, timeline, most):
        _, points = timeline.counter("chunks loaded, waiting")
        values = [value for _, value in points]
        self.assertEqual(points, sorted(points, key=lambda point: point[0]))
        self.assertGreaterEqual(min(values), 0)
        self.assertLessEqual(max(values), most)
        self.assertEqual(values[-1], 0)

    def check_read_rate(self, timeline, total):
        """Checks that the area under the read rate is the number of bytes read."""
        unit, points = timeline.counter("read rate")
        self.assertEqual(unit, "GB/s")
        area = sum(value * (after - time)
                   for (time, value), (after, _) in zip(points, points[1:]))
        self.assertAlmostEqual(area / total, 1, places=6)
        self.assertEqual(points[-1][1], 0)

    def test_a_fold(self):
        self.write("x.f32", np.arange(8 * MIB + 1000, dtype="f4"))
        sizes = [MIB] * 32 + [4000]
        timeline = self.trace("reduce", "x.f32", "--chunk", "1M", "--streams", "3",
                              "--engine", "threads")
        for stage in ("read", "kernel"):
            self.check_chunks(timeline, stage, sizes)
        lanes = [["kernel", f"lane {lane}", "ooc-run reduce"] for lane in range(3)]
        for one in timeline.of("kernel"):
            self.assertIn(timeline.place(one.track), lanes)
        slots = self.check_slots(timeline, "read", "ooc-run reduce")
        self.check_waiting(timeline, slots)
        self.check_read_rate(timeline, sum(sizes))

    def test_lanes_that_load_what_is_next(self):
        self.write("x.f32", np.arange(8 * MIB + 1000, dtype="f4"))
        sizes = [MIB] * 32 + [4000]
        with held_in_page_cache(self.path("x.f32")):
            timeline = self.trace("reduce", "x.f32", "--chunk", "1M", "--streams", "3")
        for stage in ("read", "kernel"):
            self.check_chunks(timeline, stage, sizes)
        lanes = {one.chunk: timeline.place(one.track)[1] for one in timeline.of("kernel")}
        slots = {one.chunk: timeline.place(one.track)[0] for one in timeline.of("read")}
        pairs = {(lanes[chunk], slots[chunk]) for chunk in range(33)}
        self.assertLessEqual({lane for lane, _ in pairs}, {"lane 0", "lane 1", "lane 2"})
        self.assertEqual(len(pairs), len({lane for lane, _ in pairs}))  # each lane has its own slot
        self.assertEqual(len(pairs), len({slot for _, slot in pairs}))
        self.check_waiting(timeline, 3)
        self.check_read_rate(timeline, sum(sizes))

    def test_two_passes_follow_each_other(self):
        self.write("x.f32", np.arange(4 * MIB, dtype="f4"))
        timeline = self.trace("histogram", "x.f32", "--chunk", "1M")
        for stage in ("read", "kernel"):
            self.check_chunks(timeline, stage, [MIB] * 16, passes=2)
        self.check_waiting(timeline, 32)
        self.check_read_rate(timeline, 32 * MIB)

    def test_a_map(self):
        self.write("x.f32", np.arange(4 * MIB, dtype="f4"))
        timeline = self.trace("convert", "x.f32", "-o", "y.f16", "--chunk", "1M",
                              stages=("read", "kernel", "write"))
        for stage, size in (("read", MIB), ("kernel", MIB), ("write", MIB // 2)):
            self.check_chunks(timeline, stage, [size] * 16)
        self.assertEqual(self.check_slots(timeline, "write", "ooc-run convert"),
                         self.check_slots(timeline, "read", "ooc-run convert"))

    def test_where_it_is_is_said(self):
        self.write("x.u8", bytes(100))
        self.assertRegex(self.succeed("reduce", "x.u8", "--trace", "t.pf").stderr, WROTE)
        done = self.succeed("reduce", "x.u8", "--trace", "t.pf", "--force", "--quiet")
        self.assertEqual(done.stderr, "")

    def test_a_product(self):
        n = 1000
        matrix = np.random.default_rng(1).random((n, n), "f4")
        np.save(self.path("a.npy"), matrix)
        timeline = self.trace("matmul", "a.npy", "a.npy", "-o", "c.npy", "--memory", "6M",
                              stages=("read", "h2d", "kernel", "d2h", "write"))
        for stage in ("d2h", "write"):
            self.assertEqual(sum(one.bytes for one in timeline.of(stage)), 4 * n * n)
        reads, copies = timeline.of("read"), timeline.of("h2d")
        self.assertEqual(sorted(one.chunk for one in reads),
                         sorted(one.chunk for one in copies if one.chunk is not None))
        self.assertEqual(sum(one.bytes for one in reads),
                         sum(one.bytes for one in copies if one.chunk is not None))
        self.assertGreaterEqual(sum(one.bytes for one in reads), 2 * 4 * n * n)
        for one in timeline.of("kernel"):
            self.assertEqual((one.name, one.chunk), ("kernel", None))
        self.check_waiting(timeline, self.check_slots(timeline, "read", "ooc-run matmul"))
        np.testing.assert_allclose(np.load(self.path("c.npy")), matrix @ matrix, rtol=1e-4)

    def test_an_empty_file(self):
        self.write("x.f32", b"")
        self.succeed("reduce", "x.f32", "--trace", "t.pf")
        self.assertEqual(Timeline(self.path("t.pf")).slices, [])

    def test_of_a_run_that_fails(self):
        """A failed run keeps its timeline: two values of the last chunk have no integer."""
        data = np.zeros(4 * MIB, "f4")
        data[-2:] = np.nan
        self.write("x.f32", data)
        words = ["convert", "x.f32", "-o", "y.i32", "--strict", "--device", "cpu", "--chunk", "1M",
                 "--trace", "t.pf"]
        done = self.run_program(*words)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, WROTE + "ooc-run: error: .*2 values would change")
        self.assertFalse(os.path.exists(self.path("y.i32")))
        timeline = Timeline(self.path("t.pf"))
        self.check_times(timeline)
        self.assertTrue(timeline.of("read"))
        self.check_error(6, *words)
        self.check_error(3, *words, "--force", "--quiet")

    def test_of_a_run_that_is_interrupted(self):
        with open(self.path("x.f32"), "wb") as file:
            file.truncate(4 << 40)  # too many bytes to read during a test
        process, _ = self.at_work("reduce", "x.f32", "--trace", "t.pf", "--device", "cpu")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        timeline = Timeline(self.path("t.pf"))
        self.check_times(timeline)
        chunks = sorted(one.chunk for one in timeline.of("kernel"))
        self.assertEqual(chunks, list(range(len(chunks))))
        self.assertGreater(len(chunks), 0)

    def test_a_result_is_shown_if_its_timeline_cannot_be_written(self):
        self.write("x.u8", bytes(4 * MIB))
        done = self.run_program("reduce", "x.u8", "--json", "--chunk", "64K", "--trace", "t.pf",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                      (1000, 1000)))
        self.assertEqual(done.returncode, 6)
        self.assertEqual(self.check_document(done.stdout)["result"]["count"], 4 * MIB)
        self.assertRegex(done.stderr, r"ooc-run: error: t\.pf: write failed .*\(EFBIG\)")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])

    def test_files_that_are_there_stay(self):
        self.write("x.u8", bytes(100))
        self.write("old", b"old")
        self.check_error(6, "reduce", "x.u8", "--trace", "old")
        with open(self.path("old"), "rb") as file:
            self.assertEqual(file.read(), b"old")
        self.succeed("reduce", "x.u8", "--trace", "old", "--force", "--device", "cpu")
        self.assertEqual(len(Timeline(self.path("old")).of("kernel")), 1)

    def test_files_that_cannot_be(self):
        self.write("x.u8", bytes(100))
        self.check_error(6, "reduce", "x.u8", "--trace", "no/t.pf")
        self.check_error(2, "reduce", "x.u8", "--trace", "./x.u8", "--force")
        self.check_error(2, "convert", "x.u8", "-o", "y.u8", "--to", "u1", "--trace", "y.u8")
        self.assertEqual(os.listdir(self.directory), ["x.u8"])


if __name__ == "__main__":
    main()
