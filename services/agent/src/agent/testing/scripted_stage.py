"""A stage with an agent whose model follows a script."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.stage import Stage, agent, stage
from contracts.company import CompanyConfig


@asynccontextmanager
async def scripted_stage(
    url: str, *rules: Rule, default: ScriptedReply | None = None, config: CompanyConfig | None = None
) -> AsyncGenerator[tuple[Stage, ScriptedModel]]:
    """Sets up a stage on a running nats-server, a scripted model, and an agent that asks it."""
    async with (
        stage(url, config) as scene,
        scripted_model(*rules, default=default) as model,
        agent(url, model.base_url),
    ):
        yield scene, model
