"""`nexus doctor --live` on a stack whose services and model have a fault: it names each."""

import asyncio
import json
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel
from nexus_cli.doctor import live
from nexus_cli.doctor.diagnosis import Diagnosis
from nexus_cli.target import find_addresses
from runtime.testing.servers import eventually, freeze
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def wrong(stack: RunningStack) -> list[Diagnosis]:
    """What it finds wrong, each with its advice."""
    found = await live.examine(find_addresses(stack.data), "acme")
    bad = [one for one in found if one.state == "wrong"]
    assert all(one.advice for one in bad)
    return bad


async def names(stack: RunningStack, subject: str, *words: str) -> None:
    """It names the fault, by the subject and words of its text."""

    async def named() -> bool:
        found = await wrong(stack)
        texts = [one.text for one in found if one.subject == subject]
        assert any(all(word in text for word in words) for text in texts), found
        return True

    await eventually(named)


@contextmanager
def standing_still(stack: RunningStack, name: str) -> Generator[None]:
    """The process stands still for the length of the block."""
    pid = stack.process(name).pid
    freeze(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_nothing_is_wrong_with_a_stack_that_is_well(stack: RunningStack, model: ScriptedModel) -> None:
    del model
    await stack.whole()

    async def well() -> bool:
        assert await wrong(stack) == []
        return True

    await eventually(well)
    # As the command that it is.
    command = ("doctor", "--live", "--json", "--company", "acme", "--data", str(stack.data))
    said = json.loads((await asyncio.to_thread(stack.nexus, *command)).stdout)
    assert {"agent", "memory", "gateway", "tool-executor", "market-adapter", "model", "redis"} <= {
        one["subject"] for one in said if one["state"] == "ok"
    }


@pytest.mark.parametrize(
    "service", ["agent", "tool-executor", "memory", "market-adapter", "gateway", "redis", "mongodb", "nats"]
)
async def test_what_stands_still_is_named(stack: RunningStack, service: str) -> None:
    await stack.whole()
    with standing_still(stack, service):
        await names(stack, service)


async def test_a_service_that_is_gone_is_named(stack: RunningStack, model: ScriptedModel) -> None:
    """Its supervisor stands still too, so that it does not come back."""
    del model
    await stack.whole()
    supervisor = int(json.loads((stack.data / "stack.lock").read_text())["pid"])
    freeze(supervisor)
    try:
        stack.kill("tool-executor")
        await names(stack, "tool-executor", "nobody serves its methods")
    finally:
        os.kill(supervisor, signal.SIGCONT)


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (ScriptedReply(status=401), "its key is refused"),
        (ScriptedReply(status=500), "500"),
        (ScriptedReply(hang=True), "silent"),
    ],
)
async def test_what_the_model_does_is_named(
    stack: RunningStack, model: ScriptedModel, reply: ScriptedReply, word: str
) -> None:
    await stack.whole()
    model.say(default=reply)
    try:
        await names(stack, "model", word)
    finally:
        model.say()
