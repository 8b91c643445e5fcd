"""For tests: calls to the HTTP API."""

import ssl
from typing import Any

import aiohttp

Answer = tuple[int, Any, dict[str, str]]
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that only call http://, and trust no certificate. Their own context would read all authorities of the
machine, which takes 50 ms for each client."""


class Http:
    """Calls the gateway. An answer is the status, the body (parsed if it is JSON) and the headers (names in lower
    case)."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session

    async def __call__(
        self, method: str, path: str, *, token: str | None = None, headers: dict[str, str] | None = None, **options: Any
    ) -> Answer:
        all_headers = dict(headers or {})
        if token is not None:
            all_headers["Authorization"] = f"Bearer {token}"
        async with self._session.request(method, self._url + path, headers=all_headers, **options) as response:
            is_json = "json" in response.content_type
            body: Any = await response.json(content_type=None) if is_json else await response.text()
            return response.status, body, {name.lower(): value for name, value in response.headers.items()}


def assert_problem(answer: Answer, status: int, code: str) -> None:
    """Asserts that the answer is a problem document (RFC 9457) with this status and code."""
    assert answer[0] == status, answer[1]
    assert answer[2]["content-type"] == "application/problem+json"
    assert answer[1]["status"] == status
    assert answer[1]["code"] == code
    assert {"type", "title", "detail"} <= answer[1].keys()
