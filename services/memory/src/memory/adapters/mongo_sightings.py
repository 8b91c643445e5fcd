"""The collection `sightings`: {_id: company/origin, at (ms)}: origins whose pages loaded a company's chat, and when
they last did."""

from datetime import datetime

from pymongo import DESCENDING

from contracts.company_rpc import Sighting
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.keys import milliseconds, moment
from runtime.stores.mongo import Collection

MAX_SIGHTINGS = 20


class MongoSightings:
    """Sightings of the chat. Only origins that the company's settings allow are recorded, so there are few."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def note(self, company: str, origin: str, time: datetime) -> None:
        """Records that a page of this origin has loaded the chat."""
        row = {"$set": {"at": milliseconds(time)}}
        async with store_errors("store a sighting"):
            await self._rows.update_one({"_id": f"{company}/{origin}"}, row, upsert=True)

    async def of(self, company: str) -> list[Sighting]:
        """The company's sightings, newest first."""
        query = {"_id": keys_under(company)}
        async with store_errors("read sightings"):
            rows = await self._rows.find(query).sort("at", DESCENDING).limit(MAX_SIGHTINGS).to_list()
        return [Sighting(origin=row["_id"].split("/", 1)[1], at=moment(row["at"])) for row in rows]
