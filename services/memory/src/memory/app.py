"""The composition root: the only place that builds things and reads settings."""

from uuid import uuid4

from nats.aio.client import Client
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from contracts.streams import CHAT
from memory import handlers
from memory.adapters import mongo
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.chat_consumer import DURABLE, ChatConsumer
from memory.adapters.chat_log import ChatLog
from memory.adapters.executions_consumer import executions_consumer
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.near_windows import NearWindows
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_windows import RedisWindows
from memory.application.companies import Companies
from memory.application.handoffs import Handoffs
from memory.application.history import Histories
from memory.application.inbox import Inbox
from memory.application.projection import Projection
from memory.application.seeding import seed
from memory.application.sweeps import Sweep
from memory.ports import Principals
from memory.settings import MemorySettings
from runtime.connection import jetstream
from runtime.conversation_log import ConversationLog
from runtime.dead_letters import DeadLetters
from runtime.publishing import Publisher
from runtime.rpc import RpcServer
from runtime.settings import DevSettings, MongoSettings, RedisSettings

BOUNDS_EVERY = 2.0
"""Seconds between looks at the stream's beginning and incarnation."""


class Memory:
    """One replica of memory on a connected bus whose streams are there."""

    def __init__(
        self,
        client: Client,
        *,
        principals: Principals,
        mongo_settings: MongoSettings,
        redis_settings: RedisSettings,
        settings: MemorySettings,
        dev: DevSettings,
    ) -> None:
        self._client = client
        self._dev = dev
        self._mongo = mongo.connect(mongo_settings)
        self._database = self._mongo[mongo_settings.database]
        self._redis = redis_client(redis_settings)
        publisher = Publisher(client)
        facts = MongoFacts(self._database["facts"])
        conversations = MongoConversations(self._database["conversations"])
        companies = MongoCompanies(self._database["companies"])
        self._principals = principals
        self._log = ChatLog(ConversationLog(client), publisher, settings.history_deadline)
        self._floor = ProjectionFloor(client, CHAT.name, DURABLE, lambda: self._log.era)
        self._far_windows = RedisWindows(self._redis)
        self._histories = Histories(
            facts=facts,
            conversations=conversations,
            windows=NearWindows(self._far_windows),
            log=self._log,
            floor=self._floor,
            deadline=settings.history_deadline,
        )
        self._inbox = Inbox(facts=facts, conversations=conversations, log=self._log, floor=self._floor)
        self._companies = Companies(store=companies, announcements=BusAnnouncements(publisher))
        self._handoffs = Handoffs(conversations=conversations, companies=companies, log=self._log, floor=self._floor)
        self._projection = Projection(
            facts=facts, conversations=conversations, floor=self._floor, principals=principals
        )
        self._executions = executions_consumer(client, MongoExecutions(self._database["executions"]))
        self._server = RpcServer(client)
        self._consumer: ChatConsumer | None = None
        self._sweeps = (
            Sweep("bounds of the log", BOUNDS_EVERY, self._log.refresh),
            Sweep("waiting conversations", settings.handoff_sweep, self._handoffs.sweep),
            Sweep("untold settings", settings.settings_sweep, self._companies.sweep),
        )

    async def start(self) -> None:
        """Everything on; flush the connection before saying that it is ready.

        Raises:
            StoreUnavailable, nats.errors.Error, runtime.errors.NotReady: a server is away.
        """
        await mongo.prepare(self._database)
        store = await mongo.name_of(self._database, str(uuid4()))
        self._consumer = ChatConsumer(
            jetstream(self._client), self._log, store, self._projection.project, DeadLetters(self._client)
        )
        await self._consumer.ensure()
        await self._floor.start()
        await self._far_windows.start()
        if self._dev.dev:
            await seed(self._companies, self._dev.demo_origin)
        await handlers.serve(self._server, self._histories, self._inbox, self._companies)
        await self._consumer.start()
        await self._executions.start()
        for sweep in self._sweeps:
            await sweep.start()

    async def drain(self, deadline: float = 10.0) -> None:
        """Takes nothing new, finishes what runs within `deadline` seconds, and lets go of the databases."""
        for sweep in self._sweeps:
            await sweep.stop()
        await self._server.drain(deadline / 2)
        if self._consumer is not None:
            await self._consumer.stop(deadline / 4)
        await self._executions.drain(deadline / 4)
        await self._floor.stop()
        await self._far_windows.stop()
        await self._redis.aclose()
        await self._mongo.close()

    async def check_mongodb(self) -> None:
        """Raises when MongoDB does not answer. Redis is only a cache here: without it memory is slower, not wrong."""
        await mongo.ping(self._mongo)


def redis_client(settings: RedisSettings) -> Redis:
    """A client that gives up soon and does not try twice: the cache must never be slower than what it spares."""
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
        settings.url,
        socket_timeout=settings.deadline,
        socket_connect_timeout=settings.deadline,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
        client_name="nexus-memory",
    )
