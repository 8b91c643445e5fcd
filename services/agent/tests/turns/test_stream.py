"""The running text: batched, numbered from 0 in each run, ended once."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agent.domain.turn.effects import Ack, Retry, Trigger
from agent.ports import ConversationKey
from agent.turns.stream import BATCH_SECONDS, Deltas
from agent.turns.sweep import TurnSweep
from contracts.channels import ChatKind
from contracts.conversation import Fact
from runtime.testing.servers import eventually

KEY = ConversationKey("demo", "c1")


class Emitted:
    """Keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, Any]) -> None:
        self.events.append((kind, data))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.events]


def a_run() -> tuple[Emitted, Deltas]:
    live = Emitted()
    deltas = Deltas(live, KEY, "turn", "message")
    deltas.begin()
    return live, deltas


async def test_what_comes_in_one_packet_goes_out_as_one_delta() -> None:
    live, deltas = a_run()
    for piece in ("one", " two", " three"):
        deltas.text(piece)
    await eventually(lambda: len(live.events) == 2)
    assert live.events[1][1]["delta"] == "one two three"
    assert (deltas.sent_text, deltas.next_seq) == ("one two three", 1)


async def test_a_stream_of_tokens_is_batched() -> None:
    live, deltas = a_run()
    loop = asyncio.get_running_loop()
    started, pieces = loop.time(), 0
    while len(live.events) < 5:
        deltas.text("x")
        pieces += 1
        await asyncio.sleep(0)
    # The first at once, the other three a batch's time after the one before.
    assert loop.time() - started >= 3 * BATCH_SECONDS * 0.99
    deltas.flush()
    sent = [data["delta"] for kind, data in live.events if kind == "message.delta"]
    assert len(sent) <= 5 < pieces
    assert [data["deltaSeq"] for kind, data in live.events if kind == "message.delta"] == list(range(len(sent)))
    assert "".join(sent) == deltas.sent_text


async def test_a_restart_tells_clients_to_clear_only_if_they_have_something() -> None:
    live, deltas = a_run()
    deltas.restart()
    assert live.kinds() == ["run.started"]
    deltas.text("half")
    deltas.flush()
    deltas.restart()
    deltas.text("whole")
    deltas.flush()
    assert live.kinds() == ["run.started", "message.delta", "run.started", "message.delta"]
    assert live.events[-1][1]["deltaSeq"] == 0


async def test_nothing_follows_the_end() -> None:
    live, deltas = a_run()
    deltas.text("late")
    deltas.end("run.cancelled", {"reason": "user"})
    deltas.flush()
    assert live.kinds() == ["run.started", "run.cancelled"]
    assert not deltas.open


async def test_the_sweep_looks_only_at_what_nobody_has_settled() -> None:
    looked: list[tuple[str, int]] = []

    async def handle(key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        looked.append((key.conversation, trigger.seq))
        return Retry(1.0, "driven elsewhere") if key.conversation == "busy" else Ack("answered")

    sweep = TurnSweep(handle, overdue_after=0.0)
    for seq, name in enumerate(("answered", "forgotten", "busy", "by hand"), start=1):
        sweep.observe(ConversationKey("demo", name), Fact(ChatKind.VISITOR, seq))
    sweep.observe(ConversationKey("demo", "answered"), Fact(ChatKind.ASSISTANT, 9, basis=1))
    sweep.observe(ConversationKey("demo", "forgotten"), Fact(ChatKind.ASSISTANT, 9, basis=1))
    sweep.observe(ConversationKey("demo", "by hand"), Fact(ChatKind.OPERATOR, 9))
    assert await sweep.look() == 2
    assert sorted(looked) == [("busy", 3), ("forgotten", 2)]
    assert [sweep.is_waiting(ConversationKey("demo", name)) for name in ("forgotten", "busy")] == [False, True]


async def test_what_waits_for_a_busy_agent_is_not_handled_twice() -> None:
    room = [0]

    async def handle(key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        return Ack("answered")

    sweep = TurnSweep(handle, overdue_after=0.0, has_room=lambda: room[0])
    sweep.observe(ConversationKey("demo", "late"), Fact(ChatKind.VISITOR, 1))
    assert await sweep.look() == 0
    room[0] = 1
    assert await sweep.look() == 1


async def test_others_wait_while_a_conversation_of_another_company_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        return Ack("answered")

    sweep = TurnSweep(handle)
    assert not sweep.others_wait("demo")
    sweep.observe(KEY, Fact(ChatKind.VISITOR, 1))
    assert not sweep.others_wait("small"), "the companies were read just now, and are not read for each message"
    monkeypatch.setattr("agent.turns.sweep.COMPANIES_SECONDS", 0.0)
    assert sweep.others_wait("small")
    assert not sweep.others_wait("demo")
    sweep.observe(KEY, Fact(ChatKind.ASSISTANT, 2, basis=1))
    assert not sweep.others_wait("small")


async def test_a_look_that_lasts_holds_up_no_other_message() -> None:
    looked: list[str] = []
    ends = asyncio.Event()

    async def handle(key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        looked.append(key.conversation)
        if key.conversation == "slow":
            await ends.wait()
        return Ack("answered")

    async def nothing() -> None:
        pass

    sweep = TurnSweep(handle, interval=0.05, overdue_after=0.0)
    sweep.observe(ConversationKey("demo", "slow"), Fact(ChatKind.VISITOR, 1))
    sweep.start(nothing)
    await eventually(lambda: looked == ["slow"])
    sweep.observe(ConversationKey("demo", "later"), Fact(ChatKind.VISITOR, 2))
    await eventually(lambda: looked == ["slow", "later"])
    ends.set()
    await eventually(lambda: not sweep.count)
    await sweep.stop()


async def test_after_a_connection_was_away_the_sweep_looks_back_again() -> None:
    looked_back = 0

    async def handle(key: ConversationKey, trigger: Trigger, stored_at: float) -> Ack | Retry:
        return Ack("answered")

    async def look_back() -> None:
        nonlocal looked_back
        looked_back += 1
        if looked_back == 2:
            raise TimeoutError

    sweep = TurnSweep(handle, interval=0.05, overdue_after=0.0)
    sweep.start(look_back)
    await eventually(lambda: looked_back == 1)
    sweep.missed()
    await eventually(lambda: looked_back == 3)  # one that failed is made up for
    await sweep.stop()
