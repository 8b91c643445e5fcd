"""One replica of memory: the parts that a turn needs, put together as memory.app does, over the simulated stores."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from nats.aio.client import Client
from redis.asyncio import Redis
from typing_extensions import override

from contracts.errors import NexusError
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.rpc import Rpc
from contracts.streams import CHAT, FACTS
from memory import app
from memory.adapters import mongo
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.bus_consumers import BusConsumers
from memory.adapters.cached_windows import CachedWindows
from memory.adapters.chat_consumer import DURABLE, ChatConsumer
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_looks import RedisLooks
from memory.adapters.redis_windows import RedisWindows
from memory.adapters.signed_principals import PrincipalCheck
from memory.app import ServicePart
from memory.application.budgets import BudgetBook
from memory.application.companies import CompanyRegistry
from memory.application.history import HistoryRead, HistoryReader
from memory.application.inbox import Inbox
from memory.application.inbox_search import InboxSearch
from memory.application.positions import Positions
from memory.application.projection import Projection
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.facts import LogFact
from memory.handlers import companies, conversations, positions, refusals, usage
from memory.settings import MemorySettings
from runtime.auth.principals import PrincipalVerifier
from runtime.bus.connection import ConnectionHooks
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import Handler, RpcServer
from runtime.clock import SystemClock
from runtime.conversation import ConversationLog
from runtime.errors import NotReadyError
from runtime.lifecycle.service import Service
from tests.simulation.cache import SimulatedLedger, SimulatedRedis
from tests.simulation.store import DEADLINE, SimulatedMongo


@dataclass(frozen=True)
class Told:
    """A history that memory returned: these messages of a conversation, up to a sequence."""

    conversation: str
    up_to: int
    limit: int
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class Stores:
    """The stores that all replicas share. `told`: every history that a replica returned."""

    mongo: SimulatedMongo
    redis: SimulatedRedis
    told: list[Told]


class Memory:
    """A replica."""

    def __init__(self, client: Client, stores: Stores, verifier: PrincipalVerifier) -> None:
        self._client = client
        self._stores = stores
        self._methods: list[tuple[Rpc[Any, Any], Handler[Any, Any]]] = []
        self._parts: list[ServicePart] = []
        database = cast("Any", stores.mongo)
        self._asked, self._storing = mongo.for_requests(database), mongo.for_facts(database, DEADLINE)
        self.facts = MongoFacts(self._asked["facts"])
        self.conversations = MongoConversations(self._asked["conversations"])
        publisher = Publisher(client)
        self.log = StreamLog(ConversationLog(client), publisher, _SETTINGS.history_deadline)
        self.floor = ProjectionFloor(client, CHAT.name, DURABLE, lambda: self.log.era)
        self._kept = MongoPositions(self._storing, stores.mongo.client())
        self._stored_facts = MongoFacts(self._storing["facts"])
        self._stored_conversations = MongoConversations(self._storing["conversations"])
        self._principals = PrincipalCheck(verifier)
        self.projection = Projection(
            facts=self._stored_facts,
            conversations=self._stored_conversations,
            settled=functools.partial(self._kept.position, positions.PROJECTION),
            principals=self._principals,
        )
        windows = RedisWindows(self._redis)
        self.histories = _Histories(
            facts=self.facts,
            conversations=self.conversations,
            windows=CachedWindows(windows),
            log=self.log,
            floor=self.floor,
            deadline=_SETTINGS.history_deadline,
        )
        self.histories.told = stores.told
        self.inbox = Inbox(
            facts=self.facts,
            conversations=self.conversations,
            searching=InboxSearch(self.conversations),
            looks=RedisLooks(self._redis),
            log=self.log,
            floor=self.floor,
        )
        announcements = BusAnnouncements(publisher, DirectReader(client, FACTS.name))
        self.companies = CompanyRegistry(
            store=MongoCompanies(self._asked["companies"]),
            announcements=announcements,
            conversations=self.conversations,
        )
        self._parts += [self.floor, windows]

    @property
    def _redis(self) -> Redis:
        return cast("Any", self._stores.redis)

    def serve(self, method: Rpc[Any, Any], handler: Handler[Any, Any]) -> None:
        """Registers a handler, as runtime.lifecycle.service.Service.serve does."""
        self._methods.append((method, handler))

    async def start(self, hooks: ConnectionHooks) -> None:
        """Starts the replica; it is ready when this returns.

        Raises:
            NotReadyError, and the bus's errors: start again.
        """
        fresh = str(uuid4())
        try:
            store = await mongo.database_id(self._asked, fresh)
        except NexusError as error:
            raise NotReadyError(str(error)) from error
        consumer = ChatConsumer(
            self._client,
            self.log,
            store,
            self.projection.project,
            teaches=self.projection.may_teach,
            learn=_learned_nothing,
        )
        self.floor.hurry, consumer.settled = consumer.hurry, self.floor.stir
        self.floor.calm = consumer.calm
        await consumer.ensure()
        service = cast("Service", self)
        settings_sweep = companies.settings_sweep(self.companies)

        def on_restored() -> None:
            self.projection.forget()
            settings_sweep.hurry(companies.SETTINGS_REPEATS)

        deps = Deps(
            service=service,
            settings=_SETTINGS,
            principals=self._principals,
            database=self._asked,
            fact_database=self._storing,
            redis=self._redis,
            conversations=self.conversations,
            facts=self.facts,
            stored_conversations=self._stored_conversations,
            stored_facts=self._stored_facts,
            companies=MongoCompanies(self._asked["companies"]),
            looks=RedisLooks(self._redis),
            market=cast("Any", None),
            log=self.log,
            floor=self.floor,
            clock=SystemClock(),
            local=True,
        )
        conversations.serve(deps, self.histories, self.inbox, _no_knowledge)
        companies.serve(deps, self.companies)
        budgets = BudgetBook(SimulatedLedger(self._stores.redis), self._stores.redis.time)
        usage.serve_budgets(service, budgets, _no_knowledge)
        self.positions = Positions(
            "mongodb",
            self._kept,
            BusConsumers(self._client),
            [positions.projection_source(self.log, self.projection, _no_gaps)],
            now=SystemClock().now,
            empty=store == fresh,
            every=_SETTINGS.positions_sweep,
            restored=on_restored,
        )
        self.floor.store, self.floor.same_server = (
            lambda: self.positions.behind.get(positions.PROJECTION),
            self.positions.same_server,
        )
        try:
            await self.positions.compare()
        except NexusError as error:
            raise NotReadyError(str(error)) from error

        hooks.on_reconnect.append(self.log.refresh_after_reconnect)
        position_sweep = PeriodicSweep("position of MongoDB", positions.POSITIONS_SWEEP_SECONDS, self.positions.look)
        self.positions.hurry = position_sweep.hurry
        self._parts += [
            consumer,
            position_sweep,
            PeriodicSweep("bounds of the log", app.BOUNDS_REFRESH_SECONDS, self.log.refresh),
            PeriodicSweep("untold settings", _SETTINGS.settings_sweep, self.companies.sweep),
            settings_sweep,
        ]
        for part in self._parts:
            await part.start()
        server = RpcServer(self._client, answers=refusals.reply_for)
        for method, handler in self._methods:
            await server.serve(method, handler)
        await self._client.flush()


class _Histories(HistoryReader):
    """A HistoryReader that records the histories it returns."""

    told: list[Told]

    @override
    async def newest(self, company: str, conversation: str, up_to: int, limit: int, *, exact: bool) -> HistoryRead:
        history = await super().newest(company, conversation, up_to, limit, exact=exact)
        seqs = tuple(message.seq for message in history.messages)
        self.told.append(Told(conversation, history.up_to, limit, seqs))
        return history


async def _no_knowledge(company: str, query: KnowledgeQuery) -> KnowledgeFound:
    """Returns nothing: companies have no documents here, the stage stands in for knowledge."""
    del company, query
    return KnowledgeFound()


async def _learned_nothing(fact: LogFact) -> None:
    """Learns nothing; waits once, since a real answer waits for this."""
    del fact
    await asyncio.sleep(0)


async def _no_gaps(facts: Sequence[LogFact]) -> None:
    """Records no questions."""


_SETTINGS = MemorySettings()
__all__ = ["Memory", "Stores", "Told"]
