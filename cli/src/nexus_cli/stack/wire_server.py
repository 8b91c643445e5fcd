"""Runs the MongoDB-wire server: `python -m nexus_cli.stack.wire_server --data-dir …`.

Two of its habits are changed, for which it has no option. It logs two lines for each command, with all documents: here
it logs warnings only. And it stores each document of a command in an SQLite transaction of its own, which costs more
than the document: here a command that writes is one transaction (decision 0163).
"""

import functools
import logging
from collections.abc import Callable
from typing import Any

from nx_27017 import nx_27017  # pyright: ignore[reportMissingTypeStubs]
from nx_27017.handler import NeoSQLiteHandler  # pyright: ignore[reportMissingTypeStubs]

WRITES = frozenset({"insert", "update", "delete"})

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
                    return answer
            except BaseException:
                # The tables of new collections went with it; remembered, they would never be made again.
                for new in connection._collections.keys() - collections:
                    del connection._collections[new]
                raise

    return wrapper


if __name__ == "__main__":
    logging.disable(logging.INFO)
    for method in ("handle_insert", "handle_command"):
        setattr(NeoSQLiteHandler, method, in_one_transaction(getattr(NeoSQLiteHandler, method)))
    nx_27017.main()  # pyright: ignore[reportUnknownMemberType]
