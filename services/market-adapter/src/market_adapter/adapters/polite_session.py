"""The HTTP session for Yahoo's servers: a short time limit for each request, and no request at all while they have told
us to wait (429, RFC 6585, with or without Retry-After)."""

import threading
import time
from typing import Any

from runtime.http.retry_after import seconds_in

REQUEST_SECONDS = 3.0
"""A request's limit: below that of any tool. The library's own are 10 and 30."""
UNTOLD = 20.0
"""Seconds to wait after a 429 that does not say how long."""
_CRUMB = "/getcrumb"


class BackoffError(Exception):
    """Yahoo has told us to wait: this request was not made."""


class Politeness:
    """Remembers, for all threads, how long the servers want us to wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._told: float | None = None

    @property
    def waiting(self) -> bool:
        """We are to wait."""
        return time.monotonic() < self._until

    @property
    def told(self) -> float | None:
        """The seconds to wait, if the server said so."""
        return None if self._told is None else max(self._until - time.monotonic(), 0.0)

    def on(self, session: Any) -> Any:
        """The session (of curl_cffi), each of whose requests keeps to this."""
        ask = session.request

        def request(method: Any, url: str, *args: Any, **more: Any) -> Any:
            if self.waiting:
                raise BackoffError
            more["timeout"] = min(more.get("timeout") or REQUEST_SECONDS, REQUEST_SECONDS)
            answer = ask(method, url, *args, **more)
            # Their crumbs are often refused while prices are not: the library goes on without one.
            if answer.status_code == 429 and _CRUMB not in url:
                self._wait(seconds_in(answer.headers.get("Retry-After")))
            return answer

        session.request = request
        return session

    def _wait(self, seconds: float | None) -> None:
        with self._lock:
            self._told = seconds
            self._until = time.monotonic() + (UNTOLD if seconds is None else seconds)
