"""Consumes ratings of answers, and serves insights."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven
from contracts.insight_rpc import INSIGHTS, InsightsReply, InsightsRequest
from memory.application.insights import Insights
from memory.domain.rating import Rating
from memory.handlers import FactIntake, fact_owner, take_in
from runtime.outcomes import Ack, DeadLetter, Outcome, Retry
from runtime.pull_worker import Delivery
from runtime.service import Service

FEEDBACK_GIVEN = "feedback.given.v1"
RATINGS = "memory-ratings"


EARLY = 5
"""How many deliveries a rating waits for its answer to be stored."""
SOON = 0.5
Told = Callable[[str, FeedbackGiven, datetime], Awaitable[bool]]


def consume(intake: FactIntake, insights: Insights, told: Told) -> None:
    """The facts that are counted. `told` is called for each too; False: the rated answer is not known yet."""

    async def take(delivery: Delivery, event: CloudEvent[FeedbackGiven]) -> Outcome:
        outcome = await rate(insights, delivery.subject, event)
        owner = fact_owner(FEEDBACK_GIVEN, delivery.subject)
        if owner and not await told(owner[0], event.data, event.time) and delivery.num_delivered < EARLY:
            return Retry(SOON)
        return outcome

    take_in(intake, FEEDBACK_GIVEN, RATINGS, CloudEvent[FeedbackGiven], take)


async def rate(insights: Insights, subject: str, event: CloudEvent[FeedbackGiven]) -> Ack | DeadLetter:
    owner = fact_owner(FEEDBACK_GIVEN, subject)
    if owner is None:
        return DeadLetter("the subject names no company and user")
    data = event.data
    rating = Rating(
        company=owner[0],
        conversation=data.conversation_id,
        message=data.message_id,
        user=owner[1] or data.user_id,
        given=data.rating,
        reason=data.reason,
        at=event.time,
    )
    await insights.rated(rating)
    return Ack()


def serve(service: Service, insights: Insights) -> None:

    async def report(request: InsightsRequest) -> InsightsReply:
        return await insights.report(request.company_id, request.since, request.until)

    service.serve(INSIGHTS, report)
