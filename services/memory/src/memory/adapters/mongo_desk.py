"""The collections of the desk.

`updates` and `notes`: {_id: company/conversation/id, key: company/conversation/position, event: the data as JSON}; the
position is the time at which FACTS stored it and its sequence there, the earliest of all copies. A note's `namedKeys`
are company/name/position, one for each @name in it; its `namedAt` is the position. `replies`: {_id: company/shortcut,
text}.
"""

from collections.abc import Sequence

from pymongo import ASCENDING, DESCENDING

from contracts import desk_rpc
from contracts.desk_rpc import NamedNote, NoteView
from contracts.events.desk import ConversationUpdated, NoteAdded
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.desk import Update, folded, note_view
from memory.domain.keys import END, LogPosition, conversation_key, fact_key, position_of
from runtime.stores.mongo import Collection, Database, Document

MAX_CHANGES = 500
"""Updates, and notes, of a conversation that are read at most, newest first; far more than people make."""
MAX_REPLIES = 500
MAX_MENTIONS = 50
"""Notes with an @name that are read at most, newest first."""


class MongoDesk:
    """Updates, notes and canned replies, each once under its id."""

    def __init__(self, database: Database) -> None:
        self._updates = database["updates"]
        self._notes = database["notes"]
        self._replies = database["replies"]

    async def add_update(self, update: Update) -> None:
        """Stores an update at its earliest position."""
        data = update.data
        await _add(self._updates, data.company_id, data.conversation_id, update.id, update.place, data.to_json())

    async def updates(self, company: str, conversation: str) -> list[Update]:
        """The newest updates of a conversation, oldest first."""
        updates: list[Update] = []
        for row in await _newest(self._updates, company, conversation):
            data = ConversationUpdated.model_validate_json(row["event"])
            updates.append(Update(row["_id"].split("/", 2)[2], position_of(row["key"]), data))
        return updates

    async def add_note(self, position: LogPosition, note: NoteAdded) -> None:
        """Stores a note at its earliest position."""
        keys = [_named_key(note.company_id, name, str(position)) for name in dict.fromkeys(map(folded, note.mentions))]
        event = note.to_json()
        mention_fields = {"namedKeys": keys, "namedAt": str(position)} if keys else None
        await _add(self._notes, note.company_id, note.conversation_id, note.note_id, position, event, mention_fields)

    async def note(self, company: str, conversation: str, note: str) -> NoteView | None:
        """A note as it was first written; None if it does not exist."""
        async with store_errors("read a note"):
            row = await self._notes.find_one({"_id": f"{conversation_key(company, conversation)}/{note}"})
        return None if row is None else _note(row)

    async def notes(self, company: str, conversation: str) -> list[NoteView]:
        """The newest notes of a conversation, oldest first."""
        return [_note(row) for row in await _newest(self._notes, company, conversation)]

    async def named(self, company: str, names: Sequence[str], author: str, since: int = 0) -> list[NamedNote]:
        """The newest notes with one of these @names, newest first, without those of `author`; with `since`, only those
        stored after that (ms since the epoch)."""
        rows: dict[str, Document] = {}
        async with store_errors("read mentions"):
            for name in names:  # one by one, since for an `$or` the embedded server would read every note
                first, last = _named_key(company, name, f"{since:013d}/{END}"), _named_key(company, name, END)
                cursor = self._notes.find({"namedKeys": {"$elemMatch": {"$gt": first, "$lt": last}}})
                # Sorted by a separate field: an array is sorted by its largest element, which may belong to another
                # name.
                newest = await cursor.sort("namedAt", DESCENDING).limit(MAX_MENTIONS).to_list()
                rows |= {row["_id"]: row for row in newest}
        newest = sorted(rows.values(), key=lambda row: row["namedAt"], reverse=True)[:MAX_MENTIONS]
        notes = [NamedNote(conversation_id=row["_id"].split("/", 2)[1], note=_note(row)) for row in newest]
        return [item for item in notes if item.note.by != author]

    async def replies(self, request: desk_rpc.CannedRepliesRequest) -> desk_rpc.CannedReplies:
        """A company's canned replies, by shortcut."""
        query = {"_id": keys_under(request.company_id)}
        async with store_errors("read canned replies"):
            rows = await self._replies.find(query).sort("_id", ASCENDING).limit(MAX_REPLIES).to_list()
        items = [desk_rpc.CannedReply(shortcut=row["_id"].split("/", 1)[1], text=row["text"]) for row in rows]
        return desk_rpc.CannedReplies(items=items)

    async def put_reply(self, request: desk_rpc.CannedReplyRequest) -> desk_rpc.CannedReplySaved:
        """Stores a canned reply; it replaces the one with the same shortcut."""
        reply = request.reply
        row: Document = {"_id": f"{request.company_id}/{reply.shortcut}", "text": reply.text}
        async with store_errors("store a canned reply"):
            await self._replies.replace_one({"_id": row["_id"]}, row, upsert=True)
        return desk_rpc.CannedReplySaved(reply=reply)

    async def delete_reply(self, request: desk_rpc.CannedReplyRef) -> desk_rpc.CannedReplyGone:
        async with store_errors("delete a canned reply"):
            result = await self._replies.delete_one({"_id": f"{request.company_id}/{request.shortcut}"})
        return desk_rpc.CannedReplyGone(deleted=result.deleted_count == 1)


def _note(row: Document) -> NoteView:
    return note_view(position_of(row["key"]), NoteAdded.model_validate_json(row["event"]))


def _named_key(company: str, name: str, position: str) -> str:
    return f"{company}/{name}/{position}"


async def _add(
    rows: Collection,
    company: str,
    conversation: str,
    item_id: str,
    position: LogPosition,
    event: bytes,
    extra_fields: Document | None = None,
) -> None:
    row_id = f"{conversation_key(company, conversation)}/{item_id}"
    update = {
        "$min": {"key": fact_key(company, conversation, position)},
        "$setOnInsert": {"event": event.decode(), **(extra_fields or {})},
    }
    async with store_errors("store a desk change"):
        await rows.update_one({"_id": row_id}, update, upsert=True)


async def _newest(rows: Collection, company: str, conversation: str) -> list[Document]:
    prefix = conversation_key(company, conversation)
    query = {"key": keys_under(prefix)}
    async with store_errors("read desk changes"):
        newest_first = await rows.find(query).sort("key", DESCENDING).limit(MAX_CHANGES).to_list()
    return newest_first[::-1]
