"""A raw TCP server that answers (or does not answer) HTTP requests as it is told, and counts them."""

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field


@dataclass
class Request:
    head: str
    body: bytes

    @property
    def path(self):
        return self.head.split(" ", 2)[1]

    @property
    def json(self):
        return json.loads(self.body)


def http_answer(status=200, body=b'{"ok": true}', **headers):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} X",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        "Connection: close",
    ]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


DROP = b""


@dataclass
class Loopback:
    """`script`: what to send for each request in turn; the last item is repeated. `DROP` closes, `None` hangs."""

    script: list
    read_body: bool = True
    requests: list = field(default_factory=list)

    def __enter__(self):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/api/"
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._released.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(5)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            data = b""
            while b"\r\n\r\n" not in data:
                piece = connection.recv(65536)
                if not piece:
                    return
                data += piece
            head, _, body = data.partition(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            while self.read_body and len(body) < length:
                body += connection.recv(65536)
            self.requests.append(Request(head.decode(), body))
            action = self.script[min(len(self.requests), len(self.script)) - 1]
            if callable(action):
                action = action(self.requests[-1])
            if action is None:
                self._released.wait(10)
            elif action:
                connection.sendall(action)
