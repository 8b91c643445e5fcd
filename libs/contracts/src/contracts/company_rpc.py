"""Companies as those who run the installation see them (memory): listed, deleted, and where their chat was seen."""

from datetime import datetime
from typing import Any

from pydantic import Field

from contracts.company import CompanySettings
from contracts.envelope import Wire
from contracts.ids import CompanyId
from contracts.rpc import CompanyRequest, Rpc

QUEUE = "memory"


class CompaniesRequest(Wire):
    """The companies behind `after`, in the order of their ids."""

    after: str = Field(default="", max_length=64)
    limit: int = Field(default=50, ge=1, le=200)


class CompaniesReply(Wire):
    """`more`: there are others behind the last."""

    items: list[CompanySettings]
    more: bool = False


class CompanyDeleted(Wire):
    """False: there was no such company."""

    deleted: bool


class Sighting(Wire):
    """The chat was loaded by a page of this origin; `at`: last."""

    origin: str = Field(max_length=300)
    at: datetime


class SightingNoted(Wire):
    """A page of an origin that the settings allow has loaded the chat."""

    company_id: CompanyId
    origin: str = Field(min_length=1, max_length=300)


class SightingsReply(Wire):
    """Newest first."""

    items: list[Sighting]


COMPANY_LIST = Rpc("rpc.memory.company.list.v1", CompaniesRequest, CompaniesReply, queue=QUEUE)
COMPANY_DELETE = Rpc("rpc.memory.company.delete.v1", CompanyRequest, CompanyDeleted, queue=QUEUE)
SIGHTING_NOTE = Rpc("rpc.memory.company.sighting.note.v1", SightingNoted, SightingsReply, queue=QUEUE)
SIGHTINGS = Rpc("rpc.memory.company.sightings.v1", CompanyRequest, SightingsReply, queue=QUEUE)

METHODS: tuple[Rpc[Any, Any], ...] = (COMPANY_LIST, COMPANY_DELETE, SIGHTING_NOTE, SIGHTINGS)
