#!/usr/bin/env python3
"""Tests of web servers that let a run wait: it ends with the right answer or error."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cli_support import main
from remote_support import DATA, MIB, RemoteCase
from web_server import close_hard


class RemoteWaitsTest(RemoteCase):
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
