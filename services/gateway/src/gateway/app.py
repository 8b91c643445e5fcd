"""The composition root: the only place that builds things and reads settings."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import FastAPI
from nats.aio.client import Client
from nats.errors import SlowConsumerError
from starlette.routing import BaseRoute

from gateway.adapters import companies as companies_adapter
from gateway.adapters.agents import BusAgents
from gateway.adapters.bus import NatsBus, NatsLive
from gateway.adapters.companies import BusCompanies
from gateway.adapters.log import NatsLog
from gateway.adapters.memory import BusMemory
from gateway.chat.access import Access
from gateway.chat.commands import Commands
from gateway.chat.hub import Hub
from gateway.chat.limits import Door
from gateway.chat.reactions import REACTIONS
from gateway.chat.recovery import Recovery
from gateway.chat.session import Chat
from gateway.ports import Principals, Tokens
from gateway.settings import GatewaySettings
from gateway.web.application import build_application
from gateway.web.chat_endpoint import ChatEndpoint
from gateway.web.deps import Api
from runtime.clock import Clock
from runtime.connection import ConnectionHooks, subscribe
from runtime.conversation_log import ConversationLog
from runtime.publishing import Publisher
from runtime.rpc import RpcClient


@dataclass(frozen=True, slots=True)
class Identity:
    """What proves who is who. `conversation_key` signs the ids of conversations."""

    tokens: Tokens
    principals: Principals
    conversation_key: bytes


@dataclass(frozen=True, slots=True)
class Gateway:
    """The door over one connection to the bus."""

    application: FastAPI
    chat: Chat
    endpoint: ChatEndpoint
    _client: Client
    _live: NatsLive
    _log: NatsLog
    _companies: BusCompanies

    async def start(self, hooks: ConnectionHooks) -> None:
        """Subscribes, and learns what to do when the bus was away; flush before saying that it is ready."""
        hooks.on_disconnect.append(self._lost)
        hooks.on_reconnect.append(self._found)
        hooks.on_error.append(self._dropped)
        await self._live.start()
        await subscribe(self._client, companies_adapter.CHANGES, self._companies.changed)

    async def drain(self) -> None:
        """Takes nobody in any more, sends every client elsewhere and finishes what they have asked for."""
        self.endpoint.draining = True
        await self.chat.drain()

    async def _lost(self) -> None:
        self.chat.recovery.pause_all()

    async def _found(self) -> None:
        self._companies.forget()
        self._log.forget_bounds()
        self.chat.in_background(self.chat.recovery.resync_all())

    async def _dropped(self, error: Exception) -> None:
        if isinstance(error, SlowConsumerError):
            self.chat.recovery.pause_all()
            self.chat.in_background(self.chat.recovery.resync_all())


def compose(
    client: Client, settings: GatewaySettings, identity: Identity, clock: Clock, health: list[BaseRoute], *, dev: bool
) -> Gateway:
    """Builds the gateway over a connected client."""
    publisher, rpc = Publisher(client), RpcClient(client)
    log = NatsLog(ConversationLog(client), publisher, clock)
    memory, agents = BusMemory(rpc), BusAgents(rpc)
    companies = BusCompanies(rpc, clock)
    bus = NatsBus(publisher)
    hub = Hub()
    live = NatsLive(client, hub)
    hub.connect(live)
    access = Access(log, memory, identity.principals, identity.conversation_key)
    commands = Commands(log, bus, memory, identity.principals)
    door = Door(settings.limits, clock)
    heartbeat_ms = int(settings.heartbeat_seconds * 1000)
    chat = Chat(
        tokens=identity.tokens,
        companies=companies,
        access=access,
        recovery=Recovery(hub, log, memory, agents, heartbeat_ms),
        commands=commands,
        bus=bus,
        hub=hub,
        door=door,
        clock=clock,
        reactions=REACTIONS,
        hello_seconds=settings.hello_seconds,
        heartbeat_ms=heartbeat_ms,
    )
    endpoint = ChatEndpoint(chat, settings.blocked_networks)
    api = Api(identity.tokens, companies, access, commands, memory, door, clock, dev)
    return Gateway(build_application(api, endpoint, health), chat, endpoint, client, live, log, companies)
