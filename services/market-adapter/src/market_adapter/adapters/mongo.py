"""The database with a limit for concurrent commands (runtime.stores.command_limit), and whose a document is."""

from prometheus_client import Counter, Gauge
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import WaitQueueTimeoutError

from market_adapter.domain.paper.account import Owner
from runtime.stores.command_limit import CommandLimit
from runtime.stores.mongo import Database, Document

CONCURRENCY = 24
"""Concurrent commands."""
QUEUE_LENGTH = 200
QUEUE_SECONDS = 1.0
"""How long a command waits in the queue; a tool has 5 seconds in all."""

STORE_RUNNING = Gauge("nexus_market_store_commands", "Commands that MongoDB is working on")
STORE_REFUSED = Counter(
    "nexus_market_store_refused_total", "Commands that were not begun because MongoDB had too much to do"
)


def owner_fields(owner: Owner) -> Document:
    """The fields by which a user's documents are found."""
    return {"company": owner.company, "user": owner.user}


def bounded(database: AsyncDatabase[dict[str, object]]) -> Database:
    """The database with limited commands. A refusal is one of the driver's errors, so callers treat it like a
    failure."""
    limit = CommandLimit(
        STORE_RUNNING,
        STORE_REFUSED,
        max_running=CONCURRENCY,
        max_waiting=QUEUE_LENGTH,
        queue_seconds=QUEUE_SECONDS,
        refusal=WaitQueueTimeoutError,
    )
    return Database(database, limit)
