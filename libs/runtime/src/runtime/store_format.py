"""The format of what is in MongoDB: a number in the store itself, which a service reads before anything else.

Releases read each other's documents (decision 0041), and keep the number. It goes up with a release whose documents an
older one would misread: such a release reads both, and says so in the changelog; an older one does not start on it.
"""

from __future__ import annotations

from pymongo.errors import DuplicateKeyError

from runtime.errors import NotReady
from runtime.mongo import Database
from runtime.release import release

FORMAT = 1
"""What this release writes, and the newest that it reads."""
_KEY = "format"


async def check_format(database: Database) -> int:
    """The store's format; a new store is given this release's.

    Raises:
        NotReady: a newer release has written it; the message says which, and what to do.
    """
    try:
        await database["meta"].insert_one({"_id": _KEY, "format": FORMAT, "release": release()})
    except DuplicateKeyError:
        found = await database["meta"].find_one({"_id": _KEY}) or {}
        stored, by = int(found.get("format", FORMAT)), str(found.get("release", "a newer one"))
        if stored > FORMAT:
            raise NotReady(
                f"the store is of release {by} (format {stored}), and this is {release()}, which reads format "
                f"{FORMAT}: start release {by} or newer, or restore a backup that this one has made"
            ) from None
        return stored
    return FORMAT
