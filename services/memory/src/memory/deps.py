"""What all features of a replica are built on."""

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
    """The connected service, its stores and its log. `asked`, `storing`: two lanes to one database, for callers who
    wait and for facts from the bus. `local`: everything runs on this machine (development)."""

    service: Service
    settings: MemorySettings
    asked: Database
    storing: Database
    companies: MongoCompanies
    looks: RedisLooks
    market: MarketClient
    log: StreamLog
    floor: ProjectionFloor
    clock: Clock
    local: bool
