"""The services of a simulation, each built in the process that runs; the stage plays what is not there."""

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
    """The executor, and what else a turn asks for."""
    made = Stage(await _connection("stage"), demo_config(), memory=False)
    made.executor.offer(PLACE, {"done": True})
    await made.start()
    return made


async def agent(name: str, model: SimulatedModel) -> Agent:
    """An agent, ready."""
    hooks = ConnectionHooks()
    client = await _connection(name, hooks)
    models, verifier = SimulatedModels(model), PrincipalVerifier(TOKENS)

    def simulated(ports: Ports) -> Ports:
        return replace(ports, models=models)

    def verify(token: str) -> Principal:
        return verifier.verify(token, expired_too=True)

    with patch.object(agent_app, "prices", _PRICES):
        made = Agent(AgentConnections(client, verify, _NO_KEYS, _SEAL), _AGENT, simulated)
    hooks.on_reconnect.append(made.reconnected)
    await made.start()
    return made


async def memory(name: str, stores: Stores) -> Memory:
    """A replica of memory, ready."""
    hooks = ConnectionHooks()
    made = Memory(await _connection(name, hooks), stores, PrincipalVerifier(TOKENS))
    await made.start(hooks)
    return made


async def gateway(name: str) -> Gateway:
    """A gateway, ready."""
    hooks = ConnectionHooks()
    client = await _connection(name, hooks)
    identity = replace(build_identity(TOKENS, 3600, SystemClock()), tokens=SimulatedTokens())
    with patch.object(gateway_app, "build_http", _no_pages):
        # Pages and REST stand beside the sockets, and take a tenth of a simulation to build.
        made = gateway_app.compose(client, GATEWAY, identity, SystemClock(), [], dev=True)
    await made.start(hooks)
    await client.flush()
    return made


def _no_pages(*_: object) -> FastAPI:
    """Nobody asks for any."""
    return _NO_PAGES


async def _connection(name: str, hooks: ConnectionHooks | None = None) -> Client:
    return await connect(_NATS, name=name, hooks=hooks)
