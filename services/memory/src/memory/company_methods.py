"""The company methods besides settings: listing, deleting, sightings."""

from contracts.company_rpc import (
    COMPANY_DELETE,
    COMPANY_LIST,
    SIGHTING_NOTE,
    SIGHTINGS,
    CompaniesReply,
    CompaniesRequest,
    CompanyDeleted,
    CompanyRequest,
    SightingNoted,
    SightingsReply,
)
from memory.adapters.mongo_sightings import MongoSightings
from memory.application.companies import CompanyRegistry
from memory.application.company_deletion import CompanyDeletion
from runtime.clock import Clock
from runtime.mongo import Database
from runtime.service import Service


def serve(
    service: Service, companies: CompanyRegistry, deletion: CompanyDeletion, database: Database, clock: Clock
) -> None:
    sightings = MongoSightings(database["sightings"])

    async def page(request: CompaniesRequest) -> CompaniesReply:
        items, more = await companies.page(request.after, request.limit)
        return CompaniesReply(items=items, more=more)

    async def delete(request: CompanyRequest) -> CompanyDeleted:
        return await deletion.delete(request.company_id)

    async def note(request: SightingNoted) -> SightingsReply:
        await sightings.note(request.company_id, request.origin, clock.now())
        return SightingsReply(items=await sightings.of(request.company_id))

    async def seen(request: CompanyRequest) -> SightingsReply:
        return SightingsReply(items=await sightings.of(request.company_id))

    service.serve(COMPANY_LIST, page)
    service.serve(COMPANY_DELETE, delete)
    service.serve(SIGHTING_NOTE, note)
    service.serve(SIGHTINGS, seen)
