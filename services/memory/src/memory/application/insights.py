"""Insights into a company's assistant, counted on request from stored conversations and ratings."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date

from contracts.insight_rpc import Complaint, InsightsDay, InsightsReply
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_ratings import MongoRatings
from memory.domain.conversation import ConversationOutcome
from memory.domain.rating import Rating

MOST_CONVERSATIONS = 20_000
MOST_RATINGS = 20_000
MOST_COMPLAINTS = 50


@dataclass(slots=True)
class _Day:
    conversations: int = 0
    answers: int = 0
    handed_off: int = 0
    failed: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0


class Insights:
    """The insights of all companies."""

    def __init__(self, *, conversations: MongoConversations, ratings: MongoRatings) -> None:
        self._conversations = conversations
        self._ratings = ratings

    async def rated(self, rating: Rating) -> None:
        """Stores a rating of an answer; repeating it changes nothing. Raises StoreUnavailable."""
        await self._ratings.put(rating)

    async def report(self, company: str, since: date, until: date) -> InsightsReply:
        """The days that were asked for; raises StoreUnavailable."""
        outcomes = await self._conversations.outcomes(company, since, until, MOST_CONVERSATIONS + 1)
        ratings = await self._ratings.between(company, since, until, MOST_RATINGS)
        days = _by_day(outcomes[:MOST_CONVERSATIONS], ratings)
        bad = sorted((rating for rating in ratings if rating.given == "down"), key=lambda rating: rating.at)
        return InsightsReply(
            days=[
                InsightsDay(
                    date=day,
                    conversations=found.conversations,
                    answers=found.answers,
                    handed_off=found.handed_off,
                    failed=found.failed,
                    thumbs_up=found.thumbs_up,
                    thumbs_down=found.thumbs_down,
                )
                for day, found in sorted(days.items())
            ],
            complaints=[
                Complaint(conversation_id=one.conversation, message_id=one.message, reason=one.reason, given_at=one.at)
                for one in bad[: -MOST_COMPLAINTS - 1 : -1]
            ],
            complete=len(outcomes) <= MOST_CONVERSATIONS and len(ratings) < MOST_RATINGS,
        )


def _by_day(outcomes: list[ConversationOutcome], ratings: list[Rating]) -> dict[date, _Day]:
    days: defaultdict[date, _Day] = defaultdict(_Day)
    for outcome in outcomes:
        day = days[outcome.day]
        day.conversations += 1
        day.answers += outcome.answers
        day.handed_off += outcome.handed_off
        day.failed += outcome.failed
    for rating in ratings:
        day = days[rating.at.astimezone(UTC).date()]
        if rating.given == "up":
            day.thumbs_up += 1
        else:
            day.thumbs_down += 1
    return days
