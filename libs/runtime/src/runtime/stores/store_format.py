"""The format of the documents in MongoDB: a number in the store, which a service reads before anything else.

Releases read each other's documents (decision 0041), and keep the number. It increases with a release whose documents
an older one would misread: such a release reads both, and the changelog says so; an older one does not start on it.
"""

from __future__ import annotations

from pymongo.errors import DuplicateKeyError

from runtime.errors import NotReadyError
from runtime.release import release
from runtime.stores.mongo import Database

FORMAT = 1
"""The format that this release writes, and the newest that it reads."""
RESTORED = "restored"
"""The document of `meta` that exists while a backup is being restored: until it is gone the store is incomplete."""
_KEY = "format"


async def check_format(database: Database) -> int:
    """The store's format; a new store gets this release's.

    Raises:
        NotReadyError: a newer release has written it, or a restore was not completed; the message says what to do.
    """
    if half := await database["meta"].find_one({"_id": RESTORED}):
        raise NotReadyError(
            f"the backup of {half.get('madeAt')} is not wholly restored into this store: wait for `nexus restore`; if "
            "it was broken off, empty bus and store (a local stack: delete its data directory) and restore again"
        )
    try:
        await database["meta"].insert_one({"_id": _KEY, "format": FORMAT, "release": release()})
    except DuplicateKeyError:
        found = await database["meta"].find_one({"_id": _KEY}) or {}
        stored, by = int(found.get("format", FORMAT)), str(found.get("release", "a newer one"))
        if stored > FORMAT:
            raise NotReadyError(
                f"the store is of release {by} (format {stored}), and this is {release()}, which reads format "
                f"{FORMAT}: start release {by} or newer, or restore a backup that this one has made"
            ) from None
        return stored
    return FORMAT
