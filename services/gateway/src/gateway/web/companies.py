"""/v2/companies: creating, listing, changing and deleting companies, for operators; admins have their own company."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import Field

from contracts.company import CompanyConfig, CompanySettings, faults
from contracts.company_rpc import CompanyRequest, Sighting
from contracts.envelope import Wire
from contracts.erasure_rpc import Removed
from contracts.errors import ErrorCode, FieldFault
from contracts.ids import COMPANY_PATTERN, CompanyId
from contracts.knowledge import Run
from contracts.knowledge_rpc import OVERVIEW
from contracts.languages import LANGUAGES, Language
from contracts.plain_text import LINE
from contracts.strict import Strict
from gateway.adapters.service_calls import ask
from gateway.domain.company_names import new_company_id
from gateway.errors import GatewayError, RefusedError, UnavailableError, found, not_found
from gateway.ports import TokenCaller
from gateway.web.company_settings import (
    ConfigView,
    IfMatch,
    change,
    patched_by,
    refuse,
    set_etag,
    shown,
)
from gateway.web.deps import Api, ApiDep, FounderDep
from gateway.web.first_hour import FirstHour, Missing, first_hour_of, missing, origin_of, own_address, snippet
from gateway.web.free_json import check_json
from gateway.web.pagination import Limit
from gateway.web.problems import described
from gateway.web.response_headers import described_headers
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/companies", tags=["companies"])
CompanyPath = Annotated[str, Path(pattern=COMPANY_PATTERN, alias="companyId")]


class NewCompany(Strict):
    """A company to create. Without `companyId` the id is derived from the name, Acme Rockets is acme-rockets, or from
    the site's host if the name has no Latin letter."""

    name: Annotated[str, Field(min_length=1, max_length=80), LINE]
    site: str = Field(min_length=1, max_length=2048, description="where its site begins, e.g. https://www.example.com")
    company_id: CompanyId | None = None
    languages: list[Language] = Field(default_factory=lambda: ["es", "en"], min_length=1, max_length=len(LANGUAGES))
    profile: Literal["support", "trading"] = "support"


class CompanyView(Wire):
    """A company in the list."""

    company_id: CompanyId
    name: str | None = None
    profile: str
    site: str | None = None
    ai_auto_response_enabled: bool


class CompanyPage(Wire):
    """In order of their ids."""

    items: list[CompanyView]
    next: str | None = None


class CompanyDetail(CompanyView):
    """One company, with the tag for its pages and what is still missing."""

    snippet: str
    missing: list[Missing]
    seen: list[Sighting] = Field(description="where pages have loaded the chat, and when last; newest first")
    settings: ConfigView


class CompanyReceipt(Wire):
    """What was deleted with the company, store by store."""

    removed: list[Removed]


@router.post("", status_code=201, response_model_exclude_none=True, responses=described(404, 409))
async def make_company(
    api: ApiDep, caller: FounderDep, body: NewCompany, request: Request, accept_language: AcceptLanguage = None
) -> FirstHour:
    """Creates a company: stores its settings, reads its first page, tries a question. An admin creates the company
    of their token."""
    site = own_address(body.site)
    company = body.company_id or new_company_id(body.name, site)
    acting = as_company_admin(caller, company)
    config: dict[str, object] = {
        "companyId": company,
        "name": body.name,
        "profile": body.profile,
        "languages": list(dict.fromkeys(body.languages)),
        "aiAutoResponseEnabled": True,
        "knowledge": {"siteUrl": site},
        "toolConfig": {"fetchPageEnabled": True, "allowedDomains": [origin_of(site)]},
    }
    refuse(_with_request_fields(faults(config)))
    if await api.companies.latest_settings(company) is not None:
        raise RefusedError(ErrorCode.CONFLICT, f"there is a company {company} already: choose another name")
    saved = await api.companies.create(config)
    return await first_hour_of(api, acting, saved, request, accept_language)


@router.get("", response_model_exclude_none=True, responses=described())
async def list_companies(
    api: ApiDep,
    caller: FounderDep,
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=64)] = None,
) -> CompanyPage:
    """The companies of the installation; an admin sees only their own."""
    if caller.role != "operator":
        company_settings = await api.companies.latest_settings(caller.company)
        return CompanyPage(items=[] if company_settings is None else [_view(company_settings.config)])
    page = await api.companies.page(cursor or "", limit)
    items = [_view(settings.config) for settings in page.items]
    return CompanyPage(items=items, next=items[-1].company_id if page.more and items else None)


@router.get(
    "/{companyId}", response_model_exclude_none=True, responses=described(404) | {200: described_headers("ETag")}
)
async def show_company(
    api: ApiDep,
    caller: FounderDep,
    company: CompanyPath,
    request: Request,
    response: Response,
    accept_language: AcceptLanguage = None,
) -> CompanyDetail:
    """One company with its settings."""
    acting = as_company_admin(caller, company)
    settings = found(await api.companies.latest_settings(company), "company")
    return await _detail(api, acting, settings, request, response, accept_language)


@router.patch(
    "/{companyId}",
    response_model_exclude_none=True,
    responses=described(404, 412, 428) | {200: described_headers("ETag")},
    openapi_extra=patched_by,
)
async def change_company(
    api: ApiDep,
    caller: FounderDep,
    company: CompanyPath,
    body: Annotated[dict[str, object], Body()],
    request: Request,
    response: Response,
    if_match: IfMatch = None,
    accept_language: AcceptLanguage = None,
) -> CompanyDetail:
    """A merge patch of its settings, like PATCH /v2/llm/config/{companyId}."""
    acting = as_company_admin(caller, company)
    check_json(body)
    saved = await change(api, acting, body, if_match)
    return await _detail(api, acting, saved, request, response, accept_language)


@router.delete("/{companyId}", response_model_exclude_none=True, responses=described(404))
async def delete_company(api: ApiDep, caller: FounderDep, company: CompanyPath) -> CompanyReceipt:
    """Deletes the company for good, with its knowledge, conversations, remembered facts and users' data; `removed`
    names every store. After a 503 delete again to remove the rest."""
    reply = await api.companies.delete(as_company_admin(caller, company).company)
    if not reply.deleted:
        raise not_found("company")
    return CompanyReceipt(removed=reply.removed)


_FIELDS = {"knowledge.siteUrl": "site", "toolConfig.allowedDomains.0": "site"}
"""Names in the request of fields of the settings."""


def _with_request_fields(found_faults: list[FieldFault]) -> list[FieldFault]:
    """The faults with the field names of the request, one for each field."""
    renamed = [fault.model_copy(update={"field": _FIELDS.get(fault.field, fault.field)}) for fault in found_faults]
    return list({fault.field: fault for fault in reversed(renamed)}.values())


def as_company_admin(caller: TokenCaller, company: str) -> TokenCaller:
    """The caller in the role of an admin of the company. Raises NOT_FOUND for an admin of another company."""
    if caller.role != "operator" and caller.company != company:
        raise not_found("company")
    return replace(caller, company=company, role="admin")


async def _detail(
    api: Api,
    acting: TokenCaller,
    settings: CompanySettings,
    request: Request,
    response: Response,
    accept_language: str | None,
) -> CompanyDetail:
    set_etag(response, settings)
    view = await shown(api, acting, settings, accept_language)
    about = _view(settings.config)
    fields = {name: getattr(about, name) for name in CompanyView.model_fields}
    company = settings.config.company_id
    try:
        sightings = await api.sightings.of_company(company)
    except UnavailableError:
        sightings = list[Sighting]()
    return CompanyDetail.model_construct(
        **fields,
        snippet=snippet(request, company),
        missing=await missing(
            api, settings.config, accept_language, await _run_without_pages(api, company), widget_seen=bool(sightings)
        ),
        seen=sightings,
        settings=view,
    )


async def _run_without_pages(api: Api, company: str) -> Run | None:
    """The last run over the company's site if it has no known page; otherwise None."""
    try:
        overview = await ask(api.rpc, OVERVIEW, CompanyRequest(company_id=company))
    except GatewayError:
        return None
    pages = sum(source.documents for source in overview.sources if source.source == "site")
    return None if pages else overview.last_run


def _view(config: CompanyConfig) -> CompanyView:
    return CompanyView(
        company_id=config.company_id,
        name=config.name,
        profile=config.profile,
        site=config.knowledge.site_url,
        ai_auto_response_enabled=config.ai_auto_response_enabled,
    )
