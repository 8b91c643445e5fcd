"""The stack on which cases are tried: temporary, with a recorded site and recorded models."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from aiohttp import web
from dotenv import dotenv_values

from contracts.providers import COMPATIBLE, KEYED, KEYS, OFFLINE, OPENAI_CLIENT
from nexus_cli.evaluation.cases import Case
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import StackError
from nexus_cli.stack.temporary import LIFTED_LIMITS, clean_environment, ready_program, stack_in
from nexus_cli.target import Target

RECORDED = "recorded"
_OPENAIS = [provider for provider in KEYED.values() if provider.client == OPENAI_CLIENT]
"""Providers with OpenAI's API: any server of that API can be configured under their names."""


class NoModelError(StackError):
    """No configured provider serves the requested model."""


@dataclass(frozen=True)
class StageModels:
    """The providers of a run. `recorded` is the one under whose name recorded models are served; `provider` and `model`
    are the real ones, if any, and `environment` their settings."""

    recorded: str = "openai"
    provider: str | None = None
    model: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Stage:
    """A running stack. `site` is the origin of the recorded pages."""

    target: Target
    site: str
    models: StageModels


def chosen_models(name: str | None) -> StageModels:
    """Chooses the providers for a run with this model; None: without a model.

    Raises:
        NoModelError: the provider has no key, or the agent is not installed.
    """
    if name is None:
        return StageModels()
    if importlib.util.find_spec("agent") is None:
        raise NoModelError("the agent is not installed here: install the distribution nexus-agent")
    from agent.domain.providers import owner_of
    from agent.replay.overrides import OverrideError, chosen_model
    from agent.settings import ModelSettings

    settings = ModelSettings()
    try:
        chosen = chosen_model(name, settings)
    except OverrideError as error:
        raise NoModelError(str(error)) from error
    environment = {key: value for key, value in {**dotenv_values(".env"), **os.environ}.items() if value}
    if chosen.provider == OFFLINE.name:
        return StageModels(provider=OFFLINE.name, model=chosen.model)
    if chosen.provider != COMPATIBLE.name:
        variables = (KEYS[chosen.provider], KEYED[chosen.provider].address_variable)
        overrides = {name: environment[name] for name in variables if name in environment}
    else:
        # The installation's own server would take precedence over the recorded one; so it is configured as a provider.
        owner = owner_of(chosen.model)
        stand_in = next((provider for provider in _OPENAIS if provider.name == owner), KEYED["openai"])
        chosen = type(chosen)(stand_in.name, chosen.model)
        overrides = {
            stand_in.address_variable: str(settings.base_url),
            KEYS[stand_in.name]: environment.get("NEXUS_LLM_API_KEY", "none"),
        }
    recorded = "groq" if chosen.provider == "openai" else "openai"
    return StageModels(recorded, chosen.provider, chosen.model, overrides)


@asynccontextmanager
async def stage(cases: Sequence[Case], models: StageModels) -> AsyncGenerator[Stage]:
    """Runs a stack with the recorded site and models for the length of the block.

    Raises:
        StartFailedError: a server or service did not start; the message says which.
    """
    with tempfile.TemporaryDirectory(prefix="nexus-eval-") as name:
        # A directory of its own, so that no `.env` is read either.
        directory = Path(name)
        async with _site() as site, _recorded_models(cases, directory) as address:
            environment = {
                **clean_environment(),
                **LIFTED_LIMITS,
                **models.environment,
                KEYS[models.recorded]: RECORDED,
                KEYED[models.recorded].address_variable: address,
                # No other model may answer instead of the one that is judged.
                "NEXUS_LLM_CHAIN": "none",
                "NEXUS_MARKET_PROVIDER": "sample",
                "NEXUS_SAMPLE_SECONDS_PER_BAR": "0",
                "NEXUS_DEMO_ORIGIN": site,
            }
            async with stack_in(directory, environment=environment, cwd=directory) as data_directory:
                yield Stage(_target(data_directory), site, models)


def _target(directory: DataDirectory) -> Target:
    """The target of this stack, whatever the environment names."""
    recorded, secrets = directory.recorded(), directory.secrets()
    gateways = [process["url"] for process in recorded["processes"] if process["name"] == "gateway"]
    return Target(gateways[0], recorded["urls"]["nats"], secrets.jwt_secret, secrets.principal_key)


@asynccontextmanager
async def _recorded_models(cases: Sequence[Case], directory: Path) -> AsyncGenerator[str]:
    """Runs the agent's scripted model server with the models recorded in the cases; yields its address."""
    script = directory / "models.json"
    script.write_text(json.dumps(_rules(cases)))
    command = ["-m", "agent.scripted_model", "--script", str(script)]
    async with ready_program(command, log=directory / "models.log") as address:
        yield address


def _rules(cases: Sequence[Case]) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = []
    for case in cases:
        if not case.model:
            continue
        replies: list[dict[str, Any]] = []
        for reply in case.model:
            calls = [{"name": call.name, "arguments": call.arguments} for call in reply.calls]
            replies.append({"text": reply.text, "toolCalls": calls, "status": reply.status, "promptTokens": 100})
        # The replies in order, then the last one again and again.
        rules.append({"match": case.asked, "replies": replies})
        rules.append({"match": case.asked, "replies": [replies[-1]], "again": True})
    return rules


@asynccontextmanager
async def _site() -> AsyncGenerator[str]:
    """Serves the recorded pages on a loopback port; yields their origin."""
    pages = files("nexus_cli.evaluation").joinpath("site")

    async def page(request: web.Request) -> web.Response:
        path = request.match_info["path"].strip("/") or "home"
        parts = path.split("/")
        file = pages.joinpath(*parts).joinpath("home.html") if path == "es" else pages.joinpath(f"{path}.html")
        if ".." in parts or not file.is_file():
            raise web.HTTPNotFound(text="no such page")
        return web.Response(text=file.read_text("utf-8"), content_type="text/html")

    app = web.Application()
    app.add_routes([web.get("/{path:.*}", page)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
