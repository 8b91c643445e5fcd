"""Methods of users' memories, and the facts of their tool calls, from which memory learns too."""

from functools import partial

from contracts import memory_rpc
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted
from contracts.ids import uuid7
from contracts.symbols import InvalidSymbolError, parse_symbol
from memory.adapters.mongo_executions import MongoExecutions
from memory.application.erasure import DataErasure
from memory.application.exports import Exports
from memory.application.inbox import Inbox
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.deps import Deps
from memory.domain.references import referred_part
from memory.fact_intake import FactIntake, FactType, ReceivedFact, consume_facts
from runtime.workers.outcomes import Ack

CALLS = FactType("tools.call.completed.v1", "memory-executions", CloudEvent[ToolCallCompleted])
WATCHLISTS = "memory-watchlists"
"""A consumer of earlier releases, whose facts now come through that of the executions."""
ADD_TO_WATCHLIST = "add_to_watchlist"


async def record(executions: MongoExecutions, fact: ReceivedFact[ToolCallCompleted]) -> None:
    """Stores a tool call's outcome."""
    call = fact.data.model_copy(update={"company_id": fact.company, "user_id": fact.user})
    await executions.add(fact.company, fact.event.id, fact.event.time, call)


async def learn_from_watchlist(learner: Learner, fact: ReceivedFact[ToolCallCompleted]) -> None:
    """Makes a symbol that a user has added to their watchlist a favourite."""
    call = fact.data
    if not fact.user or call.tool != ADD_TO_WATCHLIST or not call.result.success:
        return
    try:
        symbol = parse_symbol(str(call.arguments.get("symbol"))).name
    except InvalidSymbolError:
        return
    await learner.add_favourite(fact.company, fact.user, symbol, call.call_id, fact.event.time)


def serve(
    deps: Deps, intake: FactIntake, memories: Memories, learner: Learner, inbox: Inbox, erasure: DataErasure
) -> None:
    """Serves what is remembered about users. Stores their tool calls and learns from them; answers are learned from in
    adapters/chat_consumer."""
    service, executions = deps.service, MongoExecutions(deps.fact_database["executions"])
    exports = Exports(memories=memories, conversations=deps.conversations, inbox=inbox)

    async def called(fact: ReceivedFact[ToolCallCompleted]) -> Ack:
        await record(executions, fact)
        await learn_from_watchlist(learner, fact)
        return Ack()

    async def get(request: memory_rpc.UserRef) -> memory_rpc.MemoryReply:
        await learner.caught_up()
        memory, version = await memories.read(request.company_id, request.user_id)
        return memory_rpc.MemoryReply(memory=memory, version=version)

    async def find_meant(request: memory_rpc.MeantRequest) -> memory_rpc.MeantReply:
        await learner.caught_up()
        memory, version = await memories.read(request.company_id, request.user_id)
        return referred_part(memory, request.about, request.symbols).model_copy(update={"version": version})

    async def delete(request: memory_rpc.UserRef) -> memory_rpc.MemoryDeleteReply:
        return memory_rpc.MemoryDeleteReply(deleted=await learner.forget(request.company_id, request.user_id))

    async def forget(request: memory_rpc.UserRef) -> memory_rpc.UserForgotten:
        receipt = await erasure.person("user", request.company_id, request.user_id, by="self", receipt=uuid7())
        return memory_rpc.UserForgotten(conversations=receipt.conversations)

    service.serve(memory_rpc.MEMORY_GET, get)
    service.serve(memory_rpc.MEMORY_MEANT, find_meant)
    service.serve(memory_rpc.MEMORY_PATCH, memories.correct)
    service.serve(memory_rpc.MEMORY_DELETE, delete)
    service.serve(memory_rpc.MEMORY_EXPORT, exports.page)
    service.serve(memory_rpc.USER_FORGET, forget)
    consume_facts(intake, CALLS, called)
    intake.read_again(CALLS, partial(record, executions))
    intake.read_again(CALLS, partial(learn_from_watchlist, learner), stored_as=WATCHLISTS)
