"""Who has a turn's id finds what every service wrote of it, and the chat on a terminal shows that id."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.testing import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

SERVICES = {"gateway", "agent", "tool-executor", "market-adapter", "memory"}


@pytest.fixture
async def talkative(tmp_path: Path) -> AsyncIterator[RunningStack]:
    """A stack that logs whatever it does."""
    env = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", "NEXUS_LOG_LEVEL": "debug", "NEXUS_LOG_FORMAT": "json"}
    running = RunningStack(tmp_path / "nexus", env=env)
    try:
        yield await asyncio.to_thread(running.start)
    finally:
        await asyncio.to_thread(running.stop)


def lines(stack: RunningStack) -> Iterator[dict[str, Any]]:
    for file in (stack.data / "logs").iterdir():
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("{"):
                yield json.loads(line)


async def test_a_turns_lines_are_found_in_every_service_by_its_id(talkative: RunningStack) -> None:
    async with ChatClient(talkative.url, talkative.mint("user", "logged", plan="pro")) as customer:
        await customer.hello(locale="en")
        answers = [await customer.ask(f"What is {symbol} trading at?") for symbol in ("AAPL", "MSFT")]
        for answer in answers:
            turn = answer["turnId"]

            def found(turn: str = turn) -> list[dict[str, Any]]:
                own = [line for line in lines(talkative) if line.get("turn") == turn]
                assert {line["service"] for line in own} == SERVICES
                return own

            own = await eventually(found, 30)
            assert {line["company"] for line in own} == {"demo"}
            assert len({line["conversation"] for line in own}) == 1
            (trace,) = {line["trace"] for line in own if "trace" in line}
            # The gateway's line of the message was written before the turn had its id: the trace leads to it.
            assert {line["service"] for line in lines(talkative) if line.get("trace") == trace} == SERVICES
            assert "chat.stored" in {line["event"] for line in lines(talkative) if line.get("trace") == trace}
    assert answers[0]["turnId"] != answers[1]["turnId"]
    shown = await asyncio.to_thread(
        talkative.nexus, "chat", "--locale", "en", "--data", str(talkative.data), typed="Hello\n"
    )
    asides = dict(line.split()[1:3] for line in shown.stderr.splitlines() if line.startswith("·"))
    own = [line for line in lines(talkative) if line.get("turn") == asides["turn"]]
    assert {line["conversation"] for line in own} == {asides["conversation"]}
