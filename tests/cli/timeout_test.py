#!/usr/bin/env python3
"""Tests of --io-timeout: it holds from the first system call to the last, for every source."""

import os
import signal
import socket
import subprocess
import threading
import time

from cli_support import PROGRAM, CliTest, clean_environment, main
from remote_support import DATA, MIB, RemoteCase

SECONDS = 1  # of the timeout
MOST_SECONDS = 15  # until such a run has ended


class TimeoutTest(RemoteCase):
    def stalls(self, what, *words, **options):
        began = time.monotonic()
        done = self.refuse(9, what, *words, "--io-timeout", SECONDS, **options)
        self.assertGreaterEqual(time.monotonic() - began, SECONDS)
        self.assertLess(time.monotonic() - began, MOST_SECONDS)
        self.assertIn("wait for longer (--io-timeout)", done.stderr)
        return done

    def raw_server(self, serve):
        """Returns the address of a server that calls serve(connection) for each connection."""
        listener = socket.create_server(("127.0.0.1", 0))
        ended = threading.Event()
        self.addCleanup(listener.close)
        self.addCleanup(ended.set)

        def run(connection):
            try:
                serve(connection, ended)
            except OSError:
                pass  # the client has gone
            connection.close()

        def accept():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=run, args=(connection,), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/a.f32"

    def test_silent_servers(self):
        """Nothing, or too little, comes of the header or of the first byte."""
        def silent(connection, ended):
            ended.wait()

        def slow_header(connection, ended):
            for letter in b"HTTP/1.1 206 Partial Content\r\n" + b"X: y\r\n" * 1000:
                connection.sendall(bytes([letter]))
                if ended.wait(0.1):
                    return

        def no_body(connection, ended):
            connection.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-0/400\r\n"
                               b"Content-Length: 1\r\n\r\n")
            ended.wait()
        for serve in (silent, slow_header, no_body):
            with self.subTest(serve.__name__):
                url = self.raw_server(serve)
                for words in (["reduce", url], ["histogram", url, "--explain"],
                              ["convert", url, "--to", "f8", "-o", "y"]):
                    self.stalls("the server has answered nothing", *words)
        self.assertEqual(os.listdir(self.directory), [])

    def test_trickling_servers(self):
        """A byte now and then is no progress, neither for the type nor for the data."""
        ended = threading.Event()
        self.addCleanup(ended.set)

        def trickle(request, first):
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {first}-{request.last}/{len(DATA)}")
            request.send_header("Content-Length", str(request.last + 1 - first))
            request.send_header("ETag", '"v1"')
            request.end_headers()
            for byte in DATA[first:request.last + 1]:
                request.wfile.write(bytes([byte]))
                if ended.wait(0.05):
                    break
            request.close_connection = True
            return True
        for words in (["reduce"], ["reduce", "--dtype", "f4"], ["histogram", "--dtype", "f4"]):
            url, _ = self.serve(fault=trickle)
            self.stalls("the server has sent less than 1 KiB", *words, url)

    def test_slow_servers_that_send(self):
        """A slow request is none that stalls."""
        def slow(request, first):
            body = DATA[first:request.last + 1]
            if len(body) < MIB:
                return None  # less than 1 KiB a second
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {first}-{request.last}/{len(DATA)}")
            request.send_header("Content-Length", str(len(body)))
            request.send_header("ETag", '"v1"')
            request.end_headers()
            for begin in range(0, len(body), len(body) // 8 + 1):
                request.wfile.write(body[begin:begin + len(body) // 8 + 1])
                request.wfile.flush()
                time.sleep(0.3)
            return True
        url, _ = self.serve(fault=slow)
        self.sum_of(url, "--io-timeout", SECONDS)

    def pipe(self, write, *words):
        reader, writer = os.pipe()
        process = subprocess.Popen([PROGRAM, *words], stdin=reader, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=clean_environment())
        self.addCleanup(process.kill)
        os.close(reader)
        ended = threading.Event()

        def run():
            try:
                write(writer, ended)
            except OSError:
                pass
            os.close(writer)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        began = time.monotonic()
        stdout, stderr = process.communicate(timeout=60)
        ended.set()
        thread.join()
        return process.returncode, stdout, stderr, time.monotonic() - began

    def test_silent_writers(self):
        def silent(writer, ended):
            ended.wait()

        def stops(writer, ended):
            os.write(writer, bytes(40_000))
            ended.wait()

        def trickles(writer, ended):
            while not ended.wait(0.05):
                os.write(writer, b"abcd")
        words = ["reduce", "-", "--dtype", "f4", "--io-timeout", str(SECONDS)]
        for write, said in ((silent, "sent nothing"), (stops, "sent nothing"),
                            (trickles, "sent less than 1 KiB")):
            with self.subTest(write.__name__):
                code, stdout, stderr, seconds = self.pipe(write, *words)
                self.assertEqual((code, stdout), (9, ""), stderr)
                self.assertIn(f"the writer of the pipe has {said}", stderr)
                self.assertGreaterEqual(seconds, SECONDS)
                self.assertLess(seconds, MOST_SECONDS)

        def slow(writer, ended):
            for _ in range(8):
                os.write(writer, bytes(4096))
                ended.wait(SECONDS / 3)
        code, stdout, stderr, _ = self.pipe(slow, *words)
        self.assertEqual(code, 0, stderr)
        self.assertIn("8,192", stdout)

    def test_ctrl_c_while_a_server_is_silent(self):
        url = self.raw_server(lambda connection, ended: ended.wait())
        process = self.start("reduce", url)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)


if __name__ == "__main__":
    main()
