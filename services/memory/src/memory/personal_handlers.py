"""The methods and facts about users and about what companies use, one thin function each."""

from collections.abc import Sequence
from datetime import UTC

from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.fact import UsageRecorded
from contracts.events.tool import ToolCallCompleted
from contracts.memory_rpc import (
    MEMORY_DELETE,
    MEMORY_EXPORT,
    MEMORY_GET,
    MEMORY_MEANT,
    MEMORY_PATCH,
    USAGE,
    USER_FORGET,
    BudgetSettleRequest,
    MeantReply,
    MeantRequest,
    MemoryDeleteReply,
    MemoryExportReply,
    MemoryExportRequest,
    MemoryPatchRequest,
    MemoryReply,
    UsageReply,
    UsageRequest,
    UserForgotten,
    UserRef,
)
from contracts.symbols import InvalidSymbolError, parse_symbol
from memory.adapters.mongo_executions import MongoExecutions
from memory.application.budgets import BudgetBook
from memory.application.erasure import DataErasure
from memory.application.exports import Exports
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.application.usage import Usages
from memory.domain.meant import meant
from memory.handlers import (
    CALL_COMPLETED,
    EXECUTIONS,
    FactIntake,
    fact_owner,
    record,
    take_in,
    take_in_together,
)
from memory.ports import Spent
from runtime.outcomes import Ack, DeadLetter, Outcome
from runtime.pull_worker import Delivery
from runtime.service import Service

USAGE_RECORDED = "usage.recorded.v1"
USAGE_COUNTED = "memory-usage"
USAGE_LINGER = 1.0
"""Seconds for which usage is collected: for that long, a company's usage today may be too low, while the calls'
reservations still count."""
LEARNING, WATCHLISTS = "memory-learning", "memory-watchlists"
"""Consumers of earlier releases, whose facts now come through the projection's and the executions' consumers."""
ADD_TO_WATCHLIST = "add_to_watchlist"
TURN_ANSWERED = f"chat.*.*.{ChatKind.ASSISTANT.value}"


def learn(intake: FactIntake, learner: Learner, executions: MongoExecutions) -> None:
    """Processes tool calls: stores them and learns from them. Answers are learned from in adapters/chat_consumer."""

    async def called(delivery: Delivery, event: CloudEvent[ToolCallCompleted]) -> Outcome:
        return await call_completed(executions, learner, delivery.subject, event)

    take_in(intake, CALL_COMPLETED, EXECUTIONS, CloudEvent[ToolCallCompleted], called)


async def call_completed(
    executions: MongoExecutions, learner: Learner, subject: str, event: CloudEvent[ToolCallCompleted]
) -> Ack | DeadLetter:
    """Stores a tool call's outcome, and learns from it about its user."""
    recorded = await record(executions, subject, event)
    return recorded if isinstance(recorded, DeadLetter) else await watch(learner, subject, event)


async def watch(learner: Learner, subject: str, event: CloudEvent[ToolCallCompleted]) -> Ack:
    """Remembers that a user added a symbol to their watchlist."""
    owner = fact_owner(CALL_COMPLETED, subject)
    call = event.data
    symbol = call.arguments.get("symbol")
    if owner is not None and owner[1] and call.tool == ADD_TO_WATCHLIST and call.result.success:
        try:
            name = parse_symbol(str(symbol)).name
        except InvalidSymbolError:
            return Ack()
        await learner.watched(owner[0], owner[1], name, call.call_id, event.time)
    return Ack()


def serve(
    service: Service, memories: Memories, learner: Learner, exports: Exports, forgetting: DataErasure, usages: Usages
) -> None:
    """The methods that memory serves for users and admins."""
    personal = PersonalMethods(memories, learner, exports, forgetting, usages)
    service.serve(USAGE, personal.usage)
    service.serve(MEMORY_GET, personal.get)
    service.serve(MEMORY_MEANT, personal.meant)
    service.serve(MEMORY_PATCH, personal.patch)
    service.serve(MEMORY_DELETE, personal.delete)
    service.serve(MEMORY_EXPORT, personal.export)
    service.serve(USER_FORGET, personal.forget)


def consume(intake: FactIntake, usages: Usages, budgets: BudgetBook) -> None:
    """The usage facts, which are counted and settle their reservations."""

    async def take(given: Sequence[tuple[Delivery, CloudEvent[UsageRecorded]]]) -> Sequence[Outcome]:
        known = [spent(delivery.subject, event) for delivery, event in given]
        await usages.count([one for one in known if one is not None])
        await budgets.settle_all([each for delivery, event in given for each in settlements(delivery.subject, event)])
        return [DeadLetter("the subject names no company and user") if one is None else Ack() for one in known]

    take_in_together(intake, USAGE_RECORDED, USAGE_COUNTED, CloudEvent[UsageRecorded], take, linger=USAGE_LINGER)


async def count(usages: Usages, subject: str, event: CloudEvent[UsageRecorded]) -> None:
    """Adds a call's usage to its company's account."""
    one = spent(subject, event)
    await usages.count([one] if one is not None else [])


def spent(subject: str, event: CloudEvent[UsageRecorded]) -> Spent | None:
    """A call's usage; None: its subject names no company and user."""
    owner = fact_owner(USAGE_RECORDED, subject)
    if owner is None:
        return None
    data = event.data
    return Spent(
        company=owner[0],
        conversation=data.conversation_id,
        event_id=event.id,
        day=event.time.astimezone(UTC).date(),
        turn_id=data.turn_id,
        prompt_tokens=data.usage.prompt_tokens,
        completion_tokens=data.usage.completion_tokens,
        cost=data.cost or 0.0,
        unpriced=data.cost is None and data.usage.prompt_tokens + data.usage.completion_tokens > 0,
    )


async def settle(budgets: BudgetBook, subject: str, event: CloudEvent[UsageRecorded]) -> None:
    """Replaces a call's reservation by its usage."""
    await budgets.settle_all(settlements(subject, event))


def settlements(subject: str, event: CloudEvent[UsageRecorded]) -> list[BudgetSettleRequest]:
    """The reservations that the usage of one or several calls settles; the first one with all the usage. An agent
    may have settled them already by a call that may be lost; each counts once. None if the subject names no company."""
    owner, data = fact_owner(USAGE_RECORDED, subject), event.data
    if owner is None:
        return []
    held = [*([data.reservation] if data.reservation is not None else []), *(data.further or ())]
    return [
        BudgetSettleRequest(
            company_id=owner[0],
            reservation_id=one.id,
            reserved=one.tokens,
            used=0 if number else data.usage.prompt_tokens + data.usage.completion_tokens,
            reserved_at=one.at,
            payer=one.payer,
            tier=one.tier,
        )
        for number, one in enumerate(held)
    ]


class PersonalMethods:
    """What is remembered of a user, and a company's usage."""

    def __init__(
        self, memories: Memories, learner: Learner, exports: Exports, forgetting: DataErasure, usages: Usages
    ) -> None:
        self._memories = memories
        self._learner = learner
        self._exports = exports
        self._forgetting = forgetting
        self._usages = usages

    async def usage(self, request: UsageRequest) -> UsageReply:
        return await self._usages.report(request.company_id, request.since, request.until)

    async def get(self, request: UserRef) -> MemoryReply:
        await self._learner.caught_up()
        memory, version = await self._memories.read(request.company_id, request.user_id)
        return MemoryReply(memory=memory, version=version)

    async def meant(self, request: MeantRequest) -> MeantReply:
        await self._learner.caught_up()
        memory, version = await self._memories.read(request.company_id, request.user_id)
        return meant(memory, request.about, request.symbols).model_copy(update={"version": version})

    async def patch(self, request: MemoryPatchRequest) -> MemoryReply:
        return MemoryReply(
            memory=await self._memories.correct(
                request.company_id,
                request.user_id,
                request.patch,
                over=request.over,
                request=request.request_id,
                body=request.body,
                about=request.about,
                past=request.past or (),
                corrects=request.corrects or {},
            )
        )

    async def delete(self, request: UserRef) -> MemoryDeleteReply:
        return MemoryDeleteReply(deleted=await self._learner.forget(request.company_id, request.user_id))

    async def export(self, request: MemoryExportRequest) -> MemoryExportReply:
        return await self._exports.page(request.company_id, request.user_id, request.cursor)

    async def forget(self, request: UserRef) -> UserForgotten:
        return UserForgotten(conversations=await self._forgetting.forget(request.company_id, request.user_id))
