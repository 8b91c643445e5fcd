"""Runs the MongoDB-wire server: `python -m nexus_cli.stack.wire_server --data-dir …`.

Three of its habits are changed, for which it has no option. It logs two lines for each command, with all documents:
here it logs warnings only. It stores each document of a command in an SQLite transaction of its own, which costs more
than the document: here a command that writes is one transaction (decision 0163). And it leaves the bytes of deleted
documents in its files until their place is needed: here they are overwritten, and gone from its journal a second later.
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
TRUNCATED_AFTER = 1.0
"""Seconds from a deletion to the end of the journal that still holds what was deleted."""

Handle = Callable[[Any, dict[str, Any]], Any]


def in_one_transaction(handle: Handle) -> Handle:
    """The handler of a command, with all writes of one command in one transaction. A document that is refused takes
    only itself back."""

    @functools.wraps(handle)
    def wrapper(server: Any, message: dict[str, Any]) -> Any:
        body = next(part for kind, part in message["sections"] if kind == "body")
        if WRITES.isdisjoint(body):
            return handle(server, message)
        name = body["$db"]  # the handler takes it out
        with server._lock_for(name):
            connection = server.get_database(name)
            collections = set(connection._collections)
            try:
                with connection.transaction():
                    answer = handle(server, message)
                    if not connection.db.in_transaction:
                        # SQLite has taken all of it back, as it does on a full disk; the answer knows of one document.
                        raise OSError("the command was taken back as a whole")
            except BaseException:
                # The tables of new collections went with it; remembered, they would never be made again.
                for new in connection._collections.keys() - collections:
                    del connection._collections[new]
                raise
        if "delete" in body:
            _truncate_soon(server, name)
        return answer

    return wrapper


def overwriting(open_database: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Opens a database whose deleted bytes are overwritten, and which begins with an empty journal."""

    @functools.wraps(open_database)
    def wrapper(server: Any, name: str) -> Any:
        connection = open_database(server, name)
        connection.db.execute("PRAGMA secure_delete=ON")
        _truncate(connection)
        return connection

    return wrapper


_waiting: set[str] = set()
"""The databases whose journal is about to be truncated."""


def _truncate_soon(server: Any, name: str) -> None:
    def truncate() -> None:
        with server._lock_for(name):
            _waiting.discard(name)
            if (connection := server._conns.get(name)) is not None:
                _truncate(connection)

    if name not in _waiting:
        _waiting.add(name)
        timer = threading.Timer(TRUNCATED_AFTER, truncate)
        timer.daemon = True
        timer.start()


def _truncate(connection: Any) -> None:
    with contextlib.suppress(sqlite3.Error):  # on a full disk or beside a reader: the next deletion does it
        connection.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


if __name__ == "__main__":
    logging.disable(logging.INFO)
    for method in ("handle_insert", "handle_command"):
        setattr(NeoSQLiteHandler, method, in_one_transaction(getattr(NeoSQLiteHandler, method)))
    NeoSQLiteHandler._open_db_conn = overwriting(NeoSQLiteHandler._open_db_conn)  # pyright: ignore
    nx_27017.main()  # pyright: ignore[reportUnknownMemberType]
