"""Methods and sweeps that delete users, conversations and companies from every store and stream, delete by age, and
withdraw responses for clients."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts import erasure_rpc
from contracts.company_rpc import COMPANY_DELETE
from contracts.file_rpc import FILE_KEEP, FileKeepReply, FileKeepRequest
from contracts.streams import FACTS
from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN, ResponseRef, WithdrawnReply, WithdrawReply, WithdrawRequest
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_file_shares import MongoFileShares
from memory.adapters.mongo_receipts import MongoReceipts
from memory.adapters.mongo_retention import MongoRetention
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.mongo_withdrawals import MongoWithdrawals
from memory.adapters.other_services import OtherServices
from memory.adapters.recorded_traces import RecordedTraces
from memory.application.companies import CompanyRegistry
from memory.application.company_deletion import CompanyDeletion
from memory.application.deleted_words import DeletedWords
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
    """The deletion of data, the filter for late facts, and the sweeps."""

    erasure: DataErasure
    late: LateFacts
    sweeps: tuple[PeriodicSweep, ...]


def serve(
    deps: Deps,
    *,
    cache: CacheErasure,
    knowledge: KnowledgePart,
    companies: CompanyRegistry,
    memories: Memories,
    drop: ConversationDropper,
) -> ErasureParts:
    """Serves the methods of deletion. `drop` removes conversations from this process's caches."""
    service, database, clock = deps.service, deps.database, deps.clock
    file_settings = FileSettings()
    storage = file_store(file_settings, clock)
    store, bus = MongoErasure(database, knowledge.forget_conversations), StreamErasure(service.nats)
    shares = MongoFileShares(database, file_settings.company_megabytes * 1_000_000)
    files = KeptFiles(storage, MongoFacts(database["facts"]), shares, clock)
    if storage is not None:
        service.on_stop(storage.close)
    others = OtherServices(service.rpc)
    receipts, tombstones = MongoReceipts(database), MongoTombstones(database)
    erasure = DataErasure(
        store=store,
        receipts=receipts,
        tombstones=tombstones,
        bus=bus,
        cache=cache,
        files=files,
        others=others,
        deleted_words=DeletedWords(memories, MongoFacts(database["facts"]), clock),
        log=deps.log,
        floor=deps.floor,
        clock=clock,
    )
    deletion = CompanyDeletion(
        companies,
        knowledge.forget,
        erasure.stored,
        *(store_part.erase_company for store_part in (bus, store, cache, others, files)),
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
    _serve_deletions(service, erasure, deletion, receipts, retention)
    _serve_withdrawals(service, MongoWithdrawals(database))
    _serve_quotas(service, shares)
    late = LateFacts(
        tombstones=tombstones, store=store, bus=bus, log=deps.log, floor=deps.floor, drop=drop, clock=clock
    )
    return ErasureParts(erasure, late, _sweeps(deps.settings, erasure, retention, files))


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
    service: Service,
    erasure: DataErasure,
    deletion: CompanyDeletion,
    receipts: MongoReceipts,
    retention: RetentionSweep,
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

    service.serve(COMPANY_DELETE, deletion.delete)
    service.serve(erasure_rpc.ERASE, erase)
    service.serve(erasure_rpc.RECEIPT, get_receipt)
    service.serve(erasure_rpc.RECEIPTS, list_receipts)
    service.serve(erasure_rpc.KEEPING, retention.preview)


def _serve_withdrawals(service: Service, withdrawals: MongoWithdrawals) -> None:

    async def withdraw(request: WithdrawRequest) -> WithdrawReply:
        company, conversation = request.company_id, request.conversation_id
        return WithdrawReply(
            withdrawn=await withdrawals.add(company, conversation, request.response, request.request_id)
        )

    async def withdrawn(request: ResponseRef) -> WithdrawnReply:
        return WithdrawnReply(
            withdrawn=await withdrawals.is_withdrawn(request.company_id, request.conversation_id, request.response)
        )

    service.serve(WITHDRAW, withdraw)
    service.serve(WITHDRAWN, withdrawn)


def _serve_quotas(service: Service, shares: MongoFileShares) -> None:
    async def keep(request: FileKeepRequest) -> FileKeepReply:
        kept = await shares.keep(request.company_id, request.conversation_id, request.file_id, request.size)
        return FileKeepReply(kept=kept, most=shares.quota)

    service.serve(FILE_KEEP, keep)
