"""A failed turn is told once, however often agents are started anew."""

from functools import partial

from prometheus_client import REGISTRY

from agent.scripted_model.script import Reply, Rule
from agent.scripted_model.server import scripted_model
from agent.testing.stage import agent, stage, until
from runtime.connection import jetstream
from runtime.dead_letters import DeadLetters
from runtime.direct import DirectReader
from runtime.testing import NatsServer


def _looked() -> float:
    return REGISTRY.get_sample_value("nexus_turns_total", {"outcome": "failed"}) or 0.0


def _more(before: float) -> bool:
    return _looked() > before


async def test_an_agent_that_is_started_five_times_leaves_one_letter(nats_server: NatsServer) -> None:
    rule = Rule(replies=[Reply(status=503)], again=True)
    async with stage(nats_server.url) as scene, scripted_model(rule) as model:
        js = jetstream(scene.nats)
        for name in ("DLQ", "FACTS"):
            # What the bus recognises as a repeat for two minutes, it forgets here at once.
            config = (await js.stream_info(name)).config
            config.duplicate_window = 0.1
            await js.update_stream(config)  # pyright: ignore[reportUnknownMemberType]
        async with agent(nats_server.url, model.base_url):
            await scene.visitor("c1", "hello")
            await scene.answered("c1")
            await scene.idle()
        for _ in range(5):
            before = _looked()
            async with agent(nats_server.url, model.base_url, sweep_seconds=0.05, sweep_after_seconds=0.15):
                await until(partial(_more, before))
        letters = await DeadLetters(scene.nats).list()
        assert [letter.service for letter in letters] == ["agent"]
        told = await DirectReader(scene.nats, "FACTS").batch("turn.failed.v1.>", 1, 100)
        assert len(told.facts) == 1
