"""A small HTTP server to be loaded, which misbehaves as its path says; also what the data in
lib/tare/tests/data/wrk were recorded from: `python http_target.py ADDRESS PORT`.

/ answers, /SIZE with so many bytes; /errors with a status of 404 or 503 now and then; /uneven and /late after a
while, as chance will have it; /never not at all; /reset, /cut and /noise break the connection, the answer, HTTP.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        kind = self.path.strip("/")
        if kind == "uneven":
            time.sleep(random.choice((0.0, 0.0, 0.0, random.expovariate(10))))
        if kind == "late" and random.random() < 0.2:
            time.sleep(1.2)
        if kind == "never":
            time.sleep(30)
        if kind == "reset" and random.random() < 0.01:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if kind == "noise":
            self.wfile.write(b"no answer that HTTP knows\r\n\r\n")
            self.close_connection = True
            return
        body = b"x" * int(kind if kind.isdecimal() else 64)
        self.send_response(random.choice((404, 503)) if kind == "errors" and random.random() < 0.1 else 200)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:  # as the request asked
            self.send_header("Connection", "close")
        self.end_headers()
        if kind == "cut" and random.random() < 0.01:
            body, self.close_connection = body[:10], True
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line a request would be what is measured."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: connections that break are what it is for."""


if __name__ == "__main__":
    server = Server((sys.argv[1], int(sys.argv[2])), Handler)
    print("listening", flush=True)
    server.serve_forever()
