"""Trying settings before saving them, under /v2/llm/config/{companyId}."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from contracts import preview_rpc, sealed
from contracts.company import CompanyConfig, faults, read_config
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.languages import Language
from contracts.merge_patch import merged_settings
from contracts.office_hours import away_notice, next_opening
from contracts.person_rules import RuleInput, matching_rule
from gateway.adapters.service_calls import TRY_OUT_SECONDS, ask
from gateway.errors import RefusedError, found
from gateway.ports import TokenCaller
from gateway.web.company_settings import CompanyPath, check_own_company, refuse
from gateway.web.deps import AdminDep, Api, ApiDep
from gateway.web.free_json import check_json
from gateway.web.moments import Moment
from gateway.web.problems import described

router = APIRouter(tags=["llm"])
_CONFIG = "/v2/llm/config/{companyId}"


class Unsaved(Wire):
    """`settings`: a merge patch (RFC 7396) on top of the saved ones; it is not saved."""

    settings: dict[str, object] = Field(default_factory=dict[str, object])
    language: Language = "en"


class TryoutQuestion(Unsaved):
    """A visitor's question."""

    question: str = Field(min_length=1, max_length=8000)


class Address(Unsaved):
    """A path of the site, or a whole address."""

    address: str = Field(min_length=1, max_length=2048)


class PersonQuestion(Unsaved):
    """A visitor's message, with their plan and page, and its time (now, if left out)."""

    text: str = Field(max_length=8000)
    plan: Literal["free", "pro", "premium"] = "free"
    page: str | None = Field(default=None, max_length=2048, description="the address of the page")
    at: Annotated[Moment, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(9990, 1, 1, tzinfo=UTC))] | None = None


class PersonAnswer(Wire):
    """Where the rules send the message, and whether somebody would be there."""

    to: Literal["person", "never"] | None = Field(default=None, description="left out: the AI decides as always")
    rule: int | None = Field(default=None, description="the place of the rule that counts, from 0")
    open: bool = Field(description="whether somebody is there then")
    opens_at: datetime | None = None
    told: str | None = Field(default=None, description="what the visitor reads outside office hours")


@router.post(f"{_CONFIG}/person-check", response_model_exclude_none=True, responses=described(404))
async def check_person(api: ApiDep, caller: AdminDep, company: CompanyPath, body: PersonQuestion) -> PersonAnswer:
    """Whether a message would go to a person, by rules and office hours. Nothing is stored, no model is called."""
    config = await with_unsaved(api, caller, company, body)
    rule_match = matching_rule(config.person_rules, RuleInput(body.text, body.plan, body.page))
    time = body.at or api.clock.now()
    opening = next_opening(config.office_hours, time)
    return PersonAnswer(
        to="never" if rule_match and rule_match.to == "never" else "person" if rule_match else None,
        rule=rule_match.index if rule_match else None,
        open=opening is None,
        opens_at=opening,
        told=away_notice(config.office_hours, opening, time, body.language, ai=config.ai_auto_response_enabled)
        if opening
        else None,
    )


@router.post(f"{_CONFIG}/prompt", responses=described(404))
async def show_prompt(api: ApiDep, caller: AdminDep, company: CompanyPath, body: Unsaved) -> preview_rpc.PromptReply:
    """The prompt's layers before the conversation, as in a visitor's turn."""
    config = await with_unsaved(api, caller, company, body)
    principal = _as_visitor(api, caller, body.language)
    return await ask(
        api.rpc,
        preview_rpc.PROMPT,
        preview_rpc.PromptRequest(config=config, principal=principal, language=body.language),
    )


@router.post(f"{_CONFIG}/sandbox", responses=described(404, 429))
async def try_settings(
    api: ApiDep, caller: AdminDep, company: CompanyPath, body: TryoutQuestion
) -> preview_rpc.TryReply:
    """The answer to one question. Nothing is stored; model calls cost money. Tools are those of the saved settings."""
    if not body.question.strip():
        raise RefusedError(ErrorCode.EMPTY_TEXT, "question: write something")
    config = await with_unsaved(api, caller, company, body)
    return await try_question(api, caller, config, body.question, body.language)


@router.post(f"{_CONFIG}/site-check", response_model_exclude_none=True, responses=described(404))
async def check_site(api: ApiDep, caller: AdminDep, company: CompanyPath, body: Address) -> preview_rpc.SiteCheckReply:
    """Whether fetch_page may read an address, and why not. Nothing is fetched."""
    config = await with_unsaved(api, caller, company, body)
    request = preview_rpc.SiteCheckRequest(tool_config=config.tool_config, address=body.address, language=body.language)
    return await ask(api.rpc, preview_rpc.SITE_CHECK, request)


async def try_question(
    api: Api, caller: TokenCaller, config: CompanyConfig, question: str, language: Language
) -> preview_rpc.TryReply:
    """The answer that a visitor of the company would get with these settings."""
    principal = _as_visitor(api, caller, language)
    request = preview_rpc.TryRequest(config=config, principal=principal, question=question, language=language)
    return await ask(api.rpc, preview_rpc.TRY, request, deadline=TRY_OUT_SECONDS)


def _as_visitor(api: Api, caller: TokenCaller, language: Language) -> str:
    visitor = TokenCaller(
        subject=f"try-{caller.subject}"[:64],
        role="visitor",
        company=caller.company,
        plan="free",
        expires=caller.expires,
    )
    return api.identity.principals.sign(visitor, None, language)


async def with_unsaved(api: Api, caller: TokenCaller, company: str, body: Unsaved) -> CompanyConfig:
    """The saved settings with the unsaved patch applied. Raises NOT_FOUND, BAD_FIELD."""
    check_own_company(caller, company)
    check_json(body.settings)
    saved = found(await api.companies.latest_settings(company), "settings of this company")
    saved_config = saved.config.to_wire()
    config = merged_settings(saved_config, {**body.settings, "companyId": company})
    sealed.restore_hidden(config, saved_config)
    refuse(faults(config, saved_config))
    return read_config(config)
