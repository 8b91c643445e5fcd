"""The composition root: the only place that builds things and reads settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import structlog
from nats.aio.client import Client
from nats.errors import SlowConsumerError
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from contracts.channels import LIVE_CHAT_ALL
from contracts.streams import CHAT, FACTS, TOOLS
from gateway.adapters.actions import BusActions
from gateway.adapters.agents import BusAgents
from gateway.adapters.analyses import BusAnalyses
from gateway.adapters.bus import NatsBus
from gateway.adapters.companies import BusCompanies
from gateway.adapters.completions import BusCompletions
from gateway.adapters.gateways import forward_answer, take_forwarded_answers
from gateway.adapters.handed_calls import HandedCalls
from gateway.adapters.identity import IdentityKeys, build_identity, require_long_secrets
from gateway.adapters.knowledge import BusKnowledge
from gateway.adapters.log import SOURCE, NatsLog
from gateway.adapters.memory import BusMemory
from gateway.adapters.personas import DemoPersonas
from gateway.adapters.sightings import BusSightings
from gateway.adapters.tools import ToolClient
from gateway.application import Front, build_http
from gateway.chat.access import Access
from gateway.chat.action_states import ActionStates
from gateway.chat.admission import Admission
from gateway.chat.assistants import Assistants
from gateway.chat.commands import Commands
from gateway.chat.customers import Customers
from gateway.chat.delays import AnswerDelays
from gateway.chat.files import Files
from gateway.chat.hub import Hub
from gateway.chat.inboxes import Inboxes
from gateway.chat.limits import ClientLimits
from gateway.chat.looks import LookReports
from gateway.chat.recovery import Recovery
from gateway.chat.replays import Replays
from gateway.chat.session import Chat, ClientSession
from gateway.chat.shares import CompanyShares
from gateway.chat.threads import Threads
from gateway.chat.topics import Topics
from gateway.domain.client_answers import Answers
from gateway.doors.mcp.endpoint import McpEndpoint, load_server_factory
from gateway.doors.mcp.endpoint import ServerFactory as McpBuild
from gateway.handlers import HANDLERS
from gateway.live_feed import NatsLive
from gateway.market_feed import MarketFacts
from gateway.settings import GatewaySettings
from gateway.web.chat_endpoint import ChatEndpoint
from gateway.web.deps import Api
from gateway.web.proxies import Proxies
from gateway.web.server import WebServer
from runtime.analyses import Analyses
from runtime.auth.tokens import TokenMinter
from runtime.background import BackgroundLoop
from runtime.bus.connection import ConnectionHooks, subscribe
from runtime.bus.publisher import Publisher
from runtime.bus.replies import ReplyInbox
from runtime.calls.rpc import RpcClient
from runtime.calls.streamed_calls import StreamClient
from runtime.clock import Clock, SystemClock
from runtime.companies import CHANGES, CompanyCache
from runtime.conversation import ConversationLog
from runtime.deletions import follow_deletions
from runtime.errors import NotReadyError
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, FileSettings, MarkSettings, NatsSettings, TokenSettings
from runtime.stores.file_store import FileStore
from runtime.stores.file_stores import file_store

log = structlog.get_logger(__name__)

COMPANY_SHARE = 0.8
"""The part of the log that one company may fill."""
VISITOR_TOKEN_SECONDS = 3600
"""Lifetime of a visitor's token; the widget renews it."""
FACT_CHECK_SECONDS = 10.0
"""Seconds between two checks for facts that the bus did not deliver."""


@dataclass(slots=True)
class Gateway:
    """The gateway on one connection to the bus."""

    application: ASGIApp
    chat: Chat
    endpoint: ChatEndpoint
    mcp: McpEndpoint
    threads: Threads
    settings: CompanyCache
    _client: Client
    _live: NatsLive
    _log: NatsLog
    _market: MarketFacts
    _answers: Answers
    _fact_check: BackgroundLoop = field(init=False)

    def __post_init__(self) -> None:
        self._fact_check = BackgroundLoop(
            "lost facts", self.check_for_lost_facts, wait=lambda: asyncio.sleep(FACT_CHECK_SECONDS)
        )

    async def start(self, hooks: ConnectionHooks) -> None:
        """Subscribes and adds the reconnect hooks; the caller flushes before it reports ready."""
        hooks.on_disconnect.append(self._on_disconnect)
        hooks.on_reconnect.append(self._on_reconnect)
        hooks.on_error.append(self._on_bus_error)
        await self._live.start(self.chat.hub, self.chat.inboxes, self._resync)
        await self._market.start()
        await take_forwarded_answers(self._client, self._answers)
        await subscribe(self._client, CHANGES, self.settings.changed)
        await follow_deletions(self._client, self.threads.deleted)
        self._fact_check.start()

    async def drain(self) -> None:
        """Accepts no new clients, sends the others to another gateway, and finishes what they have requested."""
        self.endpoint.draining = True
        self.mcp.drain()
        self.threads.drain()
        await self._fact_check.stop()
        await self.chat.drain()

    async def check_for_lost_facts(self) -> None:
        """Compares the facts received with the log's end, if any conversation is open."""
        if self.chat.hub.conversations:
            self._live.check_end((await self._log.bounds()).last_seq)

    async def _on_disconnect(self) -> None:
        self.chat.recovery.pause_all()

    async def _on_reconnect(self) -> None:
        self.settings.missed()
        self.chat.in_background(self.chat.tokens.refresh_settings())
        self._log.forget_bounds()
        self.chat.in_background(self.chat.recovery.resync_all())
        self.chat.in_background(self.chat.customers.catch_up_all())
        self.chat.inboxes.all_changed()

    async def _on_bus_error(self, error: Exception) -> None:
        # Live signs may be lost; facts may not.
        if isinstance(error, SlowConsumerError) and error.sub.subject == LIVE_CHAT_ALL:
            self._resync()

    def _resync(self) -> None:
        self.chat.recovery.pause_all()
        self.chat.in_background(self.chat.recovery.resync_all())
        self.chat.inboxes.all_changed()


def compose(
    client: Client,
    settings: GatewaySettings,
    identity: IdentityKeys,
    clock: Clock,
    health: list[BaseRoute],
    *,
    dev: bool,
    personas: DemoPersonas | None = None,
    minter: TokenMinter | None = None,
    mcp_server: Callable[[], McpBuild] = load_server_factory,
    store: FileStore | None = None,
) -> Gateway:
    """Builds the gateway on a connected client. `store`: the file storage; without one, files are refused."""
    publisher, rpc = Publisher(client), RpcClient(client)
    log = NatsLog(ConversationLog(client), publisher, clock)
    memory, agents = BusMemory(rpc), BusAgents(rpc)
    cache = CompanyCache(client, rpc, clock.monotonic)
    companies = BusCompanies(rpc, cache)
    bus = NatsBus(publisher)
    shares = CompanyShares(log.free_bytes, COMPANY_SHARE, clock)
    delays = AnswerDelays(clock, settings.turn_deadline_seconds)
    live = NatsLive(client, log, shares, delays)
    hub = Hub(live.follow)
    actions = BusActions(rpc, companies)
    customers = Customers(actions)
    action_states = ActionStates(actions, memory)
    heartbeat_ms = int(settings.heartbeat_seconds * 1000)
    sessions = set[ClientSession]()
    tokens = Admission(identity.tokens, companies, sessions)
    cache.on_change(tokens.settings_changed)
    cache.on_change(Assistants(sessions).changed)
    chat = Chat(
        tokens=tokens,
        sessions=sessions,
        companies=companies,
        access=Access(log, memory, identity.principals, identity.conversation_keys),
        recovery=Recovery(hub, log, memory, agents, action_states, heartbeat_ms, settings.stream_distance),
        commands=Commands(log, bus, memory, agents, identity.principals, shares, delays, companies, clock),
        bus=bus,
        log=log,
        hub=hub,
        customers=customers,
        inboxes=Inboxes(live.follow_presence),
        limits=ClientLimits(settings, clock),
        files=Files(store, memory, identity.seal_key, clock),
        looks=LookReports(memory, clock),
        topics=Topics(memory, rpc, identity.tokens, clock, identity.conversation_keys[0]),
        clock=clock,
        handlers=HANDLERS,
        hello_seconds=settings.hello_seconds,
        heartbeat_ms=heartbeat_ms,
    )
    endpoint = ChatEndpoint(chat, settings.blocked_networks)
    threads = Threads(chat)
    tools = ToolClient(publisher, rpc, ReplyInbox.of(client), identity.principals)
    api = Api(
        rpc=rpc,
        chat=chat,
        identity=identity,
        companies=companies,
        threads=threads,
        memory=memory,
        tools=tools,
        actions=actions,
        action_states=action_states,
        completions=BusCompletions(rpc, StreamClient(client)),
        knowledge=BusKnowledge(rpc, publisher),
        replays=Replays(log, identity.principals, companies),
        analyses=BusAnalyses(Analyses(client, SOURCE)),
        handed=HandedCalls(client),
        sightings=BusSightings(rpc, clock),
        clock=clock,
        dev=dev,
        personas=personas,
        minter=minter,
    )
    answers = Answers(identity.seal_key, partial(forward_answer, rpc), settings.question_seconds)
    mcp = McpEndpoint(api, answers, mcp_server)
    application = Front(
        endpoint, build_http(api, health, mcp), Proxies(settings.trusted_proxies, settings.address_header)
    )
    market = MarketFacts(client, customers)
    return Gateway(application, chat, endpoint, mcp, threads, cache, client, live, log, market, answers)


async def main() -> None:
    """Runs the gateway until it is told to stop."""
    settings, dev, nats = GatewaySettings(), DevSettings(), NatsSettings()
    # The gateway serves its health beside everything else, so the service needs no port of its own.
    service = Service("gateway", nats=nats, port=None, marks=MarkSettings())
    service.writes(CHAT, TOOLS, FACTS)

    async def build() -> None:
        clock = SystemClock()
        keys = TokenSettings()
        if not dev.dev:
            require_long_secrets(keys)
        identity = build_identity(keys, VISITOR_TOKEN_SECONDS, clock)
        personas = DemoPersonas(keys, clock) if dev.dev and keys.jwt_secret else None
        minter = TokenMinter(keys, clock) if keys.jwt_secret else None
        routes: list[BaseRoute] = [*service.health.routes()]
        store = file_store(FileSettings(), clock)
        gateway = compose(
            service.nats,
            settings,
            identity,
            clock,
            routes,
            dev=dev.dev,
            personas=personas,
            minter=minter,
            store=store,
        )
        if store is not None:
            service.on_stop(store.close)
        await gateway.start(service.hooks)
        service.add_check("settings", gateway.settings.check)
        service.add_check("files", gateway.chat.files.check)
        await service.nats.flush(timeout=10)
        server = WebServer(
            gateway.application,
            host=dev.bind_host,
            port=settings.port,
            heartbeat_seconds=settings.heartbeat_seconds,
        )
        try:
            await server.start()
        except OSError as error:
            raise NotReadyError(
                f"cannot listen on {dev.bind_host}:{settings.port} ({error.strerror}): is another server there? "
                "Choose another port with NEXUS_GATEWAY_PORT (0: any free one)"
            ) from error
        log.info("service.listening", port=server.port)
        service.on_drain(gateway.drain)
        service.on_stop(gateway.mcp.stop)
        service.on_stop(server.stop)

    service.on_start(build)
    await service.run()
