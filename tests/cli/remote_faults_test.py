#!/usr/bin/env python3
"""Tests of web servers that fail: right answers or named errors, whatever they do."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cli_support import main
from remote_support import DATA, MIB, RemoteCase
from web_server import close_hard


class RemoteFaultsTest(RemoteCase):
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
        self.check_error(5, "reduce", url, "--dtype", "f4")

    def test_weak_version(self):
        """The time of the last write stands in for an ETag that does not name the exact bytes."""
        times = ["Mon, 01 Jan 2024 00:00:00 GMT", "Tue, 02 Jan 2024 00:00:00 GMT"]
        url, thing = self.serve(etag='W/"v1"', modified=times[0])
        self.sum_of(url)

        def fault(request, first):
            if thing.count() > 2:
                thing.modified = times[1]
        url, thing = self.serve(etag=None, modified=times[0], fault=fault)
        self.check_error(5, "reduce", url, "--dtype", "f4")
        # A weak tag that differs is of another version all the same, and so is one that is gone.
        for before, after in (('W/"v1"', 'W/"v2"'), ('"v1"', ""), ("", '"v1"')):
            with self.subTest(after=after):
                def other(request, first, after=after):
                    return request.part(request.server.things["/a.f32"], first, request.last,
                                        etag=after)
                url, thing = self.serve(etag=before, modified=times[0], fault=other)
                self.check_error(5, "reduce", url, "--dtype", "f4")

    def test_short_answers(self):
        """A server that never sends more than some bytes at once is no busy one."""
        def short(request, first):
            thing = request.server.things["/a.f32"]
            return request.part(thing, first, min(first + 400_000, request.last))
        url, _ = self.serve(fault=short)
        self.assertGreater(self.sum_of(url)["run"]["retries"], 20)

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
        self.check_error(3, "reduce", url)
        url, _ = self.serve(claimed="*")
        self.check_error(3, "reduce", url)

        def without_size(request, first):
            return request.part(request.server.things["/a.f32"], first, request.last, size="*")
        url, _ = self.serve(fault=without_size)
        self.sum_of(url)
        # Some servers do not call all of an object a part of it.
        def whole(request, first):
            if (first, request.last) != (0, 399):
                return None
            return request.answer(200, DATA[:400], [("ETag", '"v1"')]) or True
        url, _ = self.serve(DATA[:400], fault=whole)
        self.assertEqual(self.json("reduce", url, "--dtype", "f4")["result"]["count"], 100)

    def test_empty_objects(self):
        """An object is empty only if its server says so as the standard has it: a refusal of the
        first byte alone is none of that."""
        def refusal(length=None, **whole):
            """Refuses ranges with this Content-Range; answers the question for all of it so."""
            def answer(request, asked):
                if asked is not None:
                    headers = [] if length is None else [("Content-Range", length)]
                    return request.answer(416, headers=headers) or True
                if whole:
                    return request.answer(whole["status"], whole.get("body", b"")) or True
                return None
            return answer

        for length in (None, "", "*/4000000", "*/0", "bytes=*/0", "bytes=*/4000000", "bytes */",
                       "bytes */4,000,000", "bytes */4000000", "bytes */-1", "bytes 0-0/0",
                       "bytes */*", "bytes 0-0", "octets */0", "bytes */0x0"):
            with self.subTest(length=length):
                url, _ = self.serve(first=refusal(length))
                for words in (["reduce", url], ["reduce", url, "--verify"],
                              ["convert", url, "--to", "f8", "-o", "y.f64"]):
                    self.check_error(3, *words)
                silent, _ = self.serve(first=refusal(length, status=416))
                self.check_error(3, "reduce", silent)
                # Only the whole says that it is empty.
                empty, _ = self.serve(b"", first=refusal(length))
                self.assertEqual(self.json("reduce", empty, "--verify")["result"]["count"], 0)
        # The refusal says it, and the whole says nothing else.
        said, _ = self.serve(first=refusal("bytes */0", status=405))
        self.assertEqual(self.json("reduce", said)["result"]["count"], 0)
        # The refusal says it, and the whole says something else.
        other, _ = self.serve(first=refusal("bytes */0"))
        self.check_error(3, "reduce", other, "--verify")
        one, _ = self.serve(first=refusal("bytes */0", status=200, body=b"x"))
        self.check_error(3, "reduce", one)

    def test_ends_that_do_not_come(self):
        """A range is complete when its bytes are there, whatever the server says of its end."""
        ended = threading.Event()
        self.addCleanup(ended.set)

        def kept_open(headers, end=b""):
            def fault(request, first):
                body = DATA[first:request.last + 1]
                request.send_response(206)
                request.send_header("Content-Range", f"bytes {first}-{request.last}/{len(DATA)}")
                request.send_header("ETag", '"v1"')
                for name, value in headers:
                    request.send_header(name, value)
                request.end_headers()
                request.wfile.write(b"%x\r\n%s\r\n" % (len(body), body) if end else body)
                request.wfile.flush()
                ended.wait(20)
                request.close_connection = True
                return True
            return fault
        for headers, end in (((), b""), ((("Content-Length", str(1 << 40)),), b""),
                             ((("Transfer-Encoding", "chunked"),), b"0\r\n")):
            with self.subTest(headers=headers):
                url, _ = self.serve(fault=kept_open(headers, end))
                began = time.monotonic()
                self.sum_of(url)
                self.assertLess(time.monotonic() - began, 15)

    def test_plain_encodings(self):
        """Words that clients store with objects change no bytes; those of compressions do."""
        def encoded(word):
            return lambda request, first: request.part(
                request.server.things["/a.f32"], first, request.last, encoding=word)
        for word in ("aws-chunked", "identity", "utf-8", "binary", "", "AWS-Chunked,identity"):
            url, _ = self.serve(fault=encoded(word))
            self.sum_of(url)
        for word in ("gzip", "GZip", "br", "aws-chunked, zstd", "deflate", "x-gzip", "compress"):
            url, _ = self.serve(fault=encoded(word))
            self.check_error(3, "reduce", url, "--dtype", "f4")

    def test_refusals_with_codes(self):
        """The code of an S3 server names the cause better than the status does."""
        for code in ("InvalidObjectState", "RequestTimeTooSkewed", "ExpiredToken", "AccessDenied",
                     "NoSuchBucket"):
            body = f"<Error><Code>{code}</Code><Message>m</Message></Error>".encode()
            url, _ = self.serve(first=lambda request, asked, body=body:
                                request.answer(403, body) or True, name="/bucket/a.f32")
            server = url.removesuffix("/bucket/a.f32")
            keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
                    "AWS_ENDPOINT_URL": server}
            done = self.check_error(4, "reduce", "s3://bucket/a.f32", env=keys)
            self.assertEqual("AWS_ACCESS_KEY_ID" in done.stderr, code == "AccessDenied")

    def wait_for_state(self):
        """Waits until a run has saved something."""
        end = time.monotonic() + 60
        while not os.path.exists(self.path("r.state")) and time.monotonic() < end:
            time.sleep(0.001)

    def test_resumed_run(self):
        """A run that a fault of the server has ended goes on, if the object is still the same."""
        def fault(request, first):
            if first < 16 * MIB:
                return None
            self.wait_for_state()
            return request.answer(404) or True
        url, thing = self.serve(fault=fault)
        words = ("reduce", url, "--resume", "r.state", "--checkpoint-every", "0")
        self.check_error(4, *words)
        thing.fault = lambda request, first: None
        document = self.sum_of(*words[1:])
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 0)

    def test_stopped_run(self):
        """A run that is to stop waits for a silent server for some seconds only."""
        silent, ended = threading.Event(), threading.Event()
        self.addCleanup(ended.set)

        def fault(request, first):
            if first < 16 * MIB or ended.is_set():
                return None
            silent.set()
            ended.wait()
            return close_hard(request) or True
        url, thing = self.serve(fault=fault)
        words = ("reduce", url, "--dtype", "f4", "--resume", "r.state", "--checkpoint-every", "0")
        process = self.start(*words)
        self.assertTrue(silent.wait(60))
        self.wait_for_state()
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143, stderr)
        self.assertRegex(stderr, "interrupted; the server has answered nothing for")
        self.assertRegex(stderr, "the same job goes on from r.state")
        ended.set()
        document = self.sum_of(*words[1:])
        self.assertGreater(document["run"]["checkpoint"]["resumed_bytes"], 0)


if __name__ == "__main__":
    main()
