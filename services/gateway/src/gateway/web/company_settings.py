"""/v2/llm/config: a company's settings, for its admins; and the providers to choose from."""

import asyncio
from collections.abc import Awaitable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Body, Header, Path, Response
from pydantic import Field

from contracts import sealed
from contracts.agent_rpc import PROVIDERS, ProvidersReply, ProvidersRequest
from contracts.channel_rpc import CHANNEL_CHECK, ChannelCheckRequest, ChannelProblem
from contracts.company import CompanyConfig, CompanySettings, faults, read_config
from contracts.envelope import Wire
from contracts.errors import ErrorCode, FieldFault
from contracts.ids import COMPANY_PATTERN
from contracts.json_values import list_of, object_of
from gateway.adapters.service_calls import ask
from gateway.domain import model_choice
from gateway.domain.etags import etag, matches
from gateway.domain.json_schema import compile_schema
from gateway.domain.settings_warnings import setting_warnings
from gateway.errors import GatewayError, RefusedError, bad_field, not_found
from gateway.ports import TokenCaller
from gateway.web.deps import AdminDep, Api, ApiDep
from gateway.web.free_json import check_json, merge_patch_body
from gateway.web.problems import described
from gateway.web.response_headers import described_headers
from gateway.web.words import AcceptLanguage, words

router = APIRouter(prefix="/v2/llm/config", tags=["llm"])

MAX_ATTEMPTS = 10
"""Attempts of a change with `If-Match: *` while others change the settings; so many simultaneous changes all
succeed."""
ADVICE_SECONDS = 1.5
"""Deadline for the lists of models and tools and the check of channels that a view of the settings includes."""
CHECK_SECONDS = 5.0
"""Deadline for a channel's own server."""

CompanyPath = Annotated[str, Path(pattern=COMPANY_PATTERN, alias="companyId", description="the admin's own company")]
IfMatch = Annotated[
    str | None, Header(alias="If-Match", max_length=1000, description="the ETag that was read; required")
]

ResultT = TypeVar("ResultT")


class Answering(Wire):
    """Which provider is asked first, and why: `environment`, the operator's server takes precedence; `own`, the
    company's model; `preferred`; `fallback`, the preferred provider is not configured; `offline`, none is."""

    provider: str
    model: str
    why: model_choice.ChoiceReason


class ConfigView(CompanyConfig):
    """The settings, which of them have no effect, and which model really answers (left out while no agent says so)."""

    warnings: list[FieldFault] = Field(default_factory=list[FieldFault])
    answering: Answering | None = None


class ConfigBody(CompanyConfig):
    """The settings; `warnings` and `answering` from a reply are ignored."""

    warnings: list[FieldFault] = Field(default_factory=list[FieldFault], exclude=True)
    answering: Answering | None = Field(default=None, exclude=True)


@router.get("/providers", responses=described())
async def list_providers(api: ApiDep, caller: AdminDep) -> ProvidersReply:
    """The providers, whether each is configured here, and their models."""
    return await providers(api, caller.company)


@router.post("", status_code=201, responses=described(404, 409) | {201: described_headers("ETag", "Location")})
async def create_settings(
    api: ApiDep, caller: AdminDep, body: ConfigBody, response: Response, accept_language: AcceptLanguage = None
) -> ConfigView:
    """Creates a company's settings; anything left out has its default. 409 if they exist."""
    check_own_company(caller, body.company_id)
    config = body.model_dump(mode="json", by_alias=True, exclude_unset=True)
    check_json(config)
    refuse(faults(config))
    refuse(_schema_faults(config))
    if "preferred_model" in body.model_fields_set:
        await _check_model(api, caller, body.preferred_provider, body.preferred_model)
    saved = await api.companies.create(config)
    response.headers["Location"] = f"/v2/llm/config/{body.company_id}"
    set_etag(response, saved)
    return await shown(api, caller, saved, accept_language)


@router.get("/{companyId}", responses=described(404) | {200: described_headers("ETag")})
async def get_settings(
    api: ApiDep, caller: AdminDep, company: CompanyPath, response: Response, accept_language: AcceptLanguage = None
) -> ConfigView:
    """The settings with all defaults filled in and secrets hidden. `warnings`: what has no effect, and why."""
    check_own_company(caller, company)
    settings = await stored(api, company)
    set_etag(response, settings)
    return await shown(api, caller, settings, accept_language)


patched_by = merge_patch_body(
    "a merge patch (RFC 7396) of the settings: null sets a field back to its default; of budget.visitorHourlyTokens it "
    "means no limit"
)


@router.patch(
    "/{companyId}",
    responses=described(404, 412, 428) | {200: described_headers("ETag")},
    openapi_extra=patched_by,
)
async def patch_settings(
    api: ApiDep,
    caller: AdminDep,
    company: CompanyPath,
    body: Annotated[dict[str, object], Body()],
    response: Response,
    if_match: IfMatch = None,
    accept_language: AcceptLanguage = None,
) -> ConfigView:
    """A merge patch, in effect from the next turn on. 428 without If-Match, 412 if that is not the newest version."""
    check_own_company(caller, company)
    check_json(body)
    saved = await change(api, caller, body, if_match)
    set_etag(response, saved)
    return await shown(api, caller, saved, accept_language)


async def change(api: Api, caller: TokenCaller, patch: dict[str, object], if_match: str | None) -> CompanySettings:
    """The settings of the caller's company after a merge patch; raises RefusedError."""
    if if_match is None:
        raise RefusedError(ErrorCode.PRECONDITION_REQUIRED, "send If-Match with the ETag that GET gave you")
    # A client may send back what it was shown.
    patch.pop("warnings", None)
    patch.pop("answering", None)
    refuse(_schema_faults(patch))
    for remaining in range(MAX_ATTEMPTS - 1, -1, -1):
        newest = await stored(api, caller.company)
        version = newest.version
        if not matches(if_match, version):
            raise RefusedError(
                ErrorCode.PRECONDITION_FAILED, f"the settings are at version {version} by now: read them again"
            )
        if chosen := model_choice.newly_chosen_model(patch, newest.config):
            await _check_model(api, caller, *chosen)
        try:
            return await api.companies.patch(caller.company, version, patch)
        except RefusedError as error:
            if error.code is not ErrorCode.PRECONDITION_FAILED or if_match.strip() != "*" or remaining == 0:
                raise
    raise AssertionError("the last race returns or raises")


def check_own_company(caller: TokenCaller, company: str) -> None:
    """Raises NOT_FOUND for another company than the caller's."""
    if company != caller.company:
        raise not_found("company")


async def providers(api: Api, company: str) -> ProvidersReply:
    """The providers and models to choose from."""
    return await ask(api.rpc, PROVIDERS, ProvidersRequest(company_id=company))


async def _channel_problems(api: Api, config: CompanyConfig) -> list[ChannelProblem]:
    if not config.channels:
        return []
    request = ChannelCheckRequest(company_id=config.company_id)
    return (await ask(api.rpc, CHANNEL_CHECK, request, deadline=CHECK_SECONDS)).problems


async def _check_model(api: Api, caller: TokenCaller, provider: str, model: str) -> None:
    """Raises BAD_FIELD if the model does not exist, which memory cannot check since only agents know the models."""
    if not model_choice.has_model(provider, model, await providers(api, caller.company)):
        raise bad_field("preferredModel", f"is no model of {provider}: GET /v2/llm/config/providers lists them")


def _schema_faults(settings: dict[str, object]) -> list[FieldFault]:
    """Faults of own tools whose schema is invalid: a model's server may refuse every request with such a tool."""
    own_tools = object_of(settings.get("ownTools"))
    tools_with_places = [(f"http.{index}", tool) for index, tool in enumerate(list_of(own_tools.get("http")))]
    for server_index, server in enumerate(list_of(own_tools.get("mcp"))):
        tools = list_of(object_of(server).get("tools"))
        tools_with_places += [(f"mcp.{server_index}.tools.{index}", tool) for index, tool in enumerate(tools)]
    found_faults: list[FieldFault] = []
    for index, tool in tools_with_places:
        try:
            compile_schema(object_of(object_of(tool).get("inputSchema")))
        except ValueError as error:
            found_faults.append(FieldFault(field=f"ownTools.{index}.inputSchema", message=str(error)))
    return found_faults


def refuse(found_faults: list[FieldFault]) -> None:
    """Raises BAD_FIELD for settings with faults."""
    if found_faults:
        raise RefusedError(
            ErrorCode.BAD_FIELD, "; ".join(f"{fault.field}: {fault.message}" for fault in found_faults), found_faults
        )


async def stored(api: Api, company: str) -> CompanySettings:
    """The settings from memory; raises NOT_FOUND."""
    settings = await api.companies.latest_settings(company)
    if settings is None:
        raise RefusedError(ErrorCode.NOT_FOUND, "the company has no settings yet: create them with POST /v2/llm/config")
    return settings


def set_etag(response: Response, settings: CompanySettings) -> None:
    """Puts the settings' version into the response's ETag."""
    response.headers["ETag"] = etag(settings.version)


async def shown(api: Api, caller: TokenCaller, settings: CompanySettings, accept_language: str | None) -> ConfigView:
    """The view of the settings: secrets hidden, with warnings about settings without effect."""
    language = await api.companies.console_language(caller.company, accept_language)
    offered_providers, offered_tools, channel_problems = await asyncio.gather(
        _result_or_none(providers(api, caller.company)),
        _result_or_none(api.tools.all_tools(caller.company, language)),
        _result_or_none(_channel_problems(api, settings.config)),
    )
    texts = words(language, "warnings")
    warnings = [
        FieldFault(field=warning.field, message=texts[warning.text].format_map(warning.values))
        for warning in setting_warnings(settings.config, offered_providers, offered_tools, channel_problems or ())
    ]
    masked = settings.config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    sealed.replace_secrets(masked, lambda _place, _value: sealed.HIDDEN)
    shown_config = read_config(masked)
    config = {name: getattr(shown_config, name) for name in CompanyConfig.model_fields}
    answering = None
    if offered_providers is not None:
        provider, model, why = model_choice.first_model(settings.config, offered_providers)
        answering = Answering(provider=provider, model=model, why=why)
    view = ConfigView.model_construct(**config, warnings=warnings, answering=answering)
    object.__setattr__(view, "__pydantic_extra__", dict(settings.config.unknown))
    return view


async def _result_or_none(call: Awaitable[ResultT]) -> ResultT | None:
    """The result of a call; None if it fails or takes too long, so that settings are shown all the same."""
    try:
        async with asyncio.timeout(ADVICE_SECONDS):
            return await call
    except (TimeoutError, GatewayError):
        return None
