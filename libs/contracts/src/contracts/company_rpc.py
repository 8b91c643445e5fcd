"""Calls about companies, served by memory: settings, the list, deletion, and which pages load the chat."""

from datetime import datetime
from typing import Any

from pydantic import Field

from contracts.company import CompanySettings
from contracts.envelope import Wire
from contracts.erasure_rpc import Removed
from contracts.ids import CompanyId
from contracts.rpc import Rpc

QUEUE = "memory"


class CompanyRequest(Wire):
    """One company."""

    company_id: CompanyId


class CompanyReply(Wire):
    """The company's settings; None if there is no such company."""

    settings: CompanySettings | None = None
    deleted: int | None = Field(default=None, ge=1, description="the version with which it ended")


class CompanyCreateRequest(Wire):
    """Raw settings, checked by memory; CONFLICT if the company exists."""

    config: dict[str, Any]


class CompanyPatchRequest(Wire):
    """A JSON merge patch (RFC 7396) for a version of the settings; PRECONDITION_FAILED if they have changed since."""

    company_id: CompanyId
    version: int = Field(ge=1)
    patch: dict[str, Any]


class CompanySaved(Wire):
    """The settings as they are now."""

    settings: CompanySettings


class CompaniesRequest(Wire):
    """Asks for the companies after `after`, in order of their ids."""

    after: str = Field(default="", max_length=64)
    limit: int = Field(default=50, ge=1, le=200)


class CompaniesReply(Wire):
    """A page of companies. `more`: there are more after the last one."""

    items: list[CompanySettings]
    more: bool = False


class CompanyDeleted(Wire):
    """`deleted` is False if there was no such company. `removed`: what was deleted, by store."""

    deleted: bool
    removed: list[Removed] = Field(default_factory=list[Removed])


class Sighting(Wire):
    """A page of this origin has loaded the chat; `at`: last time."""

    origin: str = Field(max_length=300)
    at: datetime


class SightingNoted(Wire):
    """A page of an allowed origin has loaded the chat."""

    company_id: CompanyId
    origin: str = Field(min_length=1, max_length=300)


class SightingsReply(Wire):
    """The origins whose pages have loaded the chat, newest first."""

    items: list[Sighting]


COMPANY_GET = Rpc("rpc.memory.company.get.v1", CompanyRequest, CompanyReply, queue=QUEUE)
COMPANY_CREATE = Rpc("rpc.memory.company.create.v1", CompanyCreateRequest, CompanySaved, queue=QUEUE, safe=False)
COMPANY_PATCH = Rpc("rpc.memory.company.patch.v1", CompanyPatchRequest, CompanySaved, queue=QUEUE, safe=False)
COMPANY_LIST = Rpc("rpc.memory.company.list.v1", CompaniesRequest, CompaniesReply, queue=QUEUE)
COMPANY_DELETE = Rpc("rpc.memory.company.delete.v1", CompanyRequest, CompanyDeleted, queue=QUEUE)
SIGHTING_NOTE = Rpc("rpc.memory.company.sighting.note.v1", SightingNoted, SightingsReply, queue=QUEUE)
SIGHTINGS = Rpc("rpc.memory.company.sightings.v1", CompanyRequest, SightingsReply, queue=QUEUE)
