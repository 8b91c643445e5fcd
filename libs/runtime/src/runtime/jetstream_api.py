"""Calls of JetStream's API, whose answers may be errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import orjson
from nats.errors import NoRespondersError

from runtime.errors import NotReady
from runtime.replies import ReplyInbox


async def call(inbox: ReplyInbox, method: str, body: Mapping[str, Any] | None, end: float) -> dict[str, Any]:
    """The answer, asked for again while JetStream is still starting, until the loop's clock shows `end`.

    Raises:
        NotReady: there was none.
    """
    clock = asyncio.get_running_loop().time
    payload = b"" if body is None else orjson.dumps(body)
    while True:
        left = end - clock()
        if left <= 0:
            raise NotReady(
                "JetStream did not answer in time: start nats-server with -js, or check the account's limits"
            )
        try:
            message = await inbox.request(f"$JS.API.{method}", payload, deadline=min(left, 5.0))
        except (TimeoutError, NoRespondersError):
            await asyncio.sleep(min(0.1, max(left, 0)))
            continue
        answer: dict[str, Any] = orjson.loads(message.data)
        # 503: no leader yet, or still starting. A refused configuration is 400 or 500, and stays refused.
        if int(answer.get("error", {}).get("code", 0)) == 503:
            await asyncio.sleep(min(0.1, max(left, 0)))
            continue
        return answer


def error_code(answer: Mapping[str, Any]) -> int:
    """Its number in the API's list of errors; 0: it is none."""
    error = cast("Mapping[str, Any] | None", answer.get("error"))
    return int(error.get("err_code", -1)) if error else 0
