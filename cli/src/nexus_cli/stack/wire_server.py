"""Runs the MongoDB-wire server: `python -m nexus_cli.stack.wire_server --data-dir …`.

Changes three behaviours for which it has no option. It logs two lines for each command, with all documents: here only
warnings are logged. It stores each document in its own SQLite transaction, which costs more than the document: here a
command that writes is one transaction (decision 0163). And it leaves the bytes of deleted documents in its files until
their space is needed: here they are overwritten, and removed from the journal a second later.
"""

import contextlib
import functools
import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

from nx_27017 import nx_27017  # pyright: ignore[reportMissingTypeStubs]
from nx_27017.handler import NeoSQLiteHandler  # pyright: ignore[reportMissingTypeStubs]

WRITES = frozenset({"insert", "update", "delete"})
TRUNCATE_SECONDS = 1.0
"""Seconds after a deletion until the journal that contains the deleted data is truncated."""

Handle = Callable[[Any, dict[str, Any]], Any]


def in_one_transaction(handle: Handle) -> Handle:
    """Wraps the handler of a command so that all its writes are in one transaction. A refused document does not undo
    the others."""

    @functools.wraps(handle)
    def wrapper(server: Any, message: dict[str, Any]) -> Any:
        body = next(part for kind, part in message["sections"] if kind == "body")
        if WRITES.isdisjoint(body):
            return handle(server, message)
        name = body["$db"]  # the handler removes it from the body
        with server._lock_for(name):
            connection = server.get_database(name)
            collections = set(connection._collections)
            try:
                with connection.transaction():
                    answer = handle(server, message)
                    if not connection.db.in_transaction:
                        # SQLite has rolled back everything, as on a full disk; the answer reports only one document.
                        raise OSError("the command was taken back as a whole")
            except BaseException:
                # Tables of new collections were rolled back too; if remembered, they would never be created again.
                for collection in connection._collections.keys() - collections:
                    del connection._collections[collection]
                raise
        if "delete" in body:
            _truncate_soon(server, name)
        return answer

    return wrapper


def overwriting(open_database: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Wraps the opening of a database so that deleted bytes are overwritten and the journal starts empty."""

    @functools.wraps(open_database)
    def wrapper(server: Any, name: str) -> Any:
        connection = open_database(server, name)
        connection.db.execute("PRAGMA secure_delete=ON")
        _truncate(connection)
        return connection

    return wrapper


_scheduled: set[str] = set()
"""The databases whose journal is about to be truncated."""


def _truncate_soon(server: Any, name: str) -> None:
    def truncate() -> None:
        with server._lock_for(name):
            _scheduled.discard(name)
            if (connection := server._conns.get(name)) is not None:
                _truncate(connection)

    if name not in _scheduled:
        _scheduled.add(name)
        timer = threading.Timer(TRUNCATE_SECONDS, truncate)
        timer.daemon = True
        timer.start()


def _truncate(connection: Any) -> None:
    with contextlib.suppress(sqlite3.Error):  # full disk, or a reader is active: the next deletion tries again
        connection.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


if __name__ == "__main__":
    logging.disable(logging.INFO)
    for method in ("handle_insert", "handle_command"):
        setattr(NeoSQLiteHandler, method, in_one_transaction(getattr(NeoSQLiteHandler, method)))
    NeoSQLiteHandler._open_db_conn = overwriting(NeoSQLiteHandler._open_db_conn)  # pyright: ignore
    nx_27017.main()  # pyright: ignore[reportUnknownMemberType]
