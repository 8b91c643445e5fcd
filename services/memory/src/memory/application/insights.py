"""Insights into a company's assistant, counted on request from stored conversations and ratings."""

from collections import Counter, defaultdict
from datetime import UTC, date

from contracts.insight_rpc import Complaint, InsightsDay, InsightsReply, InsightsRequest
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_ratings import MongoRatings
from memory.domain.conversation import ConversationOutcome
from memory.domain.rating import Rating

MOST_CONVERSATIONS = 20_000
MOST_RATINGS = 20_000
MOST_COMPLAINTS = 50


class Insights:
    """The insights of all companies."""

    def __init__(self, *, conversations: MongoConversations, ratings: MongoRatings) -> None:
        self._conversations = conversations
        self._ratings = ratings

    async def report(self, asked: InsightsRequest) -> InsightsReply:
        """The days that were asked for; raises StoreUnavailableError."""
        days = asked.company_id, asked.since, asked.until
        outcomes = await self._conversations.outcomes(*days, MOST_CONVERSATIONS + 1)
        ratings = await self._ratings.between(*days, MOST_RATINGS)
        bad = sorted((rating for rating in ratings if rating.given == "down"), key=lambda rating: rating.at)
        return InsightsReply(
            days=_by_day(outcomes[:MOST_CONVERSATIONS], ratings),
            complaints=[
                Complaint(conversation_id=one.conversation, message_id=one.message, reason=one.reason, given_at=one.at)
                for one in bad[: -MOST_COMPLAINTS - 1 : -1]
            ],
            complete=len(outcomes) <= MOST_CONVERSATIONS and len(ratings) < MOST_RATINGS,
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
        days[day]["thumbs_up" if rating.given == "up" else "thumbs_down"] += 1
    counted = InsightsDay.model_fields.keys() - {"date"}
    return [InsightsDay(date=day, **{name: found[name] for name in counted}) for day, found in sorted(days.items())]
