#!/usr/bin/env python3
"""Tests of web servers that fail: right answers or named errors, whatever they do."""

import time

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


if __name__ == "__main__":
    main()
