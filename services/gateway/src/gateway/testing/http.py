"""For tests: calls of the HTTP interface."""

from typing import Any

import aiohttp

Answer = tuple[int, Any, dict[str, str]]


class Http:
    """Calls the gateway; an answer is status, body (parsed when it is JSON) and headers (small letters)."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session

    async def __call__(
        self, method: str, path: str, *, token: str | None = None, headers: dict[str, str] | None = None, **options: Any
    ) -> Answer:
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        async with self._session.request(method, self._url + path, headers=sent, **options) as answer:
            is_json = "json" in answer.content_type
            body: Any = await answer.json(content_type=None) if is_json else await answer.text()
            return answer.status, body, {name.lower(): value for name, value in answer.headers.items()}


def assert_problem(answer: Answer, status: int, code: str) -> None:
    """A problem document (RFC 9457) with this status and code."""
    assert answer[0] == status, answer[1]
    assert answer[2]["content-type"] == "application/problem+json"
    assert answer[1]["status"] == status
    assert answer[1]["code"] == code
    assert {"type", "title", "detail"} <= answer[1].keys()
