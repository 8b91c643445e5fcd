"""Setting up a company: reading its first page, trying a question, and listing what is missing until the chat is on
its page."""

import asyncio
import time
from urllib.parse import urlsplit

from fastapi import Request

from contracts import knowledge_rpc
from contracts.company import CompanyConfig, CompanySettings
from contracts.envelope import Wire
from contracts.ids import CompanyId
from contracts.knowledge import Run
from contracts.languages import Language, named_language
from contracts.own_tools import is_local, split_address
from gateway.adapters.service_calls import ask
from gateway.domain.error_language import in_language
from gateway.errors import GatewayError
from gateway.ports import TokenCaller
from gateway.web.company_settings import providers
from gateway.web.deps import Api
from gateway.web.tryouts import try_question
from gateway.web.words import words

LINK_SECONDS = 12 * 3600
"""Lifetime of a sign-in link."""
READING_SECONDS = 20.0
"""Seconds to wait for the first page; reading continues afterwards."""
POLL_SECONDS = 0.3
"""Pause between two looks whether the site is read."""


class Missing(Wire):
    """A step that is still to do, and how."""

    step: str
    message: str


class FirstAnswer(Wire):
    """A question that a visitor might ask, and the assistant's answer."""

    question: str
    answer: str
    model: str | None = None


class FirstHour(Wire):
    """A company that was just created. `signInLink`: for its admin, valid for twelve hours; absent if this
    installation does not sign tokens. `pages`: read so far; the rest of the site follows."""

    company_id: CompanyId
    name: str | None = None
    profile: str
    site: str | None = None
    snippet: str
    sign_in_link: str | None = None
    pages: int
    tried: FirstAnswer | None = None
    missing: list[Missing]


async def first_hour_of(
    api: Api, admin: TokenCaller, settings: CompanySettings, request: Request, accept_language: str | None
) -> FirstHour:
    """Reads the first page and tries a question. Parts that fail are left out, without an error."""
    config, site = settings.config, settings.config.knowledge.site_url
    language = _language(config, accept_language)
    deadline = time.monotonic() + READING_SECONDS
    run = await _read_site(api, admin, site, deadline) if site else None
    first_answer = await _first_answer(api, admin, config, language, deadline if run and run.counts.fetched else 0)
    return FirstHour(
        company_id=config.company_id,
        name=config.name,
        profile=config.profile,
        site=site,
        snippet=snippet(request, config.company_id),
        sign_in_link=sign_in_link(api, request, config.company_id),
        pages=0 if run is None else run.counts.fetched + run.counts.unchanged,
        tried=first_answer,
        missing=await missing(api, config, accept_language, run, first_answer),
    )


async def missing(
    api: Api,
    config: CompanyConfig,
    accept_language: str | None,
    run: Run | None = None,
    first_answer: FirstAnswer | None = None,
    *,
    widget_seen: bool = False,
) -> list[Missing]:
    """The remaining steps until the company's chat answers on its page, in order."""
    language = named_language(accept_language) or config.answer_language(None)
    texts = words(language, "firstHour")
    steps: list[tuple[str, str]] = []
    if config.knowledge.site_url is None:
        steps.append(("site", texts["noSite"]))
    elif run is not None and not run.counts.fetched + run.counts.unchanged:
        reason = next(
            (page_left.message or page_left.reason for page_left in run.left if page_left.message or page_left.reason),
            texts["stillReading"],
        )
        unread = texts["unread"].format(reason=in_language(reason, language).rstrip("."))
        steps.append(("pages", in_language(run.problem, language) if run.problem else unread))
    if not config.ai_auto_response_enabled:
        steps.append(("assistant", texts["assistantOff"]))
    if (first_answer is None or first_answer.model == "offline") and not await _has_model(api, config):
        steps.append(("model", texts["noModel"]))
    if not widget_seen:
        steps.append(("widget", texts["widget"]))
    if api.minter is None:
        steps.append(("signIn", texts["noLink"]))
    return [Missing(step=step, message=message) for step, message in steps]


def snippet(request: Request, company: str) -> str:
    """The tag that puts the chat on a page."""
    return f'<script src="{server_of(request)}/widget.js" data-company="{company}" defer></script>'


def sign_in_link(api: Api, request: Request, company: str) -> str | None:
    """The console's address that signs in the company's admin; None if this installation does not sign tokens. Until it
    expires, it is worth as much as the admin's password. Browsers send what follows # to no server, so that no log
    contains it."""
    if api.minter is None:
        return None
    token = api.minter.mint(sub="admin", role="admin", company=company, ttl=LINK_SECONDS)
    return f"{server_of(request)}/console#token={token}"


def own_address(site: str) -> str:
    """A site's address with a scheme. If the user wrote none it is https, or http for this machine."""
    site = site.strip()
    if "://" in site:
        return site
    return f"http://{site}" if is_local(split_address(f"http://{site}")) else f"https://{site}"


def origin_of(site: str) -> str:
    """Scheme, host and port of an address. An address without a host is returned unchanged; its field is refused
    later."""
    try:
        parts = urlsplit(site)
    except ValueError:
        return site
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else site


async def _read_site(api: Api, admin: TokenCaller, site: str, deadline: float) -> Run | None:
    try:
        request = knowledge_rpc.RefreshAsk(company_id=admin.company, url=site, by=admin.subject)
        run = (await ask(api.rpc, knowledge_rpc.REFRESH, request)).run
        while run is not None and run.state in {"queued", "running"} and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            run = (
                await ask(api.rpc, knowledge_rpc.RUN_GET, knowledge_rpc.RunRequest(company_id=admin.company, id=run.id))
            ).run or run
    except GatewayError:
        return None
    return run


async def _first_answer(
    api: Api, admin: TokenCaller, config: CompanyConfig, language: Language, deadline: float
) -> FirstAnswer | None:
    """Asks what the company does, as a visitor would. None if nothing was read. Waits until the first page can be
    found, which may be shortly after it was read."""
    try:
        request = knowledge_rpc.DocumentsRequest(company_id=admin.company, limit=1)
        reply = await ask(api.rpc, knowledge_rpc.DOCUMENTS, request)
        while not reply.items and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            reply = await ask(api.rpc, knowledge_rpc.DOCUMENTS, request)
        if not reply.items:
            return None
        question = words(language, "firstHour")["question"].format(name=config.name or config.company_id)
        answer = await try_question(api, admin, config, question, language)
    except GatewayError:
        return None
    return FirstAnswer(question=question, answer=answer.text, model=answer.provider)


async def _has_model(api: Api, config: CompanyConfig) -> bool:
    if config.own_model is not None:
        return True
    try:
        reply = await providers(api, config.company_id)
    except GatewayError:
        return True  # unknown at the moment: do not report it as missing
    return any(provider.configured and provider.id != "offline" for provider in reply.providers)


def _language(config: CompanyConfig, accept_language: str | None) -> Language:
    return config.answer_language(None if config.languages else named_language(accept_language))


def server_of(request: Request) -> str:
    """This server's address for browsers: behind an untrusted proxy only the Origin header has the right scheme."""
    host, origin = request.headers.get("host", request.url.netloc), request.headers.get("origin", "")
    return origin if origin in {f"https://{host}", f"http://{host}"} else f"{request.url.scheme}://{host}"
