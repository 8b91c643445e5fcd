"""Builds the services of a simulation, each in its simulated process; the stage stands in for the missing ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from unittest.mock import patch

from fastapi import FastAPI
from nats.aio.client import Client
from pydantic import SecretStr

import agent.app as agent_app
import gateway.app as gateway_app
from agent.adapters.price_table import prices
from agent.app import Agent, AgentConnections
from agent.settings import AgentSettings, ModelSettings
from agent.testing.company import demo_config
from agent.testing.stage import Stage
from agent.turns.deps import Ports
from gateway.adapters.identity import build_identity
from gateway.app import Gateway
from gateway.settings import GatewaySettings
from runtime.auth.principals import Principal, PrincipalVerifier
from runtime.auth.seal import Seal
from runtime.bus.connection import ConnectionHooks, connect
from runtime.clock import SystemClock
from runtime.settings import NatsSettings, SealSettings, TokenSettings
from tests.simulation.bus import PORT
from tests.simulation.memory import Memory, Stores
from tests.simulation.model import PLACE, SimulatedModel, SimulatedModels
from tests.simulation.people import SimulatedTokens

ACK_WAIT = 5.0
_KEY = SecretStr("a key for simulations, of 32 characters")
TOKENS = TokenSettings(jwt_secret=_KEY, principal_key=_KEY)
GATEWAY = GatewaySettings(
    messages_per_visitor=1000, messages_per_address=1000, conversations_per_address=1000, heartbeat_seconds=300.0
)
_NATS = NatsSettings(url=f"nats://bus:{PORT}")
_AGENT = AgentSettings(ack_wait_seconds=ACK_WAIT)
_NO_PAGES = FastAPI()
_PRICES = cache(prices)
_NO_KEYS = ModelSettings(provider_keys={})
_SEAL = Seal(SealSettings())


async def stage() -> Stage:
    """Returns the started stage: the tool executor and what else a turn needs."""
    started = Stage(await _connection("stage"), demo_config(), memory=False)
    started.executor.offer(PLACE, {"done": True})
    await started.start()
    return started


async def agent(name: str, model: SimulatedModel) -> Agent:
    """Returns a started agent."""
    hooks = ConnectionHooks()
    client = await _connection(name, hooks)
    models, verifier = SimulatedModels(model), PrincipalVerifier(TOKENS)

    def simulated(ports: Ports) -> Ports:
        return replace(ports, models=models)

    def verify(token: str) -> Principal:
        return verifier.verify(token, expired_too=True)

    with patch.object(agent_app, "prices", _PRICES):
        built = Agent(AgentConnections(client, verify, _NO_KEYS, _SEAL), _AGENT, simulated)
    hooks.on_reconnect.append(built.reconnected)
    await built.start()
    return built


async def memory(name: str, stores: Stores) -> Memory:
    """Returns a started replica of memory."""
    hooks = ConnectionHooks()
    built = Memory(await _connection(name, hooks), stores, PrincipalVerifier(TOKENS))
    await built.start(hooks)
    return built


async def gateway(name: str) -> Gateway:
    """Returns a started gateway."""
    hooks = ConnectionHooks()
    client = await _connection(name, hooks)
    identity = replace(build_identity(TOKENS, 3600, SystemClock()), tokens=SimulatedTokens())
    with patch.object(gateway_app, "build_http", _no_pages):
        # Simulations need no pages and no REST, which take a tenth of a simulation to build.
        built = gateway_app.compose(client, GATEWAY, identity, SystemClock(), [], dev=True)
    await built.start(hooks)
    await client.flush()
    return built


def _no_pages(*_: object) -> FastAPI:
    """Returns an empty application: simulations request no pages."""
    return _NO_PAGES


async def _connection(name: str, hooks: ConnectionHooks | None = None) -> Client:
    return await connect(_NATS, name=name, hooks=hooks)
