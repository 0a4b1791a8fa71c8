#!/usr/bin/env python3
"""Tests of input from web servers: right answers or named errors, whatever the server does."""

import io
import socket
import time
from concurrent.futures import ThreadPoolExecutor

from cli_support import CliTest, main
from web_server import Server, Thing, close_hard, make_certificate

import numpy as np

MIB = 1 << 20
VALUES = np.random.default_rng(1).integers(-1000, 1000, 5 * MIB + 3).astype(np.float32)  # 20 MiB
DATA = VALUES.tobytes()


def npy_of(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class RemoteTest(CliTest):
    def serve(self, data=DATA, name="/a.f32", certificate=None, **traits):
        """Returns the address of an object on a server that ends with the test, and the object."""
        thing = Thing(data, **traits)
        server = Server({name: thing}, certificate)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.url(name), thing

    def sum_of(self, url, *words, **options):
        document = self.json("reduce", url, *words, **options)
        self.assertEqual(document["result"]["count"], len(VALUES))
        self.assertEqual(document["result"]["sum"], float(VALUES.astype(np.float64).sum()))
        return document

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

    def test_passing_faults(self):
        """Each is repeated, and all bytes come."""
        def once(answer, period=2):
            def fault(request, first):
                thing = request.server.things["/a.f32"]
                return answer(request, thing, first) if thing.requests % period == 1 else None
            return fault

        def status(code, headers=()):
            def answer(request, thing, first):
                request.answer(code, b"busy", headers)
                return True
            return answer

        def reset(request, thing, first):
            close_hard(request)
            return True

        def cut(request, thing, first):  # fewer bytes than the header says
            return request.part(thing, first, request.last, sent=(request.last - first) // 3)

        def short(request, thing, first):  # a shorter range than asked for
            return request.part(thing, first, min(first + 300_000, request.last))

        def slow(request, thing, first):
            time.sleep(0.5)

        faults = {"429": status(429), "500": status(500),
                  "503": status(503, [("Retry-After", "1")]),
                  "reset": reset, "cut": cut, "short": short, "slow": slow}
        for name, answer in faults.items():
            with self.subTest(fault=name):
                url, _ = self.serve(fault=once(answer))
                document = self.sum_of(url)
                if name != "slow":
                    self.assertGreater(document["run"]["retries"], 0)
                    self.assertRegex(" ".join(document["run"]["reasons"]), "repeated")

    def test_lasting_faults(self):
        """Each ends the run with its own error, and never with an answer of fewer bytes."""
        def always(code):
            return lambda request, first: request.answer(code, b"") or True

        def other(**changes):
            def fault(request, first):
                thing = request.server.things["/a.f32"]
                if first < 8 * MIB:
                    return None
                return request.part(thing, first, request.last, **changes)
            return fault

        def too_long(request, first):
            thing = request.server.things["/a.f32"]
            return request.part(thing, first, len(DATA) - 1) if first < 8 * MIB else None

        def whole(request, first):
            return request.answer(200, DATA) or True

        cases = [
            (always(503), 4, "in 10 tries"), (always(404), 4, "404"), (always(416), 5, "changed"),
            (always(412), 5, "changed"), (always(403), 4, "403"), (whole, 3, "only the whole"),
            (other(etag='"v2"'), 5, "changed"), (other(size=len(DATA) + 4), 5, "changed"),
            (other(named=7), 3, "other bytes"), (other(encoding="gzip"), 3, "compressed"),
            (too_long, 3, "other bytes"), (other(fewer=10), 3, "more bytes than it says"),
        ]

        def run(case):
            fault, code, message = case
            url, _ = self.serve(fault=fault)
            return code, message, self.run_program("reduce", url, "--dtype", "f4")
        with ThreadPoolExecutor(len(cases)) as threads:
            for code, message, done in threads.map(run, cases):
                with self.subTest(message=message):
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr.splitlines()[0], message)

    def test_changes_between_requests(self):
        """If-Match names the version, so that a server itself refuses another one."""
        def fault(request, first):
            thing = request.server.things["/a.f32"]
            if thing.requests == 2:
                thing.etag = '"v2"'
        url, _ = self.serve(fault=fault)
        self.refuse(5, "changed while it was read", "reduce", url, "--dtype", "f4")

    def test_weak_version(self):
        """The time of the last write stands in for an ETag that does not name the exact bytes."""
        times = ["Mon, 01 Jan 2024 00:00:00 GMT", "Tue, 02 Jan 2024 00:00:00 GMT"]
        url, thing = self.serve(etag='W/"v1"', modified=times[0])
        self.sum_of(url)

        def fault(request, first):
            if thing.count() > 2:
                thing.modified = times[1]
        url, thing = self.serve(etag=None, modified=times[0], fault=fault)
        done = self.refuse(5, "changed while it was read", "reduce", url, "--dtype", "f4")
        self.assertIn("time of its last write", done.stderr)
        # A weak tag that differs is of another version all the same, and so is one that is gone.
        for before, after in (('W/"v1"', 'W/"v2"'), ('"v1"', ""), ("", '"v1"')):
            with self.subTest(after=after):
                def other(request, first, after=after):
                    return request.part(request.server.things["/a.f32"], first, request.last,
                                        etag=after)
                url, thing = self.serve(etag=before, modified=times[0], fault=other)
                done = self.refuse(5, "changed while it was read", "reduce", url, "--dtype", "f4")
                self.assertIn("its ETag went from", done.stderr)

    def test_short_answers(self):
        """A server that never sends more than some bytes at once is no busy one."""
        def short(request, first):
            thing = request.server.things["/a.f32"]
            return request.part(thing, first, min(first + 400_000, request.last))
        url, _ = self.serve(fault=short)
        self.assertGreater(self.sum_of(url)["run"]["retries"], 20)

    def test_secrets(self):
        """Messages show neither signatures nor passwords."""
        url, _ = self.serve()
        signed = url + "?signature=SECRET"
        endpoint = "http://joe:SECRET@127.0.0.1:1"
        for code, words in ((2, ("bench", signed)), (2, ("doctor", signed)),
                            (3, ("reduce", "ftp://joe:SECRET@h/x?SECRET")),
                            (3, ("reduce", "https://joe:SECRET?x@h/x")),
                            (4, ("reduce", signed.replace("a.f32", "b.f32"))),
                            (2, ("reduce", "s3://bucket/x"))):
            with self.subTest(words=words):
                done = self.run_program(*words, env={"AWS_ENDPOINT_URL": endpoint})
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertNotIn("SECRET", done.stderr)
        self.refuse(2, "no address of a server", "reduce", "s3://bucket/x",
                    env={"AWS_ENDPOINT_URL": "127.0.0.1:1"})

    def test_odd_ends(self):
        """An empty object of S3 has no size in its refusal; a connection may break after all."""
        def after_all(request, first):
            thing = request.server.things["/a.f32"]
            request.part(thing, first, request.last)
            return close_hard(request) or True
        url, _ = self.serve(fault=after_all)
        self.sum_of(url)
        url, _ = self.serve(b"", "/e.f32", empty_without_size=True)
        self.assertEqual(self.json("reduce", url)["result"]["count"], 0)
        url, _ = self.serve(claimed=1 << 63)
        self.refuse(3, "a size that no file has", "reduce", url)

    def test_refusals(self):
        url, _ = self.serve()
        self.refuse(4, "404 Not Found", "reduce", url + "x", hint="check the address")
        whole, _ = self.serve(no_ranges=True)
        self.refuse(3, "sends only the whole", "reduce", whole, hint="download it first")
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            no_server = f"http://127.0.0.1:{unused.getsockname()[1]}/a.f32"
            began = time.monotonic()
            self.refuse(4, "cannot be read from its server", "reduce", no_server)
            self.assertLess(time.monotonic() - began, 20)  # a wrong address is not tried again
        self.refuse(3, "no user and no password", "reduce", "https://a:b@example.org/x",
                    hint="netrc")
        self.refuse(3, "no address of an object", "reduce", "s3://bucket")
        self.refuse(3, "only local files", "reduce", "gs://bucket/x")
        self.refuse(2, "does not read from a server", "reduce", url, "--engine", "threads")
        self.refuse(2, "it is on a server", "reduce", url, "--direct", "yes")

    def test_not_for_disks(self):
        url, _ = self.serve()
        for command in ("bench", "doctor"):
            self.refuse(2, f"on a server, and {command} measures disks", command, url)

    def test_product(self):
        a = np.arange(300 * 200, dtype=np.float32).reshape(300, 200) % 7
        url, _ = self.serve(npy_of(a), "/a.npy")
        np.save(self.path("b.npy"), a.T.copy())
        text = self.succeed("matmul", url, "b.npy", "--explain").stdout
        self.assertRegex(text, r"predicted +not known, of a server")
        self.succeed("matmul", url, "b.npy", "-o", "c.npy")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), a @ a.T)

    def test_resumed_run(self):
        """A run that a fault of the server has ended goes on, if the object is still the same."""
        def fault(request, first):
            if first < 16 * MIB:
                return None
            time.sleep(1)  # until the data before are saved
            return request.answer(404) or True
        url, thing = self.serve(fault=fault)
        words = ("reduce", url, "--resume", "r.state", "--checkpoint-every", "0")
        self.refuse(4, "404", *words)
        thing.fault = lambda request, first: None
        document = self.sum_of(*words[1:])
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 0)

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
        done = self.refuse(4, "cannot be read from its server", "reduce", url,
                           hint="CURL_CA_BUNDLE may name a file")
        self.assertIn("certificate", done.stderr)
        self.assertEqual(thing.requests, asked)
        # No answer leads from an encrypted connection to one that is not.
        open_url, thing = self.serve()
        moved, _ = self.serve(certificate=certificate, moved=open_url)
        for address in (moved, moved.replace("https:", "HTTPS:")):
            self.refuse(4, "cannot be read from its server", "reduce", address,
                        env={"CURL_CA_BUNDLE": certificate})
        self.assertEqual(thing.requests, 0)

    def test_s3(self):
        url, _ = self.serve(name="/bucket/a%20b.f32", keys=("KEYID", "SECRET"))
        endpoint = url.removesuffix("/bucket/a%20b.f32")
        keys = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "KEYID",
                "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_REGION": "eu-west-3"}
        document = self.sum_of("s3://bucket/a b.f32", env=keys)
        self.assertEqual(document["input"]["files"][0]["path"], "s3://bucket/a b.f32")
        self.refuse(4, "403", "reduce", "s3://bucket/a b.f32", env={"AWS_ENDPOINT_URL": endpoint},
                    hint="AWS_ACCESS_KEY_ID")
        self.refuse(4, "403", "reduce", "s3://bucket/a b.f32",
                    env={**keys, "AWS_SECRET_ACCESS_KEY": "OTHER"}, hint="which are set")
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
        self.refuse(4, "302", "reduce", "s3://bucket/m.f32", env=here)
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
        self.refuse(5, "different data", "merge", "0.part", "2.part")
        # Another object may have the same tag.
        other, _ = self.serve(DATA[:-4] + b"abcd")
        self.succeed("reduce", other, "--shard", "1/2", "-o", "3.part")
        self.refuse(5, "different data", "merge", "0.part", "3.part")
        # So may one that only its query names.
        self.succeed("reduce", url + "?id=2", "--shard", "1/2", "-o", "4.part")
        thing.data, thing.etag = DATA[:-4] + b"abcd", '"v2"'
        self.succeed("reduce", url + "?id=3", "--shard", "0/2", "-o", "5.part")
        self.refuse(5, "different data", "merge", "4.part", "5.part")
        # Bytes tell objects apart of which the server names no version.
        url, thing = self.serve(etag=None)
        for i in (0, 1):
            self.succeed("reduce", url, "--shard", f"{i}/2", "-o", f"{i}.part", "--force")
            thing.data = DATA[:-4] + b"abcd"
        self.refuse(5, "different data", "merge", "0.part", "1.part")


if __name__ == "__main__":
    main()
