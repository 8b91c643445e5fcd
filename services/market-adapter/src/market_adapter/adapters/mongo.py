"""The database, each command within the bound that memory's have (runtime.stores.command_limit)."""

from prometheus_client import Counter, Gauge
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import WaitQueueTimeoutError

from runtime.stores.command_limit import CommandLimit
from runtime.stores.mongo import Database

AT_ONCE = 24
"""Commands that MongoDB is asked at once."""
IN_LINE = 200
PATIENCE = 1.0
"""Seconds that a command waits for its turn: a tool has 5 in all."""

STORE_RUNNING = Gauge("nexus_market_store_commands", "Commands that MongoDB is working on")
STORE_REFUSED = Counter(
    "nexus_market_store_refused_total", "Commands that were not begun because MongoDB had too much to do"
)


def bounded(database: AsyncDatabase[dict[str, object]]) -> Database:
    """Returns the database with limited commands. A refusal is one of the driver's errors, like a failure: callers
    treat both alike."""
    limit = CommandLimit(
        STORE_RUNNING,
        STORE_REFUSED,
        at_once=AT_ONCE,
        in_line=IN_LINE,
        patience=PATIENCE,
        refusal=WaitQueueTimeoutError,
    )
    return Database(database, limit)
