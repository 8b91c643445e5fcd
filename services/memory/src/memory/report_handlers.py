"""Consumes visitors' ratings, and serves reports."""

from contracts.envelope import CloudEvent
from contracts.events.fact import ConversationRated
from contracts.report_rpc import (
    RATING,
    REPORT,
    REPORT_OPEN,
    RatingReply,
    ReportOpenReply,
    ReportOpenRequest,
    ReportReply,
    ReportRequest,
)
from contracts.rpc import ConversationRef
from memory.adapters.mongo_reports import MongoReports
from memory.application.reports import Reports
from memory.domain.rating import Satisfaction
from memory.handlers import FactIntake, fact_owner, take_in
from runtime.outcomes import Ack, DeadLetter, Outcome
from runtime.pull_worker import Delivery
from runtime.service import Service

CONVERSATION_RATED = "conversation.rated.v1"
SATISFACTIONS = "memory-satisfactions"


def consume(intake: FactIntake, ratings: MongoReports) -> None:

    async def take(delivery: Delivery, event: CloudEvent[ConversationRated]) -> Outcome:
        return await rate(ratings, delivery.subject, event)

    take_in(intake, CONVERSATION_RATED, SATISFACTIONS, CloudEvent[ConversationRated], take)


async def rate(ratings: MongoReports, subject: str, event: CloudEvent[ConversationRated]) -> Ack | DeadLetter:
    owner = fact_owner(CONVERSATION_RATED, subject)
    if owner is None:
        return DeadLetter("the subject names no company and user")
    data = event.data
    user = owner[1] or data.user_id
    await ratings.rate(Satisfaction(owner[0], data.conversation_id, user, data.score, data.comment, event.time))
    return Ack()


def serve(service: Service, reports: Reports) -> None:

    async def report(request: ReportRequest) -> ReportReply:
        return await reports.report(request.company_id, request.since, request.until, request.by)

    async def behind(request: ReportOpenRequest) -> ReportOpenReply:
        return await reports.behind(
            request.company_id, request.since, request.until, request.by, request.key, request.figure
        )

    async def rating(request: ConversationRef) -> RatingReply:
        return RatingReply(rating=await reports.rating(request.company_id, request.conversation_id))

    service.serve(REPORT, report)
    service.serve(REPORT_OPEN, behind)
    service.serve(RATING, rating)
