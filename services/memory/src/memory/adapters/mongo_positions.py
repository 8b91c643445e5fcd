"""The positions up to which this database has stored each source (PositionStore): a row of the collection `meta`, {_id:
"positions", at: [[name, position]], missed: [[name, first, last]], version}.

Names are stored in lists, not as field names, so that none can be mistaken for a path. `version` is a new random number
after each change, which replaces the row that was read; a restored database never repeats one.
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
"""How often changing a row is tried while other replicas change it too."""
START_TOLERANCE_SECONDS = 1.0
"""A server's start may seem this much later than before, because its answer takes time. After a slower answer a restart
is suspected without reason."""


class MongoPositions:
    """The positions, and the server's identity, which is read whenever a new connection (`connections`) was made."""

    def __init__(self, database: Database, connections: Connections) -> None:
        self._database = database
        self._rows = database["meta"]
        self._connections = connections
        self._asked_at_connection = -1
        self._server: tuple[object, float] = (None, 0.0)
        self._incarnation = 0
        self._known: Document = {"_id": ROW}
        """The row as it was last read or stored here. A change is tried on it first: if another replica has changed the
        row since, or the database was restored, its version is another one, and it is read again."""

    async def incarnation(self) -> object:
        opened = self._connections.opened
        if opened == self._asked_at_connection:
            return self._incarnation
        async with store_errors("tell its uptime"):
            try:
                status = await self._database.command("serverStatus")
            except OperationFailure:  # this user may not ask: a store is then doubted only after it was unavailable
                self._asked_at_connection = opened
                return self._incarnation
        server = (status.get("host"), status.get("pid"))
        started = time.monotonic() - float(status.get("uptimeMillis", 0)) / 1000
        if server != self._server[0] or started > self._server[1] + START_TOLERANCE_SECONDS:
            self._incarnation += 1
        self._server, self._asked_at_connection = (server, started), opened
        return self._incarnation

    async def load(self) -> dict[str, LogPosition]:
        return _positions(await self._row())

    async def position(self, name: str) -> LogPosition:
        """The position of one source; raises NexusError."""
        return (await self.load()).get(name, BEGINNING)

    async def move(self, name: str, expected: LogPosition | None, new: LogPosition) -> bool:
        row, is_read = self._known, False
        for _ in range(ATTEMPTS):
            positions = _positions(row)
            if positions.get(name) == expected:
                pairs = [[other, str(position)] for other, position in (positions | {name: new}).items()]
                if await self._put(row, {"at": pairs}):
                    return True
            elif is_read:
                return False
            row, is_read = await self._row(), True
        return False

    async def missed(self) -> list[Missed]:
        return _missed(await self._row())

    async def miss(self, gap: Missed) -> None:
        for _ in range(ATTEMPTS):
            row = await self._row()
            gaps = _missed(row)
            if gap in gaps or await self._put(row, {"missed": [[g.source, g.first, g.last] for g in (*gaps, gap)]}):
                return

    async def _row(self) -> Document:
        async with store_errors("read its positions"):
            self._known = await self._rows.find_one({"_id": ROW}) or {"_id": ROW}
            return self._known

    async def _put(self, row: Document, change: dict[str, object]) -> bool:
        new = row | change | {"version": uuid4().int >> 66}
        async with store_errors("store its positions"):
            is_stored = await replace_version(self._rows, new, row.get("version"))
        if is_stored:
            self._known = new
        return is_stored


def _positions(row: Document) -> dict[str, LogPosition]:
    return {str(name): position_of(str(at)) for name, at in row.get("at", ())}


def _missed(row: Document) -> list[Missed]:
    return [Missed(str(source), int(first), int(last)) for source, first, last in row.get("missed", ())]
