"""The collection `lessons`: {_id: company/conversation/turn, basis (position), answered, at, tries, due, proposal?}. A
row exists while the market-adapter is unavailable, and then, with `proposal`, until a model has proposed what to
remember of the turn; it contains nothing that was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.adapters.mongo import store_errors
from memory.domain.keys import LogPosition, conversation_key, position_of
from runtime.stores.mongo import Collection, Document


@dataclass(frozen=True, slots=True)
class PendingLesson:
    """An answered turn to learn from, by the rules or, if `is_proposal`, by a model. `basis`: the answered message;
    `answered`: the sequence of the answer, 0 in rows of earlier releases; `due`: when to try, in
    seconds since the epoch."""

    company: str
    conversation: str
    turn: str
    basis: LogPosition
    answered: int
    at: datetime
    tries: int = 0
    due: float = 0.0
    is_proposal: bool = False


class MongoLessons:
    """Turns that are still to be learned from; each method raises StoreUnavailableError."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def put(self, lesson: PendingLesson) -> None:
        """Stores a lesson; it replaces the one of the same turn."""
        row = _row(lesson)
        async with store_errors("store a pending lesson"):
            await self._rows.replace_one({"_id": row["_id"]}, row, upsert=True)

    async def replace(self, lesson: PendingLesson, new: PendingLesson) -> bool:
        """Stores a lesson in place of an earlier state of it; returns whether that was still the stored one."""
        row = _row(lesson)
        async with store_errors("store a pending lesson"):
            replaced = await self._rows.replace_one({"_id": row["_id"], "due": row["due"]}, _row(new))
        return replaced.matched_count == 1

    async def drop(self, company: str, conversation: str, turn: str) -> None:
        """Removes the lesson of a turn."""
        async with store_errors("delete a pending lesson"):
            await self._rows.delete_one({"_id": _name(company, conversation, turn)})

    async def first(self, limit: int, *, proposals: bool) -> Sequence[PendingLesson]:
        """The lessons that are due first, up to `limit`: those for a model if `proposals`, else those for the rules."""
        async with store_errors("read pending lessons"):
            rows = await self._rows.find({"proposal": {"$exists": proposals}}).sort("due", 1).limit(limit).to_list()
        return [_lesson(row) for row in rows]


def _name(company: str, conversation: str, turn: str) -> str:
    return f"{conversation_key(company, conversation)}/{turn}"


def _row(lesson: PendingLesson) -> Document:
    row: Document = {
        "_id": _name(lesson.company, lesson.conversation, lesson.turn),
        "basis": str(lesson.basis),
        "answered": lesson.answered,
        "at": lesson.at.isoformat(),
        "tries": lesson.tries,
        "due": lesson.due,
    }
    return {**row, "proposal": True} if lesson.is_proposal else row


def _lesson(row: Document) -> PendingLesson:
    company, conversation, turn = str(row["_id"]).split("/")
    return PendingLesson(
        company=company,
        conversation=conversation,
        turn=turn,
        basis=position_of(row["basis"]),
        answered=int(row.get("answered", 0)),
        at=datetime.fromisoformat(row["at"]),
        tries=int(row["tries"]),
        due=float(row["due"]),
        is_proposal=bool(row.get("proposal")),
    )
