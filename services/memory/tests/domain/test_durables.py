"""A list of consumers that leaves some out is no list: the log would be trimmed for those that it names."""

from collections.abc import Mapping
from typing import Any

import pytest

from memory.adapters.durables import durables
from memory.errors import BusUnavailableError


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "config": {"durable_name": name}} for name in names]


async def test_every_page_is_read_and_who_is_there_for_a_moment_is_left_out() -> None:
    passing: dict[str, Any] = {"name": "x7", "config": {}}
    consumers = [*named("one", "two"), passing, *named("three")]

    async def ask(method: str, body: Mapping[str, Any]) -> Any:
        assert method == "CONSUMER.LIST.CHAT"
        offset = body["offset"]
        return {"total": len(consumers), "consumers": consumers[offset : offset + 2]}

    assert sorted(await durables(ask, "CHAT")) == ["one", "three", "two"]


async def test_consumers_whose_leaders_are_away_are_not_taken_for_gone() -> None:
    async def ask(method: str, body: object) -> Any:
        del method, body
        return {"total": 1, "consumers": named("one"), "missing": ["memory-webhooks"]}

    with pytest.raises(BusUnavailableError):
        await durables(ask, "CHAT")
