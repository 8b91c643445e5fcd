"""Facts of ratings of answers and of conversations, and the methods of insights and reports."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from contracts.envelope import CloudEvent
from contracts.events.fact import ConversationRated, FeedbackGiven
from contracts.insight_rpc import INSIGHTS
from contracts.report_rpc import RATING, REPORT, REPORT_OPEN
from memory.adapters.mongo_ratings import MongoRatings
from memory.adapters.mongo_reports import MongoReports
from memory.application.inbox import Inbox
from memory.application.insights import insights
from memory.application.reports import Reports
from memory.deps import Deps
from memory.fact_intake import FactIntake, FactType, ReceivedFact, consume_facts
from runtime.workers.outcomes import Ack, Outcome, Retry

ANSWER_RATINGS = FactType("feedback.given.v1", "memory-ratings", CloudEvent[FeedbackGiven])
CONVERSATION_RATINGS = FactType("conversation.rated.v1", "memory-satisfactions", CloudEvent[ConversationRated])
MAX_WAITS = 5
"""A rating waits up to this many deliveries for its answer to be stored."""
WAIT_SECONDS = 0.5
"""Pause between these deliveries."""
RatingListener = Callable[[str, FeedbackGiven, datetime], Awaitable[bool]]


def serve(deps: Deps, intake: FactIntake, inbox: Inbox, note_rating: RatingListener) -> Reports:
    """Serves insights and reports, and consumes the facts of ratings. `note_rating` is called for each rating of an
    answer; it returns False if the answer is not stored yet."""
    service = deps.service
    ratings, stored_reports = MongoRatings(deps.database["ratings"]), MongoReports(deps.fact_database)
    reports = Reports(
        store=MongoReports(deps.database), companies=deps.companies, fresh=inbox.fresh, clock=deps.floor.now
    )
    service.serve(INSIGHTS, partial(insights, deps.conversations, ratings))
    service.serve(REPORT, reports.report)
    service.serve(REPORT_OPEN, reports.conversations_counted)
    service.serve(RATING, reports.rating)

    async def take(fact: ReceivedFact[FeedbackGiven]) -> Outcome:
        await rate_answer(ratings, fact)
        is_known = await note_rating(fact.company, fact.data, fact.event.time)
        return Ack() if is_known or fact.deliveries >= MAX_WAITS else Retry(WAIT_SECONDS)

    rate = partial(rate_conversation, stored_reports)
    consume_facts(intake, ANSWER_RATINGS, take)
    consume_facts(intake, CONVERSATION_RATINGS, rate)
    intake.read_again(ANSWER_RATINGS, partial(rate_answer, ratings))
    intake.read_again(CONVERSATION_RATINGS, rate)
    return reports


async def rate_answer(ratings: MongoRatings, fact: ReceivedFact[FeedbackGiven]) -> None:
    await ratings.put(fact.company, fact.user or fact.data.user_id, fact.data, fact.event.time)


async def rate_conversation(reports: MongoReports, fact: ReceivedFact[ConversationRated]) -> Ack:
    await reports.rate(fact.company, fact.user or fact.data.user_id, fact.data, fact.event.time)
    return Ack()
