"""The collection `lessons`: {_id: company/conversation/turn, basis (position), at, tries, due}. A row exists only while
the market-adapter is unavailable; it contains nothing that was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.adapters.mongo import store_errors
from memory.domain.keys import LogPosition, conversation_key, position_of
from runtime.stores.mongo import Collection, Document


@dataclass(frozen=True, slots=True)
class PendingLesson:
    """An answered turn to learn from. `basis`: the answered message; `due`: when to try, in seconds since the epoch."""

    company: str
    conversation: str
    turn: str
    basis: LogPosition
    at: datetime
    tries: int = 0
    due: float = 0.0


class MongoLessons:
    """Turns that are still to be learned from; each method raises StoreUnavailableError."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def put(self, lesson: PendingLesson) -> None:
        """Stores a lesson; it replaces the one of the same turn."""
        row: Document = {
            "_id": _name(lesson),
            "basis": str(lesson.basis),
            "at": lesson.at.isoformat(),
            "tries": lesson.tries,
            "due": lesson.due,
        }
        async with store_errors("store a pending lesson"):
            await self._rows.replace_one({"_id": row["_id"]}, row, upsert=True)

    async def drop(self, lesson: PendingLesson) -> None:
        """Removes a lesson."""
        async with store_errors("delete a pending lesson"):
            await self._rows.delete_one({"_id": _name(lesson)})

    async def first(self, limit: int) -> Sequence[PendingLesson]:
        """The lessons that are due first, up to `limit`."""
        async with store_errors("read pending lessons"):
            rows = await self._rows.find({}).sort("due", 1).limit(limit).to_list()
        return [_lesson(row) for row in rows]


def _name(lesson: PendingLesson) -> str:
    return f"{conversation_key(lesson.company, lesson.conversation)}/{lesson.turn}"


def _lesson(row: Document) -> PendingLesson:
    company, conversation, turn = str(row["_id"]).split("/")
    return PendingLesson(
        company=company,
        conversation=conversation,
        turn=turn,
        basis=position_of(row["basis"]),
        at=datetime.fromisoformat(row["at"]),
        tries=int(row["tries"]),
        due=float(row["due"]),
    )
