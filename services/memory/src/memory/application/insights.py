"""Insights into a company's assistant, counted on request from stored conversations and ratings."""

from collections import Counter, defaultdict
from datetime import UTC, date

from contracts.insight_rpc import Complaint, InsightsDay, InsightsReply, InsightsRequest
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_ratings import MongoRatings, Rating
from memory.domain.conversation import ConversationOutcome

MAX_CONVERSATIONS = 20_000
MAX_RATINGS = 20_000
MAX_COMPLAINTS = 50


async def insights(conversations: MongoConversations, ratings: MongoRatings, request: InsightsRequest) -> InsightsReply:
    """The insights for the requested days; raises StoreUnavailableError."""
    period = request.company_id, request.since, request.until
    outcomes = await conversations.outcomes(*period, MAX_CONVERSATIONS + 1)
    period_ratings = await ratings.between(*period, MAX_RATINGS)
    thumbs_down = sorted((rating for rating in period_ratings if rating.thumb == "down"), key=lambda rating: rating.at)
    return InsightsReply(
        days=_by_day(outcomes[:MAX_CONVERSATIONS], period_ratings),
        complaints=[
            Complaint(
                conversation_id=rating.conversation,
                message_id=rating.message,
                reason=rating.reason,
                given_at=rating.at,
            )
            for rating in thumbs_down[: -MAX_COMPLAINTS - 1 : -1]
        ],
        complete=len(outcomes) <= MAX_CONVERSATIONS and len(period_ratings) < MAX_RATINGS,
    )


def _by_day(outcomes: list[ConversationOutcome], ratings: list[Rating]) -> list[InsightsDay]:
    days: defaultdict[date, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        counts = {
            "conversations": 1,
            "answers": outcome.answers,
            "handed_off": int(outcome.handed_off),
            "failed": int(outcome.failed),
        }
        days[outcome.day].update(counts)
    for rating in ratings:
        day = rating.at.astimezone(UTC).date()
        days[day]["thumbs_up" if rating.thumb == "up" else "thumbs_down"] += 1
    count_names = InsightsDay.model_fields.keys() - {"date"}
    return [InsightsDay(date=day, **{name: count[name] for name in count_names}) for day, count in sorted(days.items())]
