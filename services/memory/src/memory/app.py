"""The composition root: the only place that builds things and reads settings."""

import functools
import time
from collections.abc import Sequence
from typing import Protocol, runtime_checkable
from uuid import uuid4

from contracts.company import CompanySettings
from contracts.errors import NexusError
from contracts.streams import CHAT, FACTS, KNOWLEDGE
from memory import migrations
from memory.adapters import mongo, stream_figures
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.cached_windows import CachedWindows
from memory.adapters.chat_consumer import DURABLE, ChatConsumer
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.mongo_ratings import MongoRatings
from memory.adapters.mongo_reports import MongoReports
from memory.adapters.mongo_usage import MongoUsage
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_budgets import RedisBudgets
from memory.adapters.redis_echoes import RedisEchoes
from memory.adapters.redis_looks import RedisLooks
from memory.adapters.redis_short_term import RedisShortTerm
from memory.adapters.redis_windows import RedisWindows
from memory.adapters.signed_principals import PrincipalCheck
from memory.adapters.trimmed_chat import TrimmedChat
from memory.adapters.webhook_table import WebhookTable
from memory.application.activity import Activity
from memory.application.budgets import BudgetBook
from memory.application.companies import CompanyRegistry
from memory.application.exports import Exports
from memory.application.handoffs import Handoffs
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.inbox_search import InboxSearch
from memory.application.insights import Insights
from memory.application.log_trimmer import LogTrimmer
from memory.application.older_conversations import lists_step
from memory.application.projection import Projection
from memory.application.reports import Reports
from memory.application.seed import seed
from memory.application.sweeps import PeriodicSweep
from memory.application.usage import Usages
from memory.deps import Deps
from memory.domain.facts import LogFact
from memory.fact_intake import FactIntake
from memory.handlers import companies as company_handlers
from memory.handlers import contexts, erasure, long_term, positions, ratings, refusals, usage, users, webhooks
from memory.handlers import conversations as conversation_handlers
from memory.handlers import desk as desk_handlers
from memory.knowledge.part import KnowledgePart
from memory.settings import MemorySettings
from runtime.auth.seal import company_seal
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
SETTINGS_RETRY_SECONDS, SETTINGS_SWEEP_SECONDS, SETTINGS_REPEATS = 5.0, 3_600.0, 3
"""Interval of comparing the settings with those on the bus: SETTINGS_RETRY_SECONDS after a comparison that changed
something, since a replica of the stream that lags behind may have answered, otherwise SETTINGS_SWEEP_SECONDS. If a
store may have lost data, it is repeated SETTINGS_REPEATS times."""
REST_FACTOR = 5
"""A sweep that found nothing waits this many times longer: new work comes with a fact, and the replica that receives it
sweeps at the usual interval."""


class ServicePart(Protocol):
    """A part that runs in the background and must be stopped."""

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends within a few seconds."""
        ...


@runtime_checkable
class LoopingPart(Protocol):
    """A part with a loop of its own, which is watched: it must neither end nor hang."""

    name: str

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
        connections = mongo.Connections()
        self._mongo = mongo.connect(mongo_settings, connections)
        database = self._mongo[mongo_settings.database]
        # Two command limits for one database: for callers who wait, and for storing facts of the bus.
        self._database = mongo.for_requests(database)
        self._fact_database = mongo.for_facts(database, mongo_settings.deadline)
        self._positions = MongoPositions(self._fact_database, connections)
        redis = functools.partial(redis_client, redis_settings.url, redis_settings.deadline, name="nexus-memory")
        self._redis = redis()
        # Budgets have connections of their own: a burst of windows must not take all of them.
        self._budgets = redis()
        self._clock = clock or SystemClock()
        self._executions = MongoExecutions(self._fact_database["executions"])
        self._companies = MongoCompanies(self._database["companies"])
        self._reports = MongoReports(self._fact_database)
        self._usages = Usages(
            store=MongoUsage(self._fact_database["usage"]),
            companies=self._companies,
            clock=self._clock,
            conversations=self._reports,
        )
        self._spending = BudgetBook(RedisBudgets(self._budgets), time.time)
        # There is no check for Redis: without it memory is slower, not wrong, and therefore still ready.
        ping, lanes = mongo.MongoPing(self._mongo), (self._database.limit, self._fact_database.limit)
        service.add_check("mongodb", ping)
        watch_database(service, lanes, ping, mongo_settings.url)
        service.writes(CHAT, FACTS, KNOWLEDGE)
        service.answers = refusals.reply_for
        service.on_start(self.build)

    async def build(self) -> None:
        """Builds everything on the connected service.

        Raises:
            NotReadyError: MongoDB, the stream or its consumer is not available.
        """
        service, settings = self._service, self._settings
        for close in (self._mongo.close, self._redis.aclose, self._budgets.aclose):
            service.on_stop(close)
        new_id = str(uuid4())
        store, stored_format = await mongo.open_database(self._database, new_id)
        facts, stored_facts = MongoFacts(self._database["facts"]), MongoFacts(self._fact_database["facts"])
        conversations = MongoConversations(self._database["conversations"])
        stored_conversations = MongoConversations(self._fact_database["conversations"])
        log = StreamLog(service.conversation_log, service.publisher, settings.history_deadline)
        deps = Deps(
            service=service,
            settings=settings,
            database=self._database,
            fact_database=self._fact_database,
            companies=self._companies,
            looks=RedisLooks(self._redis),
            market=MarketClient(service.rpc),
            log=log,
            floor=ProjectionFloor(service.nats, CHAT.name, DURABLE, lambda: log.era),
            clock=self._clock,
            local=self._dev.dev,
        )
        floor = deps.floor
        projection = Projection(
            facts=stored_facts,
            conversations=stored_conversations,
            settled=functools.partial(self._positions.position, positions.PROJECTION),
            principals=self._principals,
        )
        short_term = RedisShortTerm(self._redis, self._clock)
        activity = Activity(
            store=short_term,
            conversations=stored_conversations,
            principals=self._principals,
            market=deps.market,
            clock=self._clock,
        )
        knowledge = KnowledgePart(
            service, self._database, self._fact_database, self._companies, stored_facts, self._clock
        )
        service.on_stop(knowledge.indexes.stop)

        async def project_batch(facts: Sequence[LogFact]) -> None:
            """Handles a batch of the log. The parts that it uses are built below, before anything is consumed."""
            facts = await erasing.late.project(facts, projection.project)
            mongodb.taken(facts)
            activity.note(facts)
            if projection.needs_sweep(facts):
                for sweep in handoff_sweeps:
                    sweep.stir()
            await knowledge.note_gaps(facts)

        consumer = ChatConsumer(
            service.nats,
            log,
            store,
            project_batch,
            teaches=projection.may_teach,
            learn=lambda fact: lessons.take(fact),
        )
        floor.hurry, floor.calm, consumer.settled = consumer.hurry, consumer.calm, floor.stir
        service.add_check("projection", consumer.check)
        await consumer.ensure()
        windows = RedisWindows(self._redis)
        cached_windows = CachedWindows(windows)
        history_reader = functools.partial(
            HistoryReader,
            facts=facts,
            conversations=conversations,
            windows=cached_windows,
            log=log,
            floor=floor,
            deadline=settings.history_deadline,
        )
        histories = history_reader()
        inbox_search = InboxSearch(conversations)
        service.on_stop(inbox_search.stop)
        inbox = Inbox(
            facts=facts, conversations=conversations, searching=inbox_search, looks=deps.looks, log=log, floor=floor
        )
        announcements = BusAnnouncements(service.publisher, DirectReader(service.nats, FACTS.name))
        table = WebhookTable(self._companies)

        async def settings_changed(settings: CompanySettings) -> None:
            await table.refresh(settings)
            await deps.looks.leave(settings.config.company_id, settings.config.team.signed_out)

        companies = CompanyRegistry(
            store=self._companies,
            announcements=announcements,
            conversations=stored_conversations,
            changed=settings_changed,
            seal=company_seal(),
        )
        await self._start_parts(*await webhooks.build(deps, table, companies, RedisEchoes(self._redis)))
        reports = Reports(
            store=MongoReports(self._database), companies=self._companies, fresh=inbox.fresh, clock=floor.now
        )
        if self._dev.dev:
            await seed(companies, self._dev.demo_origin)
        conversation_handlers.serve(deps, histories, inbox, knowledge.searcher.ask)
        company_handlers.serve(deps, companies)
        company_handlers.serve_sign_in(deps, companies)
        usage.serve_budgets(service, self._spending, knowledge.searcher.ask)
        memories, learner, lessons, searching = long_term.serve(
            deps, announcements=announcements, inbox=inbox, histories=histories, embeddings=knowledge.embeddings
        )
        # A context reads the history twice within two parts' deadlines, and its summary may take one of these in
        # between.
        quick_histories = history_reader(patience=settings.context_part / 4)
        contexts.serve(deps, memories, learner, quick_histories, short_term, knowledge.searcher.ask)
        drops = (windows.drop, cached_windows.drop, projection.drop, searching.drop, inbox_search.drop)
        cache = CacheErasure(service.nats, self._redis, drops)
        erasing = erasure.serve(
            deps, cache=cache, knowledge=knowledge, companies=companies, memories=memories, drop=projection.drop
        )
        intake = FactIntake(service, erasing.late)
        answer_ratings = MongoRatings(self._database["ratings"])
        ratings.serve(service, Insights(conversations=conversations, ratings=answer_ratings), reports)
        ratings.consume(intake, answer_ratings, self._reports, knowledge.rated)
        exports = Exports(memories=memories, conversations=conversations, inbox=inbox)
        users.serve(intake, memories, learner, exports, erasing.erasure, self._executions)
        usage.serve(intake, self._usages, self._spending)
        desk = desk_handlers.serve(deps, intake, inbox)
        knowledge.consume()
        older_lists = lists_step(stored_conversations, stored_facts)
        migrations.serve(service, (*knowledge.changes(), older_lists, companies.reseal_step()), stored_format)
        contexts.consume(service, activity)
        settings_sweep = PeriodicSweep(
            "settings on the bus", SETTINGS_RETRY_SECONDS, companies.refresh, idle_seconds=SETTINGS_SWEEP_SECONDS
        )

        def store_was_restored() -> None:
            projection.forget()
            settings_sweep.hurry(SETTINGS_REPEATS)  # settings that the store has lost are on the bus

        mongodb_sources = positions.mongodb_sources(
            log,
            projection,
            self._executions,
            self._usages,
            answer_ratings,
            self._reports,
            learner,
            lessons,
            knowledge,
            desk,
        )
        mongodb, position_sweeps = positions.watch(
            deps,
            self._positions,
            self._budgets,
            mongodb_sources,
            positions.redis_sources(log, activity, self._spending),
            empty=store == new_id,
            restored=store_was_restored,
        )
        handoffs = Handoffs(
            conversations=conversations,
            companies=self._companies,
            log=log,
            looks=deps.looks,
            clock=floor.now,
            measure_usual_wait=reports.usual_wait,
            assign_in_turn=desk.assign_in_turn,
        )
        handoff_sweeps = [
            PeriodicSweep(name, settings.handoff_sweep, look, idle_seconds=REST_FACTOR * settings.handoff_sweep)
            for name, look in (
                ("waiting conversations", handoffs.look),
                ("conversations that are due", desk.sweep),
            )
        ]
        floor.store, floor.same_server = lambda: mongodb.behind.get(positions.PROJECTION), mongodb.same_server
        try:
            # Before any read: what the store has lost is read from the log until the store has it again.
            await mongodb.compare()
        except NexusError as error:
            raise NotReadyError(str(error), retryable=error.retryable) from error

        service.on_reconnect(log.refresh_after_reconnect)
        service.on_reconnect(mongodb.bus_is_back)
        service.on_reconnect(knowledge.indexes.mark_all_changed)
        figures = stream_figures.StreamFigures(service.nats, service.streams)
        for refresh_figures in (floor.refresh, figures.read_if_old, handoffs.measure):
            service.before_metrics(refresh_figures)
        await self._start_parts(
            floor,
            windows,
            activity,
            lessons,
            consumer,
            cache,
            *knowledge.parts(),
            *position_sweeps,
            *erasing.sweeps,
            *handoff_sweeps,
            PeriodicSweep("quiet conversations", settings.quiet_sweep, desk.sweep_quiet),
            PeriodicSweep("figures of the streams", stream_figures.INTERVAL_SECONDS, figures.read),
            PeriodicSweep("the log's window", TRIM_SWEEP_SECONDS, self._log_trimmer(log, floor).sweep),
            PeriodicSweep("bounds of the log", BOUNDS_REFRESH_SECONDS, log.refresh_if_old),
            PeriodicSweep("untold settings", settings.settings_sweep, companies.sweep),
            settings_sweep,
        )

    def _log_trimmer(self, log: StreamLog, floor: ProjectionFloor) -> LogTrimmer:
        window = next(stream.window for stream in self._service.streams if stream.name == CHAT.name)
        return LogTrimmer(TrimmedChat(self._service.nats, log), floor.now, window)

    async def _start_parts(self, *parts: ServicePart) -> None:
        for part in parts:
            await part.start()
            self._service.on_stop(part.stop)
            if isinstance(part, LoopingPart):
                self._service.watch(part.name, part.stuck_because)
