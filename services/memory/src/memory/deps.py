"""The dependencies from which all features of a replica are built."""

from dataclasses import dataclass

from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_looks import RedisLooks
from memory.settings import MemorySettings
from runtime.clock import Clock
from runtime.lifecycle.service import Service
from runtime.stores.mongo import Database


@dataclass(frozen=True)
class Deps:
    """The connected service, its stores and its log. `database` and `fact_database` are the same database with separate
    command limits: for callers who wait, and for storing facts. `local`: everything runs on this machine
    (development)."""

    service: Service
    settings: MemorySettings
    database: Database
    fact_database: Database
    companies: MongoCompanies
    looks: RedisLooks
    market: MarketClient
    log: StreamLog
    floor: ProjectionFloor
    clock: Clock
    local: bool
