"""What deletes a user, and what deletes a company, in every store and stream; what a client takes back."""

from memory import company_methods, withdrawal_methods
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_withdrawals import MongoWithdrawals
from memory.adapters.other_services import OtherServices
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.companies import CompanyRegistry
from memory.application.company_deletion import CompanyDeletion
from memory.application.user_deletion import UserDeletion
from memory.knowledge.room import Room
from runtime.clock import Clock
from runtime.mongo import Database
from runtime.service import Service


def erasure_part(
    service: Service,
    database: Database,
    cache: CacheErasure,
    room: Room,
    companies: CompanyRegistry,
    *,
    log: StreamLog,
    floor: ProjectionFloor,
    clock: Clock,
) -> UserDeletion:
    """Serves the deletion of companies and of responses; returns what deletes users."""
    store, bus = MongoErasure(database, room.forget_conversations), StreamErasure(service.nats)
    deletion = CompanyDeletion(companies, room.forget, bus, store)
    company_methods.serve(service, companies, deletion, database, clock)
    withdrawal_methods.serve(service, MongoWithdrawals(database))
    return UserDeletion(
        store=store, bus=bus, cache=cache, others=OtherServices(service.rpc), log=log, floor=floor, clock=clock
    )
