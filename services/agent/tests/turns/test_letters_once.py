"""A failed turn is told once, however often agents are started anew."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.domain.turn.effects import Trigger
from agent.ports import ConversationKey
from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.process import AgentProcess
from agent.testing.stage import Stage, agent, stage
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.dead_letters import DeadLetters

_FAILED = re.compile(r'^nexus_turns_total\{.*outcome="failed".*\} [1-9]', re.MULTILINE)
"""In the metrics of a process: it has told a failed turn."""


@asynccontextmanager
async def forgetful_stage(url: str) -> AsyncGenerator[Stage]:
    """A stage whose bus forgets at once what it recognises as a repeat for two minutes elsewhere."""
    async with stage(url) as scene:
        js = jetstream(scene.nats)
        for name in ("DLQ", "FACTS"):
            config = (await js.stream_info(name)).config
            config.duplicate_window = 0.1
            await js.update_stream(config)  # pyright: ignore[reportUnknownMemberType]
        yield scene


async def told_once(scene: Stage) -> None:
    letters = await DeadLetters(scene.nats).list()
    assert [letter.service for letter in letters] == ["agent"]
    told = await DirectReader(scene.nats, "FACTS").batch("turn.failed.v1.>", 1, 100)
    assert len(told.facts) == 1


async def test_an_agent_that_is_started_five_times_leaves_one_letter(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(status=503)], again=True)
    async with forgetful_stage(nats_server.url) as scene, scripted_model(rule) as model:
        async with agent(nats_server.url, model.base_url):
            await scene.visitor("c1", "hello")
            await scene.answered("c1")
            await scene.idle()
        for _ in range(5):
            async with agent(nats_server.url, model.base_url) as again:
                # As a sweep does that finds the message, or a delivery whose acknowledgement was lost.
                await again.engine.handle(ConversationKey("demo", "c1"), Trigger(1, visitor=True), 0.0)
        await told_once(scene)


async def test_an_agents_process_that_is_killed_four_times_leaves_one_letter(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    rule = Rule(replies=[ScriptedReply(status=503)], again=True)
    settings = {"NEXUS_AGENT_SWEEP_SECONDS": "0.05", "NEXUS_AGENT_SWEEP_AFTER_SECONDS": "0.15"}
    async with forgetful_stage(nats_server.url) as scene, scripted_model(rule) as model:
        process = AgentProcess(tmp_path, nats_server.url, model.base_url, "one", settings=settings)
        try:
            for start in range(4):
                await asyncio.to_thread(process.start)
                if start == 0:
                    await scene.visitor("c1", "hello")
                    await scene.answered("c1")
                    await eventually(lambda: _FAILED.search(process.metrics()))
                process.kill()
        finally:
            process.kill()
        assert len(await scene.answers("c1")) == 1
        await told_once(scene)
