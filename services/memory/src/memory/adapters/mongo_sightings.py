"""The collection `sightings`: {_id: company/origin, at (ms)}: pages that loaded a company's chat, and when last."""

from datetime import datetime

from pymongo import DESCENDING

from contracts.company_rpc import Sighting
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.keys import milliseconds, moment
from runtime.stores.mongo import Collection

SHOWN = 20


class MongoSightings:
    """Records only origins that the company's settings allow, so that there are few."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def note(self, company: str, origin: str, at: datetime) -> None:
        """A page of this origin has loaded the chat."""
        row = {"$set": {"at": milliseconds(at)}}
        async with store_errors("store a sighting"):
            await self._rows.update_one({"_id": f"{company}/{origin}"}, row, upsert=True)

    async def of(self, company: str) -> list[Sighting]:
        """The company's sightings, newest first."""
        where = {"_id": keys_under(company)}
        async with store_errors("read sightings"):
            rows = await self._rows.find(where).sort("at", DESCENDING).limit(SHOWN).to_list()
        return [Sighting(origin=row["_id"].split("/", 1)[1], at=moment(row["at"])) for row in rows]
