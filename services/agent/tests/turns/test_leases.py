"""Dead is short: agents in processes of their own, killed and frozen; others go on within seconds."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.company import COMPANY
from agent.testing.process import AgentProcess
from agent.testing.stage import Stage, stage
from contracts import channels
from runtime.bus.direct import DirectReader
from runtime.testing.servers import NatsServer, eventually

LONG_ANSWER = ScriptedReply(tokens=80, first_token_ms=100, token_ms=50)
SOON = 25.0
"""Seconds that any machine needs; what is not known to be dead before its 30 s are over is late."""


@asynccontextmanager
async def processes(scene: Stage, model: ScriptedModel, folder: Path, count: int) -> AsyncGenerator[list[AgentProcess]]:
    """So many agents that can be killed and frozen, ready."""
    url = scene.nats.connected_url
    assert url is not None
    agents = [AgentProcess(folder / str(n), url.geturl(), model.base_url, f"agent-{n}") for n in range(count)]
    async with AsyncExitStack() as stack:
        for agent in agents:
            stack.callback(agent.kill)
        await asyncio.gather(*(asyncio.to_thread(agent.start) for agent in agents))
        yield agents


async def in_mid_answer(scene: Stage, model: ScriptedModel, agents: list[AgentProcess]) -> AgentProcess:
    """A visitor has asked, and this agent is answering."""
    await scene.visitor("c1", "tell me something long", principal=None)
    await eventually(lambda: len(scene.told("message.delta")) >= 3)
    return next(agent for agent in agents if agent.model == model.asked[-1]["model"])


async def attempts(scene: Stage) -> int:
    """How often the turn has been opened."""
    stored = await DirectReader(scene.nats, "TURNS").last(channels.journal(COMPANY, "c1"))
    assert stored is not None
    return orjson.loads(stored.event)["data"]["attempts"]


@pytest.mark.parametrize("count", [1, 2], ids=["the only one, started again", "of two"])
async def test_a_killed_agents_answer_is_begun_anew_within_seconds(
    nats_server: NatsServer, tmp_path: Path, count: int
) -> None:
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=LONG_ANSWER) as model,
        processes(scene, model, tmp_path, count) as agents,
    ):
        driver = await in_mid_answer(scene, model, agents)
        driver.kill()
        if count == 1:
            await asyncio.to_thread(driver.start)
        await eventually(lambda: len(scene.told("run.started")) == 2, SOON)
        # Whoever watches is told that the same run starts from nothing: the half sentence is cleared.
        assert len({run["turnId"] for run in scene.told("run.started")}) == 1
        assert await attempts(scene) == 2
        (answer,) = await scene.answered("c1")
        assert len(answer["text"].split()) == LONG_ANSWER.tokens
        await scene.idle()
        assert len(await scene.answers("c1")) == 1


async def test_a_frozen_agents_turn_is_anothers_and_what_it_says_when_it_wakes_is_heard_by_nobody(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=LONG_ANSWER) as model,
        processes(scene, model, tmp_path, 2) as agents,
    ):
        driver = await in_mid_answer(scene, model, agents)
        driver.pause()

        def anew() -> list[dict[str, Any]]:
            """What is told since the run was begun again; before, something of the frozen one may be on its way."""
            begun = [at for at, (subject, _) in enumerate(scene.live) if subject.endswith(".run.started.v1")]
            assert len(begun) == 2
            return [data for subject, data in scene.live[begun[1] :] if subject.endswith(".message.delta.v1")]

        await eventually(lambda: len(anew()) >= 5, SOON)
        driver.resume()
        await scene.answered("c1")
        await scene.idle()
        assert len(await scene.answers("c1")) == 1
        numbers = [delta["deltaSeq"] for delta in anew()]
        assert numbers == list(range(len(numbers)))


async def test_a_frozen_agent_is_given_no_messages_for_longer_than_a_request_lasts(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=ScriptedReply(text="Here.")) as model,
        processes(scene, model, tmp_path, 2) as agents,
    ):
        agents[0].pause()
        conversations = [f"c{number}" for number in range(20)]
        for conversation in conversations:
            await scene.visitor(conversation, "hello", principal=None)
        for conversation in conversations:
            await scene.answered(conversation)
        agents[0].resume()
        await scene.idle()
        counts: list[Any] = [len(await scene.answers(conversation)) for conversation in conversations]
        assert counts == [1] * len(conversations)
