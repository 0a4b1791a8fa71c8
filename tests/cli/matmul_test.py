#!/usr/bin/env python3
"""Compares products with NumPy's. Small integers have exact products and sums in every type."""

import os
import signal
import stat
import time

from cli_support import CliTest, main, messages_of

import numpy as np

RANDOM = np.random.default_rng(53)
RESULT_TYPES = {"f2": "f4", "f4": "f4", "f8": "f8"}
HUGE = 4 << 40  # bytes of a sparse file
MILLION_SQUARE = "1048576x1048576"  # of f4: HUGE bytes


def matrix(rows, columns, code="f4"):
    return RANDOM.integers(-8, 9, (rows, columns)).astype(code)


def text_of(shape):
    return "x".join(map(str, shape))


class ProductTest(CliTest):
    def multiply(self, a, b, *words, output="c.npy"):
        """Multiplies two .npy files, compares with NumPy's product, and returns the document."""
        np.save(self.path("a.npy"), a)
        np.save(self.path("b.npy"), b)
        document = self.json("matmul", "a.npy", "b.npy", "-o", output, "--force", *words)
        self.check(np.load(self.path(output)), a, b)
        return document

    def check(self, found, a, b):
        wanted = a.astype("f8") @ b.astype("f8")
        np.testing.assert_array_equal(found, wanted)
        self.assertEqual(found.shape, wanted.shape)

    def test_shapes(self):
        for rows, inner, columns in ((1, 1, 1), (1, 97, 1), (89, 1, 83), (1, 5, 101), (113, 7, 1),
                                     (64, 64, 64), (101, 103, 107), (257, 31, 509)):
            for code in ("f4", "f8"):
                with self.subTest(shape=(rows, inner, columns), code=code):
                    document = self.multiply(matrix(rows, inner, code), matrix(inner, columns,
                                                                                code))
                    result = document["result"]
                    self.assertEqual([result[key] for key in ("rows", "columns", "inner")],
                                     [rows, columns, inner])
                    self.assertEqual(result["flops"], 2 * rows * inner * columns)
                    size = np.dtype(code).itemsize
                    self.assertEqual(result["bytes_written"], rows * columns * size)
                    self.assertGreaterEqual(result["bytes_read"],
                                            (rows + columns) * inner * size)

    def test_matrices_without_elements(self):
        for rows, inner, columns in ((0, 3, 2), (2, 3, 0), (2, 0, 3), (0, 0, 0)):
            with self.subTest(shape=(rows, inner, columns)):
                self.multiply(matrix(rows, inner), matrix(inner, columns))

    def test_types(self):
        for code, product in RESULT_TYPES.items():
            for order in "<>":
                with self.subTest(code=order + code):
                    a, b = matrix(50, 70, order + code), matrix(70, 30, order + code)
                    result = self.multiply(a, b)["result"]
                    self.assertEqual(result["dtype"], "<" + product)
                    self.assertEqual(result["compute"], "f64" if code == "f8" else "f32")
                    self.assertEqual(np.load(self.path("c.npy")).dtype.str, "<" + product)

    def test_the_precision_that_is_asked_for(self):
        a, b = matrix(20, 30), matrix(30, 10)
        result = self.multiply(a, b, "--compute", "f64")["result"]
        self.assertEqual((result["dtype"], result["compute"]), ("<f8", "f64"))
        result = self.multiply(a.astype("f8"), b.astype("f8"), "--compute", "f32")["result"]
        self.assertEqual((result["dtype"], result["compute"]), ("<f4", "f32"))
        exact = RANDOM.normal(size=(40, 40))
        np.save(self.path("a.npy"), exact)
        self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy", "--force")
        np.testing.assert_allclose(np.load(self.path("c.npy")), exact @ exact, rtol=0, atol=1e-13)

    def test_raw_files(self):
        a, b = matrix(37, 41), matrix(41, 43)
        self.write("a.f32", a)
        self.write("b.f32", b)
        self.succeed("matmul", "a.f32", "b.f32", "-o", "c.f32", "--shape-a", text_of(a.shape),
                     "--shape-b", text_of(b.shape))
        self.check(np.fromfile(self.path("c.f32"), "f4").reshape(37, 43), a, b)

    def test_a_header_to_skip(self):
        a = matrix(16, 16, ">f8")
        self.write("a.bin", b"header" + a.tobytes())
        document = self.json("matmul", "a.bin", "a.bin", "-o", "c.npy", "--dtype", ">f8",
                             "--offset", 6, "--shape-a", "16x16", "--shape-b", "16x16")
        self.check(np.load(self.path("c.npy")), a, a)
        self.assertEqual(document["input"]["a"]["dtype"], ">f8")
        self.assertEqual(document["input"]["b"]["offset"], 6)

    def test_bfloat16(self):
        a, b = matrix(30, 20), matrix(20, 25)
        self.write("a.bf16", (a.view("u4") >> 16).astype("u2"))
        self.write("b.bf16", (b.view("u4") >> 16).astype("u2"))
        result = self.json("matmul", "a.bf16", "b.bf16", "-o", "c.npy", "--shape-a", "30x20",
                           "--shape-b", "20x25")["result"]
        self.assertEqual((result["dtype"], result["compute"]), ("<f4", "f32"))
        self.check(np.load(self.path("c.npy")), a, b)

    def test_a_matrix_and_itself(self):
        a = matrix(60, 60)
        np.save(self.path("a.npy"), a)
        self.succeed("matmul", "a.npy", "a.npy", "-o", "c.npy")
        self.check(np.load(self.path("c.npy")), a, a)

    def test_any_limit_and_any_way(self):
        a, b = matrix(300, 500), matrix(500, 400)
        for words in (["--chunk", "64K"], ["--threads", "1"], ["--streams", "3"],
                      ["--engine", "threads"], ["--direct", "no"], ["--memory", "64M"],
                      ["--device", "cpu"], ["--device", "cpu", "--memory", "1M"],
                      ["--device", "cpu", "--memory", "400K"]):
            with self.subTest(words=words):
                self.multiply(a, b, *words)

    def test_a_small_budget_is_read_more_often(self):
        a, b = matrix(600, 500), matrix(500, 700)
        wide = self.multiply(a, b)["result"]
        narrow = self.multiply(a, b, "--device", "cpu", "--memory", "512K")["result"]
        self.assertGreater(narrow["passes"], wide["passes"])
        self.assertGreater(narrow["bytes_read"], wide["bytes_read"])
        self.assertEqual(narrow["plan"]["bytes_read"], narrow["bytes_read"])

    def test_nan_and_infinity(self):
        a, b = matrix(20, 30), matrix(30, 25)
        a[3, 4], a[5, 6], b[7, 8], b[9, 10] = np.nan, np.inf, -np.inf, np.nan
        with np.errstate(invalid="ignore"):
            self.multiply(a, b)

    def test_verified(self):
        a, b = RANDOM.normal(size=(70, 90)), RANDOM.normal(size=(90, 50))
        for code in ("f4", "f8", "f2"):
            np.save(self.path("a.npy"), a.astype(code))
            np.save(self.path("b.npy"), b.astype(code))
            for output in ("c.npy", "c.bin"):
                document = self.json("matmul", "a.npy", "b.npy", "-o", output, "--verify",
                                     "--force")
                self.assertIs(document["result"]["verified"], True)
        self.assertIsNone(self.multiply(matrix(3, 4), matrix(4, 5))["result"]["verified"])

    def test_the_run(self):
        document = self.multiply(matrix(300, 300), matrix(300, 300))
        self.assertEqual(document["command"], "matmul")
        self.assertEqual(document["input"]["a"]["shape"], [300, 300])
        self.assertRegex(document["result"]["library"], r"^(OpenBLAS|cuBLAS) \d+\.\d+")
        run = document["run"]
        self.assertGreater(run["stages"]["kernel"]["busy_seconds"], 0)
        self.assertGreater(run["stages"]["write"]["busy_seconds"], 0)
        self.assertLessEqual(run["publish_seconds"], run["seconds"])

    def test_for_people(self):
        np.save(self.path("a.npy"), matrix(1200, 20))
        np.save(self.path("b.npy"), matrix(20, 3))
        text = self.succeed("matmul", "a.npy", "b.npy", "-o", "c.f32", "--verify").stdout
        self.assertRegex(text, r"^a\.npy: 1,200 x 20 of float32 \(from its header\)\n"
                               r"b\.npy: 20 x 3 of float32 \(from its header\)\n"
                               r"wrote c\.f32: 1,200 x 3 of float32\n\n"
                               r"  compute   f32, (Open|cu)BLAS .*\n(  .*\n)+"
                               r"  verified  yes: 8 random vectors, .*\n\n.* in .*s, ")
        self.assertLessEqual(max(map(len, text.splitlines()[:-1])), 80)


class VerifyTest(CliTest):
    def stopped_in_the_check(self):
        """Starts a run and stops it after it has written the product, during the check. The check
        takes a while, since it reads A."""
        with open(self.path("a.f32"), "wb") as file:
            file.truncate(1 << 30)
        self.write("b.f32", np.zeros(16384, "f4"))
        process = self.start("matmul", "a.f32", "b.f32", "-o", "c.f32", "--shape-a", "16384x16384",
                             "--shape-b", "16384x1", "--verify", "--json")
        while process.poll() is None and not os.path.exists(self.path("c.f32")):
            time.sleep(0.001)
        self.stop(process)  # so that it sees only the restored mtime
        return process

    def test_a_wrong_product_is_kept_and_told_of(self):
        process = self.stopped_in_the_check()
        status = os.stat(self.path("c.f32"))
        with open(self.path("c.f32"), "rb+") as file:
            file.seek(4 * 1234)
            file.write(np.float32(1).tobytes())
        os.chmod(self.path("c.f32"), status.st_mode ^ stat.S_IXUSR)  # explains the new ctime
        os.utime(self.path("c.f32"), ns=(status.st_atime_ns, status.st_mtime_ns))
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 10, stderr)
        self.assertIs(self.check_document(stdout)["result"]["verified"], False)
        self.check_message(process, messages_of(stderr))
        self.assertEqual(np.fromfile(self.path("c.f32"), "f4").sum(), 1)

    def test_an_interrupted_check_leaves_the_product(self):
        process = self.stopped_in_the_check()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIsNone(self.check_document(stdout)["result"]["verified"])
        self.assertIn("error: the check of the product was stopped before its end\n"
                      "  hint: c.f32 was written, but is not verified; the printed result is",
                      stderr)
        self.assertEqual(np.fromfile(self.path("c.f32"), "f4").tolist(), [0] * 16384)


class ExplainTest(CliTest):
    def test_it_reads_and_writes_nothing(self):
        """--explain neither reads nor writes: with files of terabytes, it would take too long."""
        for name in ("a.f32", "b.f32"):
            with open(self.path(name), "wb") as file:
                file.truncate(HUGE)
        before = sorted(os.listdir(self.directory))
        words = ["a.f32", "b.f32", "--shape-a", MILLION_SQUARE, "--shape-b", MILLION_SQUARE,
                 "--explain"]
        text = self.succeed("matmul", *words).stdout
        for what in (r"\n  C           1,048,576 x 1,048,576 of float32\n",
                     r"\n  resident    [ABC]\n",
                     r"\n  tiles       A [\d,]+ x", r"\n  reads       .* TB",
                     r"\n  predicted   at least ",
                     "stays? on the device", "Nothing was read and nothing was written"):
            self.assertRegex(text, what)
        document = self.json("matmul", *words)
        self.assertIsNone(document["run"])
        result = document["result"]
        self.assertEqual(result["flops"], 2 << 60)
        self.assertEqual(result["bytes_written"], HUGE)
        self.assertGreaterEqual(result["bytes_read"], 2 * HUGE)
        prediction = result["plan"]["prediction"]
        self.assertGreater(prediction["seconds"], 0)
        self.assertIn("write", prediction["unmeasured"])
        self.assertIsNone(result["verified"])
        self.assertIsNone(result["path"])
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_what_is_said_is_done(self):
        np.save(self.path("a.npy"), matrix(400, 300))
        np.save(self.path("b.npy"), matrix(300, 500))
        words = ["a.npy", "b.npy", "--device", "cpu", "--memory", "1M", "-o", "c.npy"]
        plan = self.json("matmul", *words, "--explain")["result"]
        done = self.json("matmul", *words)["result"]
        self.assertEqual(set(plan), set(done))
        for key in ("rows", "columns", "inner", "dtype", "compute", "path", "flops",
                    "bytes_written"):
            self.assertEqual(plan[key], done[key], key)

    def test_it_refuses_what_the_run_would(self):
        np.save(self.path("a.npy"), matrix(4, 3))
        self.check_error(3, "matmul", "a.npy", "a.npy", "--explain")


if __name__ == "__main__":
    main()
