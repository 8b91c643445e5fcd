"""The collection `sightings`: {_id: company/origin, at (ms)}: origins whose pages loaded a company's chat, and when
they last did."""

from pymongo import DESCENDING

from contracts.company_rpc import CompanyRequest, Sighting, SightingNoted, SightingsReply
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.keys import milliseconds, moment
from runtime.clock import Clock
from runtime.stores.mongo import Collection

MAX_SIGHTINGS = 20


class MongoSightings:
    """Sightings of the chat. Only origins that the company's settings allow are recorded, so there are few."""

    def __init__(self, collection: Collection, clock: Clock) -> None:
        self._rows = collection
        self._clock = clock

    async def note(self, request: SightingNoted) -> SightingsReply:
        """Records that a page of this origin has loaded the chat; returns all sightings of the company."""
        row = {"$set": {"at": milliseconds(self._clock.now())}}
        async with store_errors("store a sighting"):
            await self._rows.update_one({"_id": f"{request.company_id}/{request.origin}"}, row, upsert=True)
        return await self.of(CompanyRequest(company_id=request.company_id))

    async def of(self, request: CompanyRequest) -> SightingsReply:
        """The company's sightings, newest first."""
        query = {"_id": keys_under(request.company_id)}
        async with store_errors("read sightings"):
            rows = await self._rows.find(query).sort("at", DESCENDING).limit(MAX_SIGHTINGS).to_list()
        items = [Sighting(origin=row["_id"].split("/", 1)[1], at=moment(row["at"])) for row in rows]
        return SightingsReply(items=items)
