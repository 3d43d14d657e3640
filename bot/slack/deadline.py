"""A client whose requests leave in time or not at all.

urllib's time-out counts anew for each address, for TLS and for each piece of an answer, and not at all for the
resolver. A request that was held up there would leave long after its sender was taken for lost, and the message would
stand twice. So the connection, once it stands, is asked whether it comes too late, before the first byte of the
request is written; and the answer has one deadline for all its pieces. What was written and not delivered by then is
given up with the connection: left to itself, the system would send it when the network is back, even for a process
that is dead.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import struct
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any
from urllib.error import URLError

from slack_sdk import WebClient

__all__ = ["PunctualClient"]

Connect = Callable[..., socket.socket]
InTime = Callable[[], bool]
Make = Callable[..., http.client.HTTPConnection]

_AT_ONCE = struct.pack("ii", 1, 0)
"""`struct linger`: close without waiting, and without sending what is left."""


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
        if self.proxy is not None:
            return self._through_opener(req, self.proxy)
        with closing(self._connection(req)) as connection:
            try:
                headers = {**req.unredirected_hdrs, **req.headers, "Connection": "close"}
                connection.request(req.get_method(), req.selector, req.data, headers)
            except OSError as error:
                # As urllib tells apart what was not handed over whole from what was lost on the way back.
                raise URLError(error) from error
            return _read(connection.getresponse())

    def _connection(self, req: urllib.request.Request) -> http.client.HTTPConnection:
        """A connection for this request alone, as urllib's handlers make it, without what they add."""
        if req.type == "https":
            return self._checked(http.client.HTTPSConnection, req.host, timeout=self.timeout, context=self._context)
        return self._checked(http.client.HTTPConnection, req.host, timeout=self.timeout)

    def _through_opener(self, req: urllib.request.Request, proxy: str) -> dict[str, Any]:
        """A proxy's tunnels, credentials and exceptions (`no_proxy`) are urllib's to know."""
        if self._opener is None:
            self._opener = urllib.request.build_opener(
                urllib.request.ProxyHandler({"http": proxy, "https": proxy}),
                _Plain(self._checked),
                _Secure(self._checked, self._context),
            )
        with self._opener.open(req, timeout=self.timeout) as answer:
            return _read(answer)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        """Made once: to read the certificates anew for every call costs more than the call."""
        if self.ssl is not None:
            return self.ssl
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def _checked(
        self, kind: type[http.client.HTTPConnection], host: str, **settings: Any
    ) -> http.client.HTTPConnection:
        return _punctual(kind(host, **settings), self._in_time, self._connect)

    def _in_time(self) -> bool:
        """Whether this thread's request may still leave."""
        until: datetime | None = getattr(self._mine, "until", None)
        return time.monotonic() <= self._mine.last and (until is None or self._now() <= until)


def _read(answer: http.client.HTTPResponse) -> dict[str, Any]:
    charset = answer.headers.get_content_charset() or "utf-8"
    return {"status": answer.status, "headers": answer.headers, "body": answer.read().decode(charset)}


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, make: Make) -> None:
        super().__init__()
        self._make = make

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._make, http.client.HTTPConnection), req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, make: Make, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._make = partial(make, http.client.HTTPSConnection, context=context)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._make, req)


def _punctual(connection: http.client.HTTPConnection, in_time: InTime, connect: Connect) -> http.client.HTTPConnection:
    """Let the connection look at the clock between its being there (tunnel and TLS, too) and its first byte."""
    establish = connection.connect

    def connect_in_time() -> None:
        establish()
        if not in_time():
            connection.close()
            raise TimeoutError("the connection stood too late to send anything")
        connection.sock.settimeout(connection.timeout)  # what a proxy has used of it is not the answer's
        _send_nothing_later(connection.sock, connection.timeout)

    connection._create_connection = connect  # type: ignore[attr-defined]  # noqa: SLF001  http.client's seam for it
    connection.connect = connect_in_time  # type: ignore[method-assign]
    connection.response_class = _Answer
    return connection


def _send_nothing_later(sock: socket.socket, seconds: float | None) -> None:
    """Let the system drop what the other end has not taken: at the close, by whatever end, or after `seconds`."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    if seconds is not None and hasattr(socket, "TCP_USER_TIMEOUT"):  # for a process that is stopped, and closes nothing
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(1000 * seconds)))


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
