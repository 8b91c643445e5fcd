"""The methods and facts of contexts, summaries and short-term memories, one thin function each."""

from contracts.context_rpc import (
    CONTEXT,
    SHORT_TERM_CLEAR,
    SHORT_TERM_GET,
    SHORT_TERM_UPDATE,
    SUMMARY_SAVE,
    ShortTermCleared,
    ShortTermReply,
    ShortTermUpdate,
    SummarySaved,
    SummarySaveRequest,
)
from contracts.envelope import CloudEvent
from contracts.events.market import ActionDecided
from contracts.memory_rpc import UserRef
from memory.adapters.redis_short_term import RedisShortTerm
from memory.application.activity import Activity
from memory.application.contexts import ContextBuilder
from memory.application.conversation_context import PastConversations
from memory.domain.short_term import UserActivity
from memory.handlers import FactIntake, fact_owner, take_in
from runtime.clock import Clock
from runtime.outcomes import Ack, DeadLetter, Outcome
from runtime.pull_worker import Delivery
from runtime.service import Service

ACTION_DECIDED = "action.decided.v1"
ACTIONS = "memory-actions"


def consume(service: Service, activity: Activity) -> None:
    """The facts that end a waiting action."""

    # Tried for as long as Redis is away; after an hour nothing is left to do.
    async def take(delivery: Delivery, event: CloudEvent[ActionDecided]) -> Outcome:
        return await decide(activity, delivery.subject, event)

    # Redis alone holds what waits, and forgets it within the hour: nobody waits for MongoDB with it.
    take_in(FactIntake(service, None), ACTION_DECIDED, ACTIONS, CloudEvent[ActionDecided], take)


async def decide(activity: Activity, subject: str, event: CloudEvent[ActionDecided]) -> Ack | DeadLetter:
    """An action no longer waits."""
    owner = fact_owner(ACTION_DECIDED, subject)
    if owner is None or owner[1] is None:
        return DeadLetter("the subject names no company and user")
    await activity.decided(owner[0], owner[1], event.data.action.id, event.time)
    return Ack()


def serve(
    service: Service, contexts: ContextBuilder, talks: PastConversations, short_term: RedisShortTerm, clock: Clock
) -> None:
    """The methods that memory serves for a customer's turn."""
    methods = ContextMethods(talks, short_term, clock)
    service.serve(CONTEXT, contexts.build)
    service.serve(SUMMARY_SAVE, methods.save_summary)
    service.serve(SHORT_TERM_GET, methods.short_term)
    service.serve(SHORT_TERM_UPDATE, methods.update_short_term)
    service.serve(SHORT_TERM_CLEAR, methods.clear_short_term)


class ContextMethods:
    """What memory supplies for a customer's turn."""

    def __init__(self, talks: PastConversations, short_term: RedisShortTerm, clock: Clock) -> None:
        self._talks = talks
        self._short_term = short_term
        self._clock = clock

    async def save_summary(self, request: SummarySaveRequest) -> SummarySaved:
        saved, summary = await self._talks.save(request, self._clock.now())
        return SummarySaved(saved=saved, summary=summary)

    async def short_term(self, request: UserRef) -> ShortTermReply:
        return ShortTermReply(memory=await self._short_term.get(request.company_id, request.user_id))

    async def update_short_term(self, request: ShortTermUpdate) -> ShortTermReply:
        happening = UserActivity(
            self._clock.now(), request.conversation_id, request.symbols, request.add_actions, request.clear_actions
        )
        await self._short_term.update(request.company_id, request.user_id, happening)
        return ShortTermReply(memory=await self._short_term.get(request.company_id, request.user_id))

    async def clear_short_term(self, request: UserRef) -> ShortTermCleared:
        return ShortTermCleared(cleared=await self._short_term.clear(request.company_id, request.user_id))
