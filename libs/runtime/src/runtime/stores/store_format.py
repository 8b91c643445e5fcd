"""The format of the documents in MongoDB: a number in the store, which a service checks before it reads anything else.

Releases read each other's documents (decision 0041), so the number rarely changes. It increases with a release whose
documents an older one would misread: that release reads both formats, which the changelog states, and an older one
refuses to start.
"""

from __future__ import annotations

from pymongo.errors import DuplicateKeyError

from runtime.errors import NotReadyError
from runtime.release import release
from runtime.stores.mongo import Database

FORMAT = 1
"""The format that this release writes, and the newest that it reads."""
RESTORED = "restored"
"""The document in `meta` that exists while a backup is being restored, so while the store is incomplete."""
_KEY = "format"


async def check_format(database: Database) -> int:
    """Returns the store's format; a new store gets this release's.

    Raises:
        NotReadyError: a newer release has written the store, or a restore is incomplete; the message says what to do.
    """
    if backup := await database["meta"].find_one({"_id": RESTORED}):
        raise NotReadyError(
            f"the backup of {backup.get('madeAt')} is not wholly restored into this store: wait for `nexus restore`; "
            "if it was broken off, empty bus and store (a local stack: delete its data directory) and restore again"
        )
    try:
        await database["meta"].insert_one({"_id": _KEY, "format": FORMAT, "release": release()})
    except DuplicateKeyError:
        document = await database["meta"].find_one({"_id": _KEY}) or {}
        stored, writer = int(document.get("format", FORMAT)), str(document.get("release", "a newer one"))
        if stored > FORMAT:
            raise NotReadyError(
                f"the store is of release {writer} (format {stored}), and this is {release()}, which reads format "
                f"{FORMAT}: start release {writer} or newer, or restore a backup that this one has made"
            ) from None
        return stored
    return FORMAT
