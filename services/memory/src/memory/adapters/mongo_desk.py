"""The collections of the desk.

`updates` and `notes`: {_id: company/conversation/id, key: company/conversation/place, event: the data as JSON}; `place`
is when FACTS stored it and its sequence there, the earliest of all copies. A note's `namedKeys` are company/name/place,
one for each @name in it, its `namedAt` the place. `replies`: {_id: company/shortcut, text}.
"""

from collections.abc import Sequence

from pymongo import ASCENDING, DESCENDING

from contracts.desk_rpc import CannedReply, NamedNote, NoteView
from contracts.events.desk import ConversationUpdated, NoteAdded
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.desk import Update, folded, note_view
from memory.domain.keys import END, LogPosition, conversation_key, fact_key, position_of
from runtime.stores.mongo import Collection, Database, Document

MOST = 500
"""The newest updates and notes of a conversation that are read; far more than people make."""
MOST_REPLIES = 500
MOST_NAMED = 50
"""The newest notes with an @name that are read."""


class MongoDesk:
    """Updates, notes and canned replies, each once under its id."""

    def __init__(self, database: Database) -> None:
        self._updates = database["updates"]
        self._notes = database["notes"]
        self._replies = database["replies"]

    async def add_update(self, update: Update) -> None:
        """Stores it at its earliest position."""
        data = update.data
        await _add(self._updates, data.company_id, data.conversation_id, update.id, update.place, data.to_json())

    async def updates(self, company: str, conversation: str) -> list[Update]:
        """The newest of a conversation, oldest first."""
        found: list[Update] = []
        for row in await _newest(self._updates, company, conversation):
            data = ConversationUpdated.model_validate_json(row["event"])
            found.append(Update(row["_id"].split("/", 2)[2], position_of(row["key"]), data))
        return found

    async def add_note(self, place: LogPosition, note: NoteAdded) -> None:
        """Stores it at its earliest position."""
        keys = [_named_key(note.company_id, name, str(place)) for name in dict.fromkeys(map(folded, note.mentions))]
        event = note.to_json()
        more = {"namedKeys": keys, "namedAt": str(place)} if keys else None
        await _add(self._notes, note.company_id, note.conversation_id, note.note_id, place, event, more)

    async def note(self, company: str, conversation: str, note: str) -> NoteView | None:
        """A note as first written; None: it is gone."""
        async with store_errors("read a note"):
            row = await self._notes.find_one({"_id": f"{conversation_key(company, conversation)}/{note}"})
        return None if row is None else _note(row)

    async def notes(self, company: str, conversation: str) -> list[NoteView]:
        """The newest of a conversation, oldest first."""
        return [_note(row) for row in await _newest(self._notes, company, conversation)]

    async def named(self, company: str, names: Sequence[str], without: str, since: int = 0) -> list[NamedNote]:
        """The newest notes with one of these @names, newest first, without those of one author; `since`: stored
        after that (ms since the epoch)."""
        rows: dict[str, Document] = {}
        async with store_errors("read mentions"):
            for name in names:  # for all at once by `$or` the embedded server would read every note
                first, last = _named_key(company, name, f"{since:013d}/{END}"), _named_key(company, name, END)
                theirs = self._notes.find({"namedKeys": {"$elemMatch": {"$gt": first, "$lt": last}}})
                # By a field of its own: an array is sorted by its largest element, which may be another name's.
                newest = await theirs.sort("namedAt", DESCENDING).limit(MOST_NAMED).to_list()
                rows |= {row["_id"]: row for row in newest}
        newest = sorted(rows.values(), key=lambda row: row["namedAt"], reverse=True)[:MOST_NAMED]
        found = [NamedNote(conversation_id=row["_id"].split("/", 2)[1], note=_note(row)) for row in newest]
        return [one for one in found if one.note.by != without]

    async def replies(self, company: str) -> list[CannedReply]:
        """A company's, by shortcut."""
        where = {"_id": keys_under(company)}
        async with store_errors("read canned replies"):
            rows = await self._replies.find(where).sort("_id", ASCENDING).limit(MOST_REPLIES).to_list()
        return [CannedReply(shortcut=row["_id"].split("/", 1)[1], text=row["text"]) for row in rows]

    async def put_reply(self, company: str, reply: CannedReply) -> None:
        """Replaces the reply with its shortcut."""
        row: Document = {"_id": f"{company}/{reply.shortcut}", "text": reply.text}
        async with store_errors("store a canned reply"):
            await self._replies.replace_one({"_id": row["_id"]}, row, upsert=True)

    async def delete_reply(self, company: str, shortcut: str) -> bool:
        """True when there was one."""
        async with store_errors("delete a canned reply"):
            return (await self._replies.delete_one({"_id": f"{company}/{shortcut}"})).deleted_count == 1


def _note(row: Document) -> NoteView:
    return note_view(position_of(row["key"]), NoteAdded.model_validate_json(row["event"]))


def _named_key(company: str, name: str, place: str) -> str:
    return f"{company}/{name}/{place}"


async def _add(
    rows: Collection,
    company: str,
    conversation: str,
    name: str,
    place: LogPosition,
    event: bytes,
    keys: Document | None = None,
) -> None:
    identity = f"{conversation_key(company, conversation)}/{name}"
    update = {
        "$min": {"key": fact_key(company, conversation, place)},
        "$setOnInsert": {"event": event.decode(), **(keys or {})},
    }
    async with store_errors("store a desk change"):
        await rows.update_one({"_id": identity}, update, upsert=True)


async def _newest(rows: Collection, company: str, conversation: str) -> list[Document]:
    prefix = conversation_key(company, conversation)
    where = {"key": keys_under(prefix)}
    async with store_errors("read desk changes"):
        found = await rows.find(where).sort("key", DESCENDING).limit(MOST).to_list()
    return found[::-1]
