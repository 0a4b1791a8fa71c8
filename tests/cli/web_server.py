"""A web server for tests, which serves bytes from memory and makes the mistakes it is told to."""

import hashlib
import hmac
import http.server
import re
import socket
import ssl
import struct
import subprocess
import threading
import urllib.parse


class Thing:
    """An object of the server. `fault(request, first)`: called before each answer but that to the
    question for the size; what it returns is answered instead of the right bytes, unless None."""

    def __init__(self, data, etag='"v1"', fault=None, modified=None, **traits):
        self.data = data
        self.etag = etag
        self.modified = modified
        self.fault = fault or (lambda request, first: None)
        self.traits = traits
        self.requests = 0
        self.lock = threading.Lock()

    def count(self):
        with self.lock:
            self.requests += 1
            return self.requests


def close_hard(request):
    """Resets the connection."""
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.close_connection = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self):
        self.answer(407)

    def do_GET(self):
        try:
            self.get()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def get(self):
        thing = self.server.things.get(urllib.parse.urlsplit(self.path).path)
        if thing is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>")
        if "keys" in thing.traits and not is_signed(self, *thing.traits["keys"]):
            return self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code>"
                                    b"<Message>no</Message></Error>")
        if "moved" in thing.traits:
            return self.answer(302, headers=[("Location", thing.traits["moved"])])
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        size = len(thing.data)
        # This fault comes first of all, also for the question for the size. It returns True if it
        # has answered.
        if "first" in thing.traits and thing.traits["first"](self, asked):
            return None
        if asked is None or thing.traits.get("no_ranges"):
            return self.answer(200, thing.data)
        first, last = int(asked[1]), min(int(asked[2]), size - 1)
        match = self.headers.get("If-Match")
        if match and match != thing.etag:
            return self.answer(412)
        if first >= size and thing.traits.get("empty_without_size"):
            return self.answer(416, b"<Error><Code>InvalidRange</Code></Error>")
        if first >= size:
            return self.answer(416, headers=[("Content-Range", f"bytes */{size}")])
        is_question = (first, int(asked[2])) == (0, 0)
        self.last = last
        if not is_question:
            thing.count()
            if thing.fault(self, first) is not None:
                return None
        return self.part(thing, first, last)

    def part(self, thing, first, last, **changes):
        """Answers with bytes of an object. `changes`: of the header etag, size, encoding and named,
        the first byte; sent: bytes of the body; fewer: bytes of it that the header leaves out."""
        body = thing.data[first:last + 1]
        sent = body[:changes.get("sent", len(body))]
        etag = changes.get("etag", thing.etag)
        named = changes.get("named", first)
        end = named + len(body) - 1 - changes.get("fewer", 0)
        size = changes.get("size", thing.traits.get("claimed", len(thing.data)))
        headers = [("Content-Range", f"bytes {named}-{end}/{size}")]
        if etag:
            headers.append(("ETag", etag))
        if thing.modified:
            headers.append(("Last-Modified", thing.modified))
        if "encoding" in changes:
            headers.append(("Content-Encoding", changes["encoding"]))
        self.answer(206, sent, headers, length=len(body))
        if len(sent) != len(body):
            self.close_connection = True
        return True


def is_signed(request, key, secret):
    """Checks a signature of AWS, version 4, as the S3 protocol has it."""
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, ?"
                         r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)",
                         request.headers.get("Authorization", ""))
    if found is None or found[1] != key:
        return False
    day, region, names, signature = found[2], found[3], found[4], found[5]
    lines = "".join(f"{name}:{request.headers.get(name, '').strip()}\n"
                    for name in names.split(";"))
    path, _, query = request.path.partition("?")
    canonical = "\n".join(["GET", path, query, lines, names,
                           request.headers.get("x-amz-content-sha256", "")])
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    signer = ("AWS4" + secret).encode()
    for part in (day, region, "s3", "aws4_request"):
        signer = hmac.new(signer, part.encode(), hashlib.sha256).digest()
    return hmac.new(signer, text.encode(), hashlib.sha256).hexdigest() == signature


def make_certificate(directory):
    """Returns a file with a key and a certificate for this machine, which no authority signed."""
    path = directory / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=test",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path,
                    "-out", directory / "certificate"], check=True, capture_output=True)
    with path.open("ab") as file:
        file.write((directory / "certificate").read_bytes())
    return path


class Server(http.server.ThreadingHTTPServer):
    """Serves `things`, a dictionary of paths, on a free port of this machine; encrypted, if it has
    a certificate."""
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, things, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.things = things
        self.scheme = "http"
        if certificate:
            self.scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # A handshake in accept() would keep other connections waiting.
            self.socket = context.wrap_socket(self.socket, server_side=True,
                                              do_handshake_on_connect=False)
        # shutdown() waits for so many seconds.
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # clients that give up

    def url(self, path):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}{path}"
