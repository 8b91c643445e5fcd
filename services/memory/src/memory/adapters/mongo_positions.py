"""The positions up to which this database has stored each source (PositionStore): a row of the collection `meta`, {_id:
"positions", at: {name: position}, missed: [[name, first, last]]}.

Names contain a `/` and no dot; they are stored in lists of pairs, so that none can be taken for a path. `version` is a
new number after each change, which replaces the row it was made from; a restored database never repeats one.
"""

import time
from uuid import uuid4

from pymongo.errors import OperationFailure

from memory.adapters.mongo import Connections, replace_version, store_errors
from memory.domain.keys import BEGINNING, LogPosition, position_of
from memory.domain.progress import Missed
from runtime.stores.mongo import Database, Document

ROW = "positions"
ATTEMPTS = 20
"""Tries to change a row that other replicas change too."""
LATER = 1.0
"""Seconds by which a server's start may seem later than before, because of the time its answer takes. After a slower
answer it is suspected without reason."""


class MongoPositions:
    """Asks the server for its identity whenever a new connection (`connections`) is made."""

    def __init__(self, database: Database, connections: Connections) -> None:
        self._database = database
        self._rows = database["meta"]
        self._connections = connections
        self._asked_over = -1
        self._server: tuple[object, float] = (None, 0.0)
        self._lives = 0

    async def incarnation(self) -> object:
        opened = self._connections.opened
        if opened == self._asked_over:
            return self._lives
        async with store_errors("tell its uptime"):
            try:
                status = await self._database.command("serverStatus")
            except OperationFailure:  # this user may not ask: then only a store that was found away is doubted
                self._asked_over = opened
                return self._lives
        server = (status.get("host"), status.get("pid"))
        started = time.monotonic() - float(status.get("uptimeMillis", 0)) / 1000
        if server != self._server[0] or started > self._server[1] + LATER:
            self._lives += 1
        self._server, self._asked_over = (server, started), opened
        return self._lives

    async def load(self) -> dict[str, LogPosition]:
        return _positions(await self._row())

    async def position(self, name: str) -> LogPosition:
        """The position of one source; raises NexusError."""
        return (await self.load()).get(name, BEGINNING)

    async def move(self, name: str, before: LogPosition | None, to: LogPosition) -> bool:
        for _ in range(ATTEMPTS):
            row = await self._row()
            held = _positions(row)
            if held.get(name) != before:
                return False
            at = [[other, str(position)] for other, position in (held | {name: to}).items()]
            if await self._put(row, {"at": at}):
                return True
        return False

    async def missed(self) -> list[Missed]:
        return _missed(await self._row())

    async def miss(self, gap: Missed) -> None:
        for _ in range(ATTEMPTS):
            row = await self._row()
            held = _missed(row)
            if gap in held or await self._put(row, {"missed": [[g.source, g.first, g.last] for g in (*held, gap)]}):
                return

    async def _row(self) -> Document:
        async with store_errors("read its positions"):
            return await self._rows.find_one({"_id": ROW}) or {"_id": ROW}

    async def _put(self, row: Document, change: dict[str, object]) -> bool:
        async with store_errors("store its positions"):
            return await replace_version(self._rows, row | change | {"version": uuid4().int >> 66}, row.get("version"))


def _positions(row: Document) -> dict[str, LogPosition]:
    return {str(name): position_of(str(at)) for name, at in row.get("at", ())}


def _missed(row: Document) -> list[Missed]:
    return [Missed(str(source), int(first), int(last)) for source, first, last in row.get("missed", ())]
