"""The dependencies from which all features of a replica are built."""

from dataclasses import dataclass

from redis.asyncio import Redis

from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_looks import RedisLooks
from memory.adapters.signed_principals import PrincipalCheck
from memory.settings import MemorySettings
from runtime.clock import Clock
from runtime.lifecycle.service import Service
from runtime.stores.mongo import Database


@dataclass(frozen=True)
class Deps:
    """The connected service, its stores and its log. `database` and `fact_database` are the same database with separate
    command limits: for callers who wait, and for storing facts, as are `stored_conversations` and `stored_facts`.
    `local`: everything runs on this machine (development)."""

    service: Service
    settings: MemorySettings
    principals: PrincipalCheck
    database: Database
    fact_database: Database
    redis: Redis
    conversations: MongoConversations
    facts: MongoFacts
    stored_conversations: MongoConversations
    stored_facts: MongoFacts
    companies: MongoCompanies
    looks: RedisLooks
    market: MarketClient
    log: StreamLog
    floor: ProjectionFloor
    clock: Clock
    local: bool
