"""Ratings of answers and of conversations, and what is counted from them: insights and reports."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from contracts.envelope import CloudEvent
from contracts.events.fact import ConversationRated, FeedbackGiven
from contracts.insight_rpc import INSIGHTS
from contracts.report_rpc import (
    RATING,
    REPORT,
    REPORT_OPEN,
)
from memory.adapters.mongo_ratings import MongoRatings
from memory.adapters.mongo_reports import MongoReports
from memory.application.insights import Insights
from memory.application.reports import Reports
from memory.domain.rating import Rating, Satisfaction
from memory.fact_intake import FactIntake, FactType, TakenFact, take_in
from runtime.lifecycle.service import Service
from runtime.workers.outcomes import Ack, Outcome, Retry

ANSWER_RATINGS = FactType("feedback.given.v1", "memory-ratings", CloudEvent[FeedbackGiven])
CONVERSATION_RATINGS = FactType("conversation.rated.v1", "memory-satisfactions", CloudEvent[ConversationRated])
EARLY = 5
"""How many deliveries a rating waits for its answer to be stored."""
SOON = 0.5
"""Seconds between them."""
Told = Callable[[str, FeedbackGiven, datetime], Awaitable[bool]]


def consume(intake: FactIntake, ratings: MongoRatings, reports: MongoReports, told: Told) -> None:
    """The facts that are counted. `told` is called for each answer's; False: the rated answer is not known yet."""

    async def take(fact: TakenFact[FeedbackGiven]) -> Outcome:
        await rate_answer(ratings, fact)
        known = await told(fact.company, fact.data, fact.event.time)
        return Ack() if known or fact.deliveries >= EARLY else Retry(SOON)

    take_in(intake, ANSWER_RATINGS, take)
    take_in(intake, CONVERSATION_RATINGS, partial(rate_conversation, reports))


async def rate_answer(ratings: MongoRatings, fact: TakenFact[FeedbackGiven]) -> None:
    data = fact.data
    rating = Rating(
        company=fact.company,
        conversation=data.conversation_id,
        message=data.message_id,
        user=fact.user or data.user_id,
        given=data.rating,
        reason=data.reason,
        at=fact.event.time,
    )
    await ratings.put(rating)


async def rate_conversation(reports: MongoReports, fact: TakenFact[ConversationRated]) -> Ack:
    data, user = fact.data, fact.user or fact.data.user_id
    at = fact.event.time
    await reports.rate(Satisfaction(fact.company, data.conversation_id, user, data.score, data.comment, at))
    return Ack()


def serve(service: Service, insights: Insights, reports: Reports) -> None:
    service.serve(INSIGHTS, insights.report)
    service.serve(REPORT, reports.report)
    service.serve(REPORT_OPEN, reports.behind)
    service.serve(RATING, reports.rating)
