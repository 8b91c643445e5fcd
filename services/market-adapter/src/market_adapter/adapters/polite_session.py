"""The HTTP session for Yahoo's servers: each request has a short deadline, and none is made while they have told us to
wait (429, RFC 6585, with or without Retry-After)."""

import threading
import time
from typing import Any

from runtime.http.retry_after import seconds_in

REQUEST_SECONDS = 3.0
"""Deadline of a request: shorter than that of any tool. The library's own deadlines are 10 and 30 seconds."""
DEFAULT_WAIT_SECONDS = 20.0
"""How long to wait after a 429 that does not say how long."""
_CRUMB = "/getcrumb"


class BackoffError(Exception):
    """Yahoo has told us to wait: this request was not made."""


class Politeness:
    """Remembers for all threads how long the servers want us to wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._retry_after: float | None = None

    @property
    def must_wait(self) -> bool:
        """Whether we must wait."""
        return time.monotonic() < self._until

    @property
    def retry_after(self) -> float | None:
        """The seconds to wait, if the server said so."""
        return None if self._retry_after is None else max(self._until - time.monotonic(), 0.0)

    def wrap(self, session: Any) -> Any:
        """The session (of curl_cffi), changed so that each of its requests observes the waits and the deadline."""
        original_request = session.request

        def request(method: Any, url: str, *args: Any, **kwargs: Any) -> Any:
            if self.must_wait:
                raise BackoffError
            kwargs["timeout"] = min(kwargs.get("timeout") or REQUEST_SECONDS, REQUEST_SECONDS)
            response = original_request(method, url, *args, **kwargs)
            # Requests for crumbs are often refused while prices are not: the library continues without one.
            if response.status_code == 429 and _CRUMB not in url:
                self._wait(seconds_in(response.headers.get("Retry-After")))
            return response

        session.request = request
        return session

    def _wait(self, seconds: float | None) -> None:
        with self._lock:
            self._retry_after = seconds
            self._until = time.monotonic() + (DEFAULT_WAIT_SECONDS if seconds is None else seconds)
