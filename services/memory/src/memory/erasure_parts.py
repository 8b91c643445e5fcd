"""What deletes users, conversations and companies in every store and stream, and what is deleted by its age; what
a client takes back."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.erasure_rpc import (
    ERASE,
    KEEPING,
    RECEIPT,
    RECEIPTS,
    EraseReply,
    EraseRequest,
    Keeping,
    KeepingRequest,
    ReceiptRef,
    ReceiptReply,
    ReceiptsReply,
    ReceiptsRequest,
)
from contracts.streams import FACTS
from memory import company_methods, withdrawal_methods
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_keeping import MongoKeeping
from memory.adapters.mongo_receipts import MongoReceipts
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.mongo_withdrawals import MongoWithdrawals
from memory.adapters.other_services import OtherServices
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.recorded_traces import RecordedTraces
from memory.application.companies import CompanyRegistry
from memory.application.company_deletion import CompanyDeletion
from memory.application.erasure import DataErasure
from memory.application.keeping import Housekeeping
from memory.application.late_facts import Drop, LateFacts
from memory.application.memories import Memories
from memory.application.said_there import SaidThere
from memory.application.sweeps import PeriodicSweep
from memory.domain.receipt import receipt_view
from memory.handlers import answering
from memory.knowledge.room import Room
from memory.settings import MemorySettings
from runtime.clock import Clock
from runtime.mongo import Database
from runtime.service import Service

TOMBSTONES = timedelta(seconds=FACTS.max_age, days=1)
"""For so long something late may come: what a stream held when it was deleted is gone by then."""


@dataclass(frozen=True, slots=True)
class ErasureParts:
    """What deletes, what keeps late facts out, and what looks after both."""

    erasure: DataErasure
    late: LateFacts
    sweeps: tuple[PeriodicSweep, ...]


@dataclass(frozen=True, slots=True)
class ErasureNeeds:
    """What deletions work with. `drop` takes conversations out of what this process knows of them."""

    cache: CacheErasure
    room: Room
    companies: CompanyRegistry
    memories: Memories
    drop: Drop
    log: StreamLog
    floor: ProjectionFloor
    clock: Clock


def erasure_part(service: Service, database: Database, needs: ErasureNeeds, settings: MemorySettings) -> ErasureParts:
    """Serves the deletion of companies, users and conversations."""
    room, companies, clock = needs.room, needs.companies, needs.clock
    store, bus = MongoErasure(database, room.forget_conversations), StreamErasure(service.nats)
    deletion = CompanyDeletion(companies, room.forget, bus, store)
    company_methods.serve(service, companies, deletion, database, clock)
    withdrawal_methods.serve(service, MongoWithdrawals(database))
    receipts, tombstones = MongoReceipts(database), MongoTombstones(database)
    erasure = DataErasure(
        store=store,
        receipts=receipts,
        tombstones=tombstones,
        bus=bus,
        cache=needs.cache,
        others=OtherServices(service.rpc),
        said_there=SaidThere(needs.memories, MongoFacts(database["facts"]), clock),
        log=needs.log,
        floor=needs.floor,
        clock=clock,
    )

    async def also(now: datetime) -> None:
        await tombstones.drop(now - TOMBSTONES)
        await needs.cache.rewrite()

    keeping = Housekeeping(
        companies=MongoCompanies(database["companies"]),
        store=MongoKeeping(database),
        traces=RecordedTraces(service.nats),
        erasure=erasure,
        also=also,
        clock=clock,
    )
    _serve(service, erasure, receipts, keeping)
    return ErasureParts(
        erasure,
        LateFacts(tombstones, store, bus, needs.drop, clock),
        (
            PeriodicSweep("deletions to repeat", settings.forgetting_sweep, erasure.sweep),
            PeriodicSweep("what is old", settings.keeping_sweep, keeping.sweep),
        ),
    )


def _serve(service: Service, erasure: DataErasure, receipts: MongoReceipts, keeping: Housekeeping) -> None:
    async def erase(request: EraseRequest) -> EraseReply:
        company, name, receipt = request.company_id, request.name, request.receipt_id
        if request.kind == "conversation":
            done = await erasure.conversations(request.kind, company, [name], by=request.by, receipt=receipt)
        else:
            done = await erasure.person(request.kind, company, name, by=request.by, receipt=receipt)
        return EraseReply(receipt=done)

    async def one(request: ReceiptRef) -> ReceiptReply:
        found = await receipts.get(request.company_id, request.receipt_id)
        return ReceiptReply(receipt=receipt_view(found) if found else None)

    async def several(request: ReceiptsRequest) -> ReceiptsReply:
        page = await receipts.page(request.company_id, request.limit, request.cursor)
        return ReceiptsReply(items=[receipt_view(one) for one in page.items], next=page.next)

    async def preview(request: KeepingRequest) -> Keeping:
        return await keeping.preview(request.company_id)

    service.serve(ERASE, answering(erase))
    service.serve(RECEIPT, answering(one))
    service.serve(RECEIPTS, answering(several))
    service.serve(KEEPING, answering(preview))
