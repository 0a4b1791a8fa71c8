#!/usr/bin/env python3
"""Tests of input from web servers."""

import io
import json
import socket
import struct
import time

from cli_support import main
from remote_support import DATA, VALUES, RemoteCase
from web_server import close_hard, make_certificate

import numpy as np


def npy_of(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class RemoteTest(RemoteCase):
    def test_same_as_file(self):
        url, _ = self.serve()
        document = self.sum_of(url + "?signature=secret#part")
        self.assertEqual(document["input"]["files"], [{"path": url, "bytes": len(DATA)}])
        self.assertEqual(document["run"]["engine"], "http")
        self.assertEqual(document["run"]["retries"], 0)
        self.assertIsNone(document["run"]["prediction"])
        self.assertRegex(" ".join(document["run"]["reasons"]), "reading from http://127.0.0.1")
        self.succeed("reduce", url + "?signature=secret", "--report", "r.html")
        page = (self.directory / "r.html").read_text()
        self.assertIn(url, page)
        self.assertNotIn("secret", page)
        path = self.write("a.f32", DATA)
        for words in (("reduce",), ("histogram",), ("histogram", "--bins", "7"),
                      ("reduce", "--exact", "--checksum"), ("reduce", "--verify")):
            with self.subTest(words=words):
                remote = self.json(words[0], url, *words[1:])
                local = self.json(words[0], path, *words[1:])
                self.assertEqual(remote["result"], local["result"])
                self.assertEqual(remote["input"].get("checksum_xxh3_128"),
                                 local["input"].get("checksum_xxh3_128"))

    def test_output(self):
        url, _ = self.serve()
        self.succeed("convert", url, "--to", "f8", "-o", "b.npy")
        np.testing.assert_array_equal(np.load(self.path("b.npy")), VALUES.astype(np.float64))

    def test_npy_and_empty(self):
        array = np.arange(6000, dtype=np.int16).reshape(60, 100)
        url, _ = self.serve(npy_of(array), "/x.npy")
        document = self.json("reduce", url)
        self.assertEqual(document["input"]["shape"], [60, 100])
        self.assertEqual(document["result"]["sum"], int(array.sum()))
        url, _ = self.serve(b"", "/e.f32")
        self.assertEqual(self.json("reduce", url)["result"]["count"], 0)
        url, _ = self.serve(npy_of(array), "/y.npy")
        text = self.succeed("info", url).stdout
        self.assertIn("60 x 100", text)
        self.assertRegex(text, r"on +http://127\.0\.0\.1:\d+\n")
        self.assertNotIn("extents", text)

    def test_an_array_of_several(self):
        array = np.arange(6000, dtype=np.int16)
        header = json.dumps({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                             "b": {"dtype": "I16", "shape": [6000], "data_offsets": [2, 12002]}})
        url, _ = self.serve(struct.pack("<Q", len(header)) + header.encode() + b"xx" +
                            array.tobytes(), "/m.safetensors")
        for query in ("", "?signature=secret"):
            document = self.json("reduce", url + query + "::b")
            self.assertEqual(document["result"]["sum"], int(array.sum()))
            self.assertEqual(document["input"]["files"][0]["path"], url)
        self.assertIn("6,000", self.succeed("info", url).stdout)

    def test_beside_a_file(self):
        url, _ = self.serve()
        path = self.write("b.f32", VALUES[:1000])
        document = self.json("reduce", url, path)
        self.assertEqual(document["result"]["count"], len(VALUES) + 1000)

    def test_explain_reads_no_data(self):
        url, thing = self.serve()
        text = self.succeed("reduce", url, "--explain", "--dtype", "f4").stdout
        self.assertRegex(text, r"over HTTP, \d+ requests of 8 MiB in flight")
        self.assertRegex(text, r"predicted +not known, of a server")
        self.assertLessEqual(thing.requests, 1)  # a glance at the type

    def test_secrets(self):
        """Messages show neither signatures nor passwords."""
        url, _ = self.serve()
        signed = url + "?signature=SECRET"
        endpoint = "http://joe:SECRET@127.0.0.1:1"
        for code, words in ((2, ("bench", signed)), (2, ("doctor", signed)),
                            (3, ("reduce", "ftp://joe:SECRET@h/x?SECRET")),
                            (3, ("reduce", "https://joe:SECRET?x@h/x")),
                            (4, ("reduce", signed.replace("a.f32", "b.f32"))),
                            (2, ("reduce", "s3://bucket/x")),
                            (2, ("convert", url, "--to", "f8", "-o", signed)),
                            *((2, ("reduce", url, option, signed))
                              for option in ("--resume", "--report", "--trace", "--bins",
                                             "--dtype")),
                            (2, (signed,)), (3, ("reduce", "https://joe:a/SECRET@h/x"))):
            with self.subTest(words=words):
                done = self.run_program(*words, env={"AWS_ENDPOINT_URL": endpoint})
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertNotIn("SECRET", done.stderr)
        self.check_error(2, "reduce", "s3://bucket/x", env={"AWS_ENDPOINT_URL": "127.0.0.1:1"})

    def test_secrets_in_what_is_not_quite_an_address(self):
        """All forms are in tests/io/http/secrets_test.cpp; these are the ways to the messages."""
        forms = ("http:/joe:SECRET@h/x", "http:joe:SECRET@h", "http://us/er:SECRET@h",
                 "s3://KEY:SECRET@bucket", "webdav+https://joe:SECRET@h/x", "h-t://joe:SECRET@h/x",
                 "//joe:SECRET@h/x", "url=http://joe:SECRET@h/x", "./http://joe:SECRET@h/x",
                 "joe:SECRET@h/x", "http:/h/x?SECRET", "http://joe:SEC RET@h/x")
        self.write("a.u8", bytes(10))
        for form in forms:
            inputs = (["reduce", form], ["info", form], [form], ["merge", form], ["bench", form],
                      ["doctor", form], ["reduce", "a.u8", "--dtype", form],
                      ["reduce", "a.u8", "--" + form])
            # Without a slash, these are names of local files that are written.
            outputs = (["convert", "a.u8", "--to", "f4", "-o", form],
                       ["reduce", "a.u8", "--resume", form], ["reduce", "a.u8", "--trace", form],
                       ["gen", "-o", form, "--count", "1", "--dtype", "u1"])
            for words in inputs + (outputs if "/" in form else ()):
                with self.subTest(words=words):
                    done = self.run_program(*words)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertNotRegex(done.stderr + done.stdout, "SECRET|SEC RET")
            for variable in ("OOC_OUTPUT", "OOC_RESUME", "OOC_TRACE", "OOC_REPORT", "OOC_PLOT",
                             "OOC_DTYPE", "OOC_BINS", "OOC_MISSPELT"):
                if variable == "OOC_OUTPUT" and "/" not in form:
                    continue
                words = ["convert", "a.u8"] if "OUTPUT" in variable else ["histogram", "missing"]
                with self.subTest(variable=variable, form=form):
                    done = self.run_program(*words, env={variable: form})
                    self.assertNotRegex(done.stderr + done.stdout, "SECRET|SEC RET")

    def test_names_of_files_are_no_secrets(self):
        name = "run:7@home.u8"
        self.write(name, bytes(10))
        self.assertEqual(self.json("reduce", name)["input"]["files"][0]["path"], name)
        self.assertIn(name, self.succeed("reduce", name).stdout)
        self.check_error(3, "reduce", name, "--dtype", "f4", "--offset", "100000")

    def test_refusals(self):
        url, _ = self.serve()
        self.check_error(4, "reduce", url + "x")
        whole, _ = self.serve(no_ranges=True)
        self.check_error(3, "reduce", whole)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            no_server = f"http://127.0.0.1:{unused.getsockname()[1]}/a.f32"
            began = time.monotonic()
            self.check_error(4, "reduce", no_server)
            self.assertLess(time.monotonic() - began, 20)  # a wrong address is not tried again
        # A refusal is one, whatever becomes of the connection.
        cut, thing = self.serve(fault=lambda request, first:
                                request.answer(403, b"<Error>", length=1000)
                                or close_hard(request) or True)
        self.check_error(4, "reduce", cut, "--dtype", "f4")
        self.assertLess(thing.requests, 10)
        proxy = url.removesuffix("/a.f32")
        self.check_error(4, "reduce", "https://example.org/x",
                         env={"https_proxy": proxy, "no_proxy": ""})
        self.check_error(3, "reduce", "https://a:b@example.org/x")
        self.check_error(3, "reduce", "s3://bucket")
        self.check_error(3, "reduce", "gs://bucket/x")
        self.check_error(2, "reduce", url, "--engine", "threads")
        self.check_error(2, "reduce", url, "--direct", "yes")

    def test_not_for_disks(self):
        url, _ = self.serve()
        for command in ("bench", "doctor"):
            self.check_error(2, command, url)

    def test_product(self):
        a = np.arange(300 * 200, dtype=np.float32).reshape(300, 200) % 7
        url, _ = self.serve(npy_of(a), "/a.npy")
        np.save(self.path("b.npy"), a.T.copy())
        text = self.succeed("matmul", url, "b.npy", "--explain").stdout
        self.assertRegex(text, r"predicted +not known, of a server")
        self.succeed("matmul", url, "b.npy", "-o", "c.npy")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), a @ a.T)

    def test_redirection(self):
        url, _ = self.serve()
        moved, _ = self.serve(moved=url)
        self.sum_of(moved)

    def test_encrypted(self):
        certificate = make_certificate(self.directory)
        url, thing = self.serve(certificate=certificate)
        self.assertTrue(url.startswith("https:"))
        for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE"):
            self.sum_of(url, env={name: certificate})
        asked = thing.requests
        self.check_error(4, "reduce", url)
        self.assertEqual(thing.requests, asked)
        # No answer leads from an encrypted connection to one that is not.
        open_url, thing = self.serve()
        moved, _ = self.serve(certificate=certificate, moved=open_url)
        for address in (moved, moved.replace("https:", "HTTPS:")):
            self.check_error(4, "reduce", address, env={"CURL_CA_BUNDLE": certificate})
        self.assertEqual(thing.requests, 0)

    def test_s3(self):
        url, _ = self.serve(name="/bucket/a%20b.f32", keys=("KEYID", "SECRET"))
        endpoint = url.removesuffix("/bucket/a%20b.f32")
        keys = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "KEYID",
                "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_REGION": "eu-west-3"}
        document = self.sum_of("s3://bucket/a b.f32", env=keys)
        self.assertEqual(document["input"]["files"][0]["path"], "s3://bucket/a b.f32")
        self.check_error(4, "reduce", "s3://bucket/a b.f32", env={"AWS_ENDPOINT_URL": endpoint})
        self.check_error(4, "reduce", "s3://bucket/a b.f32",
                         env={**keys, "AWS_SECRET_ACCESS_KEY": "OTHER"})
        # A key is no path.
        dots, _ = self.serve(name="/bucket/a/../b.f32", keys=("KEYID", "SECRET"))
        here = {**keys, "AWS_ENDPOINT_URL": dots.removesuffix("/bucket/a/../b.f32")}
        self.sum_of("s3://bucket/a/../b.f32", env=here)
        # A request that is not signed follows one that is.
        (self.directory / ".netrc").write_text("machine 127.0.0.1 login joe password x\n")
        plain, _ = self.serve()
        both = self.json("reduce", "s3://bucket/a b.f32", plain,
                         env={**keys, "HOME": str(self.directory)})
        self.assertEqual(both["result"]["count"], 2 * len(VALUES))
        # Another server gets no signed request.
        other, thing = self.serve()
        moved, _ = self.serve(name="/bucket/m.f32", keys=("KEYID", "SECRET"), moved=other)
        here = {**keys, "AWS_ENDPOINT_URL": moved.removesuffix("/bucket/m.f32")}
        self.check_error(4, "reduce", "s3://bucket/m.f32", env=here)
        self.assertEqual(thing.requests, 0)

    def test_parts(self):
        """Shards of an object merge, and those of another version do not."""
        url, thing = self.serve()
        for i in (0, 1):
            self.succeed("reduce", url, "--shard", f"{i}/2", "-o", f"{i}.part")
        merged = self.json("merge", "0.part", "1.part")
        self.assertEqual(merged["result"]["sum"], float(VALUES.astype(np.float64).sum()))
        thing.etag = '"v2"'
        self.succeed("reduce", url, "--shard", "1/2", "-o", "2.part")
        self.check_error(5, "merge", "0.part", "2.part")
        # Another object may have the same tag.
        other, _ = self.serve(DATA[:-4] + b"abcd")
        self.succeed("reduce", other, "--shard", "1/2", "-o", "3.part")
        self.check_error(5, "merge", "0.part", "3.part")
        # So may one that only its query names.
        self.succeed("reduce", url + "?id=2", "--shard", "1/2", "-o", "4.part")
        thing.data, thing.etag = DATA[:-4] + b"abcd", '"v2"'
        self.succeed("reduce", url + "?id=3", "--shard", "0/2", "-o", "5.part")
        self.check_error(5, "merge", "4.part", "5.part")
        # Bytes tell objects apart of which the server names no version.
        url, thing = self.serve(etag=None)
        for i in (0, 1):
            self.succeed("reduce", url, "--shard", f"{i}/2", "-o", f"{i}.part", "--force")
            thing.data = DATA[:-4] + b"abcd"
        self.check_error(5, "merge", "0.part", "1.part")


if __name__ == "__main__":
    main()
