"""A file of the log is damaged: the server gives up what lies behind, MongoDB has it, and the damage is told."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.conversation_rpc import CONVERSATION_MESSAGES, MessagesRequest
from nexus_cli.doctor import bus as bus_looks
from nexus_cli.target import bus
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

QUESTIONS = ("what does the Pro plan cost?", "what is IBM trading at?", "what is AAPL trading at?")


def flip(file: Path) -> None:
    """One bit in the middle."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def cut(file: Path) -> None:
    """The last third is gone."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3])


async def position_recorded(stack: RunningStack, seq: int) -> bool:
    """Whether MongoDB has written down that it has everything up to there."""
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(stack.facts()["urls"]["mongodb"])
    try:
        row = await client["nexus"]["meta"].find_one({"_id": "positions"}) or {}
        return any(name == "CHAT/memory-projection" and int(at.split("/")[1]) >= seq for name, at in row.get("at", ()))
    finally:
        await client.close()


@pytest.mark.parametrize("damage", [flip, cut])
async def test_nothing_is_missing_from_a_transcript_when_the_log_has_lost_its_end(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    stack = RunningStack(
        tmp_path / "data", env={"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", "NEXUS_MEMORY_POSITIONS_SWEEP": "1"}
    ).start()
    try:
        token, _ = await stack.visitor(locale="en")
        async with stack.chat(token, locale="en") as visitor:
            for question in QUESTIONS:
                await visitor.ask(question)
            conversation, seq = visitor.conversation, visitor.seq
            before = [message["id"] for message in visitor.messages()]
        await eventually(lambda: position_recorded(stack, seq))
        await asyncio.to_thread(stack.stop)
        for stream in ("CHAT", "FACTS"):
            (file,) = (stack.data / "nats").glob(f"jetstream/*/streams/{stream}/msgs/*.blk")
            damage(file)
            # After a crash there is none that says where the server was: it reads the file.
            file.with_name("index.db").unlink()
        await asyncio.to_thread(stack.start)
        async with stack.chat(token, conversationId=conversation, locale="en") as visitor:
            snapshot = await visitor.wait_for("snapshot")
            assert [message["id"] for message in snapshot["messages"]] == before
            ack = await visitor.say(QUESTIONS[0])
            answer = await visitor.answer_after(ack["seq"])
        async with bus(stack.facts()["urls"]["nats"]) as client:

            async def whole() -> bool:
                request = MessagesRequest(company_id="demo", conversation_id=str(conversation))
                reply = await RpcClient(client).call(CONVERSATION_MESSAGES, request, deadline=10)
                ids = [item.id for item in reply.items]
                assert ids == [*before, ack["messageId"], answer["id"]]
                return True

            await eventually(whole)

            async def told() -> bool:
                found = await bus_looks.look(client)
                return {one.subject for one in found if "was damaged" in one.text} == {"stream CHAT", "stream FACTS"}

            await eventually(told)
        assert "the log has lost its end" in (stack.data / "logs" / "memory.log").read_text()
    finally:
        stack.stop()
