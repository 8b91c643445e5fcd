"""Methods and facts about contexts of customers' turns: summaries and short-term memories included."""

from functools import partial

from contracts import context_rpc
from contracts.envelope import CloudEvent
from contracts.events.market import ActionDecided
from contracts.memory_rpc import UserRef
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_summaries import MongoSummaries
from memory.adapters.redis_short_term import RedisShortTerm
from memory.adapters.tool_catalogue import ToolCatalogue
from memory.application.activity import Activity
from memory.application.contexts import ContextBuilder, PassageSearch
from memory.application.conversation_context import PastConversations
from memory.application.history import HistoryReader
from memory.application.learner import Learner
from memory.application.memories import Memories
from memory.deps import Deps
from memory.domain.short_term import UserActivity
from memory.fact_intake import MISPLACED, FactIntake, FactType, ReceivedFact, consume_facts
from runtime.clock import Clock
from runtime.lifecycle.service import Service
from runtime.workers.outcomes import Ack, DeadLetter

ACTIONS = FactType("action.decided.v1", "memory-actions", CloudEvent[ActionDecided])


async def clear_action(activity: Activity, fact: ReceivedFact[ActionDecided]) -> Ack | DeadLetter:
    """Removes an action that is no longer pending."""
    if fact.user is None:
        return MISPLACED
    await activity.clear_action(fact.company, fact.user, fact.data.action.id, fact.event.time)
    return Ack()


def serve(
    deps: Deps,
    memories: Memories,
    learner: Learner,
    histories: HistoryReader,
    knowledge: PassageSearch,
) -> Activity:
    """Serves what memory supplies for a customer's turn. Returns the customers' activity, and consumes the facts that
    end a pending action."""
    service, database, clock = deps.service, deps.database, deps.clock
    short_term = RedisShortTerm(deps.redis, clock)
    conversations = PastConversations(
        histories=histories,
        conversations=deps.conversations,
        summaries=MongoSummaries(database["summaries"]),
        uses=MongoExecutions(database["executions"]),
        market=deps.market,
        log=deps.log,
        clock=clock,
    )
    contexts = ContextBuilder(
        memories=memories,
        conversations=conversations,
        short_term=short_term,
        market=deps.market,
        tools=ToolCatalogue(service.rpc),
        clock=clock,
        seconds=deps.settings.context_part,
        knowledge=knowledge,
        caught_up=learner.caught_up,
    )
    service.serve(context_rpc.CONTEXT, contexts.build)
    service.serve(context_rpc.SUMMARY_SAVE, conversations.save)
    _serve_short_term(service, short_term, clock)
    activity = Activity(
        store=short_term,
        conversations=deps.stored_conversations,
        principals=deps.principals,
        market=deps.market,
        clock=clock,
    )
    # Retried while Redis is unavailable, for an hour at most. Pending actions are only in Redis, which forgets them
    # within the hour: there are no late facts to filter.
    consume_facts(FactIntake(service, None), ACTIONS, partial(clear_action, activity))
    return activity


def _serve_short_term(service: Service, short_term: RedisShortTerm, clock: Clock) -> None:

    async def get(request: UserRef) -> context_rpc.ShortTermReply:
        return context_rpc.ShortTermReply(memory=await short_term.get(request.company_id, request.user_id))

    async def update(request: context_rpc.ShortTermUpdate) -> context_rpc.ShortTermReply:
        user_activity = UserActivity(
            clock.now(), request.conversation_id, request.symbols, request.add_actions, request.clear_actions
        )
        await short_term.update(request.company_id, request.user_id, user_activity)
        return context_rpc.ShortTermReply(memory=await short_term.get(request.company_id, request.user_id))

    async def clear(request: UserRef) -> context_rpc.ShortTermCleared:
        return context_rpc.ShortTermCleared(cleared=await short_term.clear(request.company_id, request.user_id))

    service.serve(context_rpc.SHORT_TERM_GET, get)
    service.serve(context_rpc.SHORT_TERM_UPDATE, update)
    service.serve(context_rpc.SHORT_TERM_CLEAR, clear)
