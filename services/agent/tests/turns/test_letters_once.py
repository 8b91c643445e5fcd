"""A failed turn is told once, however often agents are started anew."""

from agent.measures import TURNS
from agent.scripted_model.script import Reply, Rule
from agent.scripted_model.server import scripted_model
from agent.testing.stage import agent, stage, until
from runtime.dead_letters import DeadLetters
from runtime.direct import DirectReader
from runtime.testing import NatsServer


async def test_an_agent_that_is_started_five_times_leaves_one_letter(nats_server: NatsServer) -> None:
    rule = Rule(replies=[Reply(status=503)], again=True)
    looked = TURNS.labels("failed")._value  # pyright: ignore[reportPrivateUsage]
    async with stage(nats_server.url) as scene, scripted_model(rule) as model:
        js = scene.nats.jetstream()
        for name in ("DLQ", "FACTS"):
            # What the bus recognises as a repeat for two minutes, it forgets here at once.
            config = (await js.stream_info(name)).config
            config.duplicate_window = 0.1
            await js.update_stream(config)
        async with agent(nats_server.url, model.base_url):
            await scene.visitor("c1", "hello")
            await scene.answered("c1")
            await scene.idle()
        for _ in range(5):
            before = looked.get()
            async with agent(nats_server.url, model.base_url, sweep_seconds=0.05, sweep_after_seconds=0.15):
                await until(lambda before=before: looked.get() > before)
        letters = await DeadLetters(scene.nats).list()
        assert [letter.service for letter in letters] == ["agent"]
        told = await DirectReader(scene.nats, "FACTS").batch("turn.failed.v1.>", 1, 100)
        assert len(told.facts) == 1
