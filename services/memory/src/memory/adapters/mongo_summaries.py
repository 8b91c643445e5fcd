"""The collection `summaries`: {_id: company/conversation, version, text, upTo (position), messages, updatedAt}.

`version` is derived from the content, so that saving the same summary again gives the same version.
"""

from dataclasses import dataclass
from datetime import datetime

from memory.adapters.mongo import replace_version, store_errors
from memory.domain.keys import LogPosition, conversation_key, position_of
from runtime.stores.mongo import Collection, Document


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary of every message up to a position."""

    text: str
    up_to: LogPosition
    messages: int
    version: str
    at: datetime


class MongoSummaries:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def load(self, company: str, conversation: str) -> StoredSummary | None:
        async with store_errors("read a summary"):
            row = await self._rows.find_one({"_id": conversation_key(company, conversation)})
        return None if row is None else _summary(row)

    async def save(self, company: str, conversation: str, summary: StoredSummary, previous_version: str | None) -> bool:
        """Replaces `previous_version` (None: there is none); returns False if another version is stored."""
        row: Document = {
            "_id": conversation_key(company, conversation),
            "version": summary.version,
            "text": summary.text,
            "upTo": str(summary.up_to),
            "messages": summary.messages,
            "updatedAt": summary.at.isoformat(),
        }
        async with store_errors("store a summary"):
            return await replace_version(self._rows, row, previous_version)


def _summary(row: Document) -> StoredSummary:
    return StoredSummary(
        text=str(row["text"]),
        up_to=position_of(row["upTo"]),
        messages=int(row["messages"]),
        version=str(row["version"]),
        at=datetime.fromisoformat(row["updatedAt"]),
    )
