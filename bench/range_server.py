#!/usr/bin/env python3
"""range_server.py FILE PORT PROCESSES: serves ranges of one file on this machine, by sendfile(),
from several processes, for measurements of remote input. Answers any path; ends with Ctrl-C."""

import os
import re
import signal
import socket
import sys
import threading


def answer_requests(connection, file, size):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = b""
    while True:
        while b"\r\n\r\n" not in received:
            more = connection.recv(65536)
            if not more:
                return
            received += more
        header, received = received.split(b"\r\n\r\n", 1)
        asked = re.search(rb"[Rr]ange: bytes=(\d+)-(\d+)", header)
        at, end = int(asked[1]), min(int(asked[2]), size - 1) + 1
        connection.sendall(b"HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\n"
                           b"Content-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n\r\n"
                           % (at, end - 1, size, end - at))
        while at < end:
            at += os.sendfile(connection.fileno(), file, at, end - at)


def serve(path, port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(256)
    file = os.open(path, os.O_RDONLY)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer_requests, args=(connection, file, os.path.getsize(path)),
                         daemon=True).start()


if __name__ == "__main__":
    for _ in range(int(sys.argv[3])):
        if os.fork() == 0:
            serve(sys.argv[1], int(sys.argv[2]))
    signal.pause()
