"""Methods and sweeps that delete users, conversations and companies from every store and stream, delete by age, and
withdraw responses for clients."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts import erasure_rpc
from contracts.company_rpc import COMPANY_DELETE
from contracts.file_rpc import FILE_KEEP
from contracts.streams import FACTS
from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_file_shares import MongoFileShares
from memory.adapters.mongo_receipts import MongoReceipts
from memory.adapters.mongo_retention import MongoRetention
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.mongo_withdrawals import MongoWithdrawals
from memory.adapters.other_services import OtherServices
from memory.adapters.recorded_traces import RecordedTraces
from memory.application.companies import CompanyRegistry
from memory.application.erasure import DataErasure
from memory.application.late_facts import ConversationDropper, LateFacts
from memory.application.memories import Memories
from memory.application.retention import RetentionSweep
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.receipt import receipt_view
from memory.knowledge.part import KnowledgePart
from memory.settings import MemorySettings
from runtime.lifecycle.service import Service
from runtime.settings import FileSettings
from runtime.stores.file_stores import file_store

TOMBSTONE_LIFETIME = timedelta(seconds=FACTS.max_age, days=1)
"""How long tombstones are kept: longer than a stream keeps anything that it contained at the deletion."""


@dataclass(frozen=True, slots=True)
class ErasureParts:
    """The deletion of data, the filter for late facts, the caches' part, which is to follow other replicas, and the
    sweeps."""

    erasure: DataErasure
    late: LateFacts
    cache: CacheErasure
    sweeps: tuple[PeriodicSweep, ...]


def serve(
    deps: Deps,
    *,
    knowledge: KnowledgePart,
    companies: CompanyRegistry,
    memories: Memories,
    drops: Sequence[ConversationDropper],
    drop_projected: ConversationDropper,
) -> ErasureParts:
    """Serves the methods of deletion. `drops` remove conversations from this process's caches; one of them is
    `drop_projected`, for the projection's."""
    service, database, clock = deps.service, deps.database, deps.clock
    cache = CacheErasure(service.nats, deps.redis, drops)
    file_settings = FileSettings()
    storage = file_store(file_settings, clock)
    store, bus = MongoErasure(database, knowledge.gap_store.forget_conversations), StreamErasure(service.nats)
    shares = MongoFileShares(database, file_settings.company_megabytes * 1_000_000)
    files = KeptFiles(storage, deps.facts, shares, clock)
    if storage is not None:
        service.on_stop(storage.close)
    receipts, tombstones = MongoReceipts(database), MongoTombstones(database)
    erasure = DataErasure(
        store=store,
        receipts=receipts,
        tombstones=tombstones,
        bus=bus,
        cache=cache,
        files=files,
        others=OtherServices(service.rpc),
        companies=companies,
        forget_knowledge=knowledge.forget,
        memories=memories,
        facts=deps.facts,
        log=deps.log,
        floor=deps.floor,
        clock=clock,
    )

    async def clean_up(now: datetime) -> None:
        await tombstones.drop(now - TOMBSTONE_LIFETIME)
        await cache.rewrite()

    retention = RetentionSweep(
        companies=deps.companies,
        store=MongoRetention(database),
        files=files,
        traces=RecordedTraces(service.nats, bus),
        erasure=erasure,
        after_run=clean_up,
        clock=clock,
    )
    _serve_deletions(service, erasure, receipts, retention)
    withdrawals = MongoWithdrawals(database)
    service.serve(WITHDRAW, withdrawals.add)
    service.serve(WITHDRAWN, withdrawals.has)
    service.serve(FILE_KEEP, shares.keep)
    late = LateFacts(
        tombstones=tombstones, store=store, bus=bus, log=deps.log, floor=deps.floor, drop=drop_projected, clock=clock
    )
    return ErasureParts(erasure, late, cache, _sweeps(deps.settings, erasure, retention, files))


def _sweeps(
    settings: MemorySettings, erasure: DataErasure, retention: RetentionSweep, files: KeptFiles
) -> tuple[PeriodicSweep, ...]:
    interval = settings.forgetting_sweep
    return (
        PeriodicSweep("deletions to repeat", interval, erasure.sweep, idle_seconds=2.5 * interval),
        PeriodicSweep("what is old", settings.keeping_sweep, retention.sweep),
        PeriodicSweep("files that no message names", settings.keeping_sweep, files.sweep),
    )


def _serve_deletions(
    service: Service, erasure: DataErasure, receipts: MongoReceipts, retention: RetentionSweep
) -> None:
    async def erase(request: erasure_rpc.EraseRequest) -> erasure_rpc.EraseReply:
        company, name, receipt = request.company_id, request.name, request.receipt_id
        if request.kind == "conversation":
            erasure_receipt = await erasure.conversations(request.kind, company, [name], by=request.by, receipt=receipt)
        else:
            erasure_receipt = await erasure.person(request.kind, company, name, by=request.by, receipt=receipt)
        return erasure_rpc.EraseReply(receipt=erasure_receipt)

    async def get_receipt(request: erasure_rpc.ReceiptRef) -> erasure_rpc.ReceiptReply:
        record = await receipts.get(request.company_id, request.receipt_id)
        return erasure_rpc.ReceiptReply(receipt=receipt_view(record) if record else None)

    async def list_receipts(request: erasure_rpc.ReceiptsRequest) -> erasure_rpc.ReceiptsReply:
        page = await receipts.page(request.company_id, request.limit, request.cursor)
        return erasure_rpc.ReceiptsReply(items=[receipt_view(record) for record in page.items], next=page.next)

    service.serve(COMPANY_DELETE, erasure.company)
    service.serve(erasure_rpc.ERASE, erase)
    service.serve(erasure_rpc.RECEIPT, get_receipt)
    service.serve(erasure_rpc.RECEIPTS, list_receipts)
    service.serve(erasure_rpc.KEEPING, retention.preview)
