"""A client whose requests leave in time or not at all.

urllib's time-out counts anew for each address, for TLS and for each piece of an answer, and not at all for the
resolver. A request that was held up there would leave long after its sender was taken for lost, and the message would
stand twice. So the connection, once it stands, is asked whether it comes too late, before the first byte of the
request is written; and the answer has one deadline for all its pieces.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from slack_sdk import WebClient

__all__ = ["PunctualClient"]

Connect = Callable[..., socket.socket]
InTime = Callable[[], bool]


class PunctualClient(WebClient):
    """A `WebClient` that writes its request at most `timeout` seconds after the call began, and not after `until`.

    What comes too late ends as a time-out in connecting does: nothing was sent. The answer then has `timeout` seconds
    as a whole, so that a call takes twice that at most once its name is resolved. Behind a proxy, the tunnel counts
    as part of connecting.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        connect: Connect = socket.create_connection,
        **settings: Any,
    ) -> None:
        """`connect` opens the TCP connection; tests give a slow one."""
        super().__init__(**settings)
        self._now = now
        self._connect = connect
        self._mine = threading.local()
        self._opener: urllib.request.OpenerDirector | None = None

    @contextmanager
    def leaving_before(self, until: datetime | None) -> Iterator[None]:
        """Within it, no request of this thread leaves after `until`."""
        self._mine.until = until
        try:
            yield
        finally:
            self._mine.until = None

    def _perform_urllib_http_request_internal(  # what slack_sdk calls for every request
        self,
        url: str,  # noqa: ARG002  it stands in the request, too
        req: urllib.request.Request,
    ) -> dict[str, Any]:
        """What slack_sdk does here, over connections that know their deadline."""
        self._mine.last = time.monotonic() + self.timeout
        if self._opener is None:
            self._opener = self._new_opener()
        with self._opener.open(req, timeout=self.timeout) as answer:
            charset = answer.headers.get_content_charset() or "utf-8"
            return {"status": answer.code, "headers": answer.headers, "body": answer.read().decode(charset)}

    def _new_opener(self) -> urllib.request.OpenerDirector:
        """Made once: to read the environment and the certificates anew for every call costs more than the call."""
        tls = self.ssl
        if tls is None and self.base_url.startswith("https:"):
            tls = ssl.create_default_context()
            tls.set_alpn_protocols(["http/1.1"])
        handlers: list[urllib.request.BaseHandler] = [
            _Plain(self._in_time, self._connect),
            _Secure(self._in_time, self._connect, context=tls),
        ]
        if self.proxy is not None:
            handlers.append(urllib.request.ProxyHandler({"http": self.proxy, "https": self.proxy}))
        return urllib.request.build_opener(*handlers)

    def _in_time(self) -> bool:
        """Whether this thread's request may still leave."""
        until: datetime | None = getattr(self._mine, "until", None)
        return time.monotonic() <= self._mine.last and (until is None or self._now() <= until)


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, in_time: InTime, connect: Connect) -> None:
        super().__init__()
        self._in_time = in_time
        self._connect = connect

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def made(host: str, **settings: Any) -> http.client.HTTPConnection:
            return _checked(http.client.HTTPConnection(host, **settings), self._in_time, self._connect)

        return self.do_open(made, req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, in_time: InTime, connect: Connect, *, context: Any) -> None:
        super().__init__(context=context)
        self._in_time = in_time
        self._connect = connect
        self._tls = context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        def made(host: str, **settings: Any) -> http.client.HTTPConnection:
            connection = http.client.HTTPSConnection(host, context=self._tls, **settings)
            return _checked(connection, self._in_time, self._connect)

        return self.do_open(made, req)


def _checked(connection: http.client.HTTPConnection, in_time: InTime, connect: Connect) -> http.client.HTTPConnection:
    """Let the connection look at the clock between its being there (tunnel and TLS, too) and its first byte."""
    establish = connection.connect

    def connect_in_time() -> None:
        establish()
        if not in_time():
            connection.close()
            raise TimeoutError("the connection stood too late to send anything")
        connection.sock.settimeout(connection.timeout)  # what a proxy has used of it is not the answer's

    connection._create_connection = connect  # type: ignore[attr-defined]  # noqa: SLF001  http.client's seam for it
    connection.connect = connect_in_time  # type: ignore[method-assign]
    connection.response_class = _Answer
    return connection


class _Answer(http.client.HTTPResponse):
    """An answer with one deadline for all of it."""

    def __init__(self, sock: socket.socket, *arguments: Any, **settings: Any) -> None:
        super().__init__(sock, *arguments, **settings)
        seconds = sock.gettimeout()
        if seconds is not None:
            self.fp.close()
            self.fp = io.BufferedReader(_Bounded(sock, seconds))


class _Bounded(io.RawIOBase):
    def __init__(self, sock: socket.socket, seconds: float) -> None:
        super().__init__()
        self._sock = sock
        self._pieces = sock.makefile("rb", buffering=0)
        self._end = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("no whole answer in time")
        self._sock.settimeout(left)
        return self._pieces.readinto(buffer)

    def close(self) -> None:
        self._pieces.close()
        super().close()
