"""What the agent tells autoscaling, against what really waits."""

from prometheus_client import REGISTRY

from agent.app import MAX_STARTING, Agent
from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.stage import agent, stage
from runtime.testing.servers import NatsServer, eventually


async def told(running: Agent, name: str) -> float:
    """The gauge as /metrics gives it."""
    await running.waiting.refresh()
    value = REGISTRY.get_sample_value(name)
    assert value is not None
    return value


async def due(running: Agent, count: int) -> None:
    async def shown() -> bool:
        return await told(running, "nexus_turns_due") == count

    await eventually(shown)


def silent_after(seconds: float, model: ScriptedModel) -> ModelSettings:
    limits = f"compatible={seconds}"
    return ModelSettings(base_url=model.base_url, model="scripted", provider_keys={}, time_limits=limits)


async def test_fifty_visitors_and_one_slow_slot(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)])
    async with (
        stage(nats_server.url) as scene,
        scripted_model(rule) as model,
        agent(nats_server.url, models=silent_after(8, model), slots=1) as running,
    ):
        for number in range(50):
            await scene.visitor(f"c{number}", "hello")
        await due(running, 49)
        assert await told(running, "nexus_turns_running") == 1
        assert await told(running, "nexus_oldest_due_seconds") > 0
        # The silent model is given up, and the rest is answered.
        for number in range(50):
            await scene.answered(f"c{number}")
        await due(running, 0)
        assert await told(running, "nexus_oldest_due_seconds") == await told(running, "nexus_turns_running") == 0


async def test_turns_that_wait_for_their_model_keep_no_other_from_beginning(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)] * (MAX_STARTING + 2))
    async with (
        stage(nats_server.url) as scene,
        scripted_model(rule) as model,
        agent(nats_server.url, models=silent_after(60, model)) as running,
    ):
        for number in range(MAX_STARTING + 2):
            await scene.visitor(f"c{number}", "hello")
        await eventually(lambda: running.worker.in_work == MAX_STARTING + 2)


async def test_who_may_still_be_typing_is_not_due(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, scripted_model() as model:
        await scene.configure(response_delay_ms=60_000)
        async with agent(nats_server.url, model.base_url) as running:
            for number in range(20):
                await scene.visitor(f"c{number}", "one moment")
            await eventually(lambda: len(running.worker.handed_back) == 20)
            assert await told(running, "nexus_turns_due") == await told(running, "nexus_turns_running") == 0
            assert model.asked == []
