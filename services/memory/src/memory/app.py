"""The composition root: the only place that builds things and reads settings."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Protocol
from uuid import uuid4

from contracts.errors import NexusError
from contracts.streams import CHAT, FACTS, KNOWLEDGE
from memory import migrations
from memory.adapters import mongo, stream_figures
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.chat_consumer import DURABLE, ChatConsumer
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_budgets import RedisBudgets
from memory.adapters.redis_looks import RedisLooks
from memory.adapters.signed_principals import PrincipalCheck
from memory.adapters.trimmed_chat import TrimmedChat
from memory.adapters.webhook_table import WebhookTable
from memory.application.budgets import BudgetBook
from memory.application.log_trimmer import LogTrimmer
from memory.application.older_conversations import lists_step
from memory.application.projection import Projection
from memory.application.seed import seed
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.facts import LogFact
from memory.fact_intake import FactIntake
from memory.handlers import (
    companies,
    contexts,
    conversations,
    desk,
    erasure,
    long_term,
    positions,
    ratings,
    refusals,
    usage,
    users,
    webhooks,
)
from memory.knowledge.part import KnowledgePart
from memory.settings import MemorySettings
from runtime.bus.direct import DirectReader
from runtime.clock import Clock, SystemClock
from runtime.errors import NotReadyError
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, MongoSettings, RedisSettings
from runtime.stores.mongo import watch_database
from runtime.stores.redis_client import redis_client

TRIM_SWEEP_SECONDS = 30.0
"""Interval of the sweep that trims the log."""
BOUNDS_REFRESH_SECONDS = 30.0
"""Interval of reading the stream's first sequence and era: facts are far older than that when they are trimmed."""


class ServicePart(Protocol):
    """A part that runs in the background, is watched (it must neither end nor hang), and must be stopped."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends within a few seconds."""
        ...

    def stuck_because(self) -> str | None:
        """See runtime.liveness."""
        ...


class MemoryReplica:
    """One replica of memory: built when the bus is connected, started when the service is ready."""

    def __init__(
        self,
        service: Service,
        *,
        principals: PrincipalCheck,
        mongo_settings: MongoSettings,
        redis_settings: RedisSettings,
        settings: MemorySettings,
        dev: DevSettings,
        clock: Clock | None = None,
    ) -> None:
        self._service = service
        self._principals = principals
        self._settings = settings
        self._dev = dev
        self._clock = clock or SystemClock()
        connections = mongo.Connections()
        self._mongo = mongo.connect(mongo_settings, connections)
        database = self._mongo[mongo_settings.database]
        # Two command limits for one database: for callers who wait, and for storing facts of the bus.
        self._database = mongo.for_requests(database)
        self._fact_database = mongo.for_facts(database, mongo_settings.deadline)
        self._positions = MongoPositions(self._fact_database, connections)
        redis = partial(redis_client, redis_settings.url, redis_settings.deadline, name="nexus-memory")
        self._redis = redis()
        # Budgets have connections of their own: a burst of windows must not take all of them.
        self._budgets = redis()
        # There is no check for Redis: without it memory is slower, not wrong, and therefore still ready.
        ping, lanes = mongo.MongoPing(self._mongo), (self._database.limit, self._fact_database.limit)
        service.add_check("mongodb", ping)
        watch_database(service, lanes, ping, mongo_settings.url)
        service.writes(CHAT, FACTS, KNOWLEDGE)
        service.answers = refusals.reply_for
        service.on_start(self.build)

    async def build(self) -> None:
        """Builds everything on the connected service, and starts it.

        Raises:
            NotReadyError: MongoDB, the stream or its consumer is not available.
        """
        service = self._service
        for close in (self._mongo.close, self._redis.aclose, self._budgets.aclose):
            service.on_stop(close)
        new_id = str(uuid4())
        store, stored_format = await mongo.open_database(self._database, new_id)
        deps = self._deps()
        log, floor = deps.log, deps.floor
        knowledge = KnowledgePart(deps)
        ask_knowledge = knowledge.indexes.search
        readers = conversations.build(deps)
        histories, inbox = readers.histories, readers.inbox
        conversations.serve(deps, histories, inbox, ask_knowledge)
        announcements = BusAnnouncements(service.publisher, DirectReader(service.nats, FACTS.name))
        table = WebhookTable(deps.companies)
        registry = companies.build(deps, announcements, table.refresh)
        companies.serve(deps, registry)
        companies.serve_sign_in(deps, registry)
        await self._start(*await webhooks.build(deps, table, registry))
        if self._dev.dev:
            await seed(registry, self._dev.demo_origin)
        spending = BudgetBook(RedisBudgets(self._budgets), time.time)
        usage.serve_budgets(service, spending, ask_knowledge)
        memories, learner, (lessons, unproposed), searching = long_term.serve(
            deps, announcements=announcements, inbox=inbox, histories=histories, embeddings=knowledge.embeddings
        )
        activity = contexts.serve(deps, memories, learner, readers.quick_histories, ask_knowledge)
        projection = Projection(
            facts=deps.stored_facts,
            conversations=deps.stored_conversations,
            settled=partial(self._positions.position, positions.PROJECTION),
            principals=deps.principals,
        )
        erasing = erasure.serve(
            deps,
            knowledge=knowledge,
            companies=registry,
            memories=memories,
            drops=(*readers.drops, projection.drop, searching.drop),
            drop_projected=projection.drop,
        )
        intake = FactIntake(service, erasing.late)
        reports = ratings.serve(deps, intake, inbox, knowledge.rated)
        users.serve(deps, intake, memories, learner, inbox, erasing.erasure)
        usage.serve(deps, intake, spending)
        human_desk = desk.serve(deps, intake, inbox)
        knowledge.consume(intake)
        handoff_sweeps = desk.handoff_sweeps(deps, human_desk, reports)
        older_lists = lists_step(deps.stored_conversations, deps.stored_facts)
        migrations.serve(service, (knowledge.stems_step(), older_lists, registry.reseal_step()), stored_format)
        settings_sweep = companies.settings_sweep(registry)

        def store_was_restored() -> None:
            projection.forget()
            settings_sweep.hurry(companies.SETTINGS_REPEATS)  # settings that the store has lost are on the bus

        conversation_source = positions.projection_source(log, projection, knowledge.note_gaps)
        mongodb, position_sweeps = positions.watch(
            deps,
            self._positions,
            self._budgets,
            (conversation_source, positions.lesson_source(log, lessons), *intake.sources),
            positions.redis_sources(log, activity, spending),
            empty=store == new_id,
            restored=store_was_restored,
        )

        async def project_batch(facts: Sequence[LogFact]) -> None:
            """Handles a batch of the log."""
            facts = await erasing.late.project(facts, projection.project)
            mongodb.taken(facts)
            activity.note(facts)
            if projection.needs_sweep(facts):
                for sweep in handoff_sweeps:
                    sweep.stir()
            await knowledge.note_gaps(facts)

        consumer = ChatConsumer(
            service.nats, log, store, project_batch, teaches=projection.may_teach, learn=lessons.take
        )
        floor.hurry, floor.calm, consumer.settled = consumer.hurry, consumer.calm, floor.stir
        floor.store, floor.same_server = lambda: mongodb.behind.get(positions.PROJECTION), mongodb.same_server
        service.add_check("projection", consumer.check)
        await consumer.ensure()
        try:
            # Before any read: what the store has lost is read from the log until the store has it again.
            mongodb.has_up_to(await deps.stored_facts.furthest())
            await mongodb.compare()
        except NexusError as error:
            raise NotReadyError(str(error), retryable=error.retryable) from error
        service.on_reconnect(log.refresh_after_reconnect)
        service.on_reconnect(mongodb.bus_is_back)
        service.before_metrics(floor.refresh)
        await erasing.cache.follow()
        await knowledge.follow()
        await self._start(
            floor,
            readers.windows,
            activity,
            lessons,
            unproposed,
            consumer,
            *knowledge.sweeps(),
            *position_sweeps,
            *erasing.sweeps,
            *handoff_sweeps,
            PeriodicSweep("quiet conversations", self._settings.quiet_sweep, human_desk.sweep_quiet),
            PeriodicSweep("untold settings", self._settings.settings_sweep, registry.sweep),
            settings_sweep,
            *self._stream_sweeps(deps),
        )

    def _deps(self) -> Deps:
        service = self._service
        log = StreamLog(service.conversation_log, service.publisher, self._settings.history_deadline)
        return Deps(
            service=service,
            settings=self._settings,
            principals=self._principals,
            database=self._database,
            fact_database=self._fact_database,
            redis=self._redis,
            conversations=MongoConversations(self._database["conversations"]),
            facts=MongoFacts(self._database["facts"]),
            stored_conversations=MongoConversations(self._fact_database["conversations"]),
            stored_facts=MongoFacts(self._fact_database["facts"]),
            companies=MongoCompanies(self._database["companies"]),
            looks=RedisLooks(self._redis),
            market=MarketClient(service.rpc),
            log=log,
            floor=ProjectionFloor(service.nats, CHAT.name, DURABLE, lambda: log.era),
            clock=self._clock,
            local=self._dev.dev,
        )

    def _stream_sweeps(self, deps: Deps) -> tuple[PeriodicSweep, ...]:
        """The sweeps that look at the streams as a whole."""
        service, log = deps.service, deps.log
        figures = stream_figures.StreamFigures(service.nats, service.streams)
        service.before_metrics(figures.read_if_old)
        window = next(stream.window for stream in service.streams if stream.name == CHAT.name)
        trimmer = LogTrimmer(TrimmedChat(service.nats, log), deps.floor.now, window)
        return (
            PeriodicSweep("figures of the streams", stream_figures.INTERVAL_SECONDS, figures.read),
            PeriodicSweep("the log's window", TRIM_SWEEP_SECONDS, trimmer.sweep),
            PeriodicSweep("bounds of the log", BOUNDS_REFRESH_SECONDS, log.refresh_if_old),
        )

    async def _start(self, *parts: ServicePart) -> None:
        for part in parts:
            await part.start()
            self._service.on_stop(part.stop)
            self._service.watch(part.name, part.stuck_because)
