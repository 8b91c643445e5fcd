"""Setting up a company: reading its first page, trying a question, and listing what is missing until the chat is on
its page."""

import asyncio
import time
from urllib.parse import urlsplit

from fastapi import Request

from contracts.company import CompanyConfig, CompanySettings
from contracts.envelope import Wire
from contracts.ids import CompanyId
from contracts.knowledge import Run
from contracts.knowledge_rpc import (
    DOCUMENTS,
    REFRESH,
    RUN_GET,
    DocumentsRequest,
    RefreshAsk,
    RunRequest,
)
from contracts.languages import Language, named_language
from contracts.own_tools import is_local, split_address
from gateway.adapters.service_calls import ask
from gateway.domain.error_language import in_language
from gateway.errors import GatewayError
from gateway.ports import TokenCaller
from gateway.web.company_settings import providers
from gateway.web.deps import Api
from gateway.web.tryouts import tried
from gateway.web.words import words

READING = 20.0
"""Seconds to wait for the first page; reading continues after that."""
LOOK_EVERY = 0.3


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


async def begun(
    api: Api, admin: TokenCaller, settings: CompanySettings, request: Request, accept_language: str | None
) -> FirstHour:
    """Reads the first page and tries a question; whatever fails is left out, without an error."""
    config, site = settings.config, settings.config.knowledge.site_url
    spoken = _language(config, accept_language)
    until = time.monotonic() + READING
    run = await _read(api, admin, site, until) if site else None
    tried = await _tried(api, admin, config, spoken, until if run and run.counts.fetched else 0)
    return FirstHour(
        company_id=config.company_id,
        name=config.name,
        profile=config.profile,
        site=site,
        snippet=snippet(request, config.company_id),
        sign_in_link=sign_in_link(api, request, config.company_id),
        pages=0 if run is None else run.counts.fetched + run.counts.unchanged,
        tried=tried,
        missing=await missing(api, config, accept_language, run, tried),
    )


async def missing(
    api: Api,
    config: CompanyConfig,
    accept_language: str | None,
    run: Run | None = None,
    tried: FirstAnswer | None = None,
    *,
    seen: bool = False,
) -> list[Missing]:
    """The steps until the company's chat answers on its page, in order."""
    language = named_language(accept_language) or config.answer_language(None)
    texts = words(language, "firstHour")
    found: list[tuple[str, str]] = []
    if config.knowledge.site_url is None:
        found.append(("site", texts["noSite"]))
    elif run is not None and not run.counts.fetched + run.counts.unchanged:
        why = next((one.message or one.reason for one in run.left if one.message or one.reason), texts["stillReading"])
        unread = texts["unread"].format(reason=in_language(why, language).rstrip("."))
        found.append(("pages", in_language(run.problem, language) if run.problem else unread))
    if not config.ai_auto_response_enabled:
        found.append(("assistant", texts["assistantOff"]))
    if (tried is None or tried.model == "offline") and not await _has_model(api, config):
        found.append(("model", texts["noModel"]))
    if not seen:
        found.append(("widget", texts["widget"]))
    if api.sign_in is None:
        found.append(("signIn", texts["noLink"]))
    return [Missing(step=step, message=message) for step, message in found]


def snippet(request: Request, company: str) -> str:
    """The tag that puts the chat on a page."""
    return f'<script src="{server_of(request)}/widget.js" data-company="{company}" defer></script>'


def sign_in_link(api: Api, request: Request, company: str) -> str | None:
    """The console's address for the company's admin."""
    return None if api.sign_in is None else api.sign_in.link(server_of(request), company)


def own_address(site: str) -> str:
    """A site's address as people write it: if it has no scheme, https; on this machine http."""
    site = site.strip()
    if "://" in site:
        return site
    return f"http://{site}" if is_local(split_address(f"http://{site}")) else f"https://{site}"


def origin_of(site: str) -> str:
    """Scheme, host and port of an address; the address itself if it has none (its field is refused then)."""
    try:
        parts = urlsplit(site)
    except ValueError:
        return site
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else site


async def _read(api: Api, admin: TokenCaller, site: str, until: float) -> Run | None:
    try:
        asked = RefreshAsk(company_id=admin.company, url=site, by=admin.subject)
        run = (await ask(api.rpc, REFRESH, asked)).run
        while run is not None and run.state in {"queued", "running"} and time.monotonic() < until:
            await asyncio.sleep(LOOK_EVERY)
            run = (await ask(api.rpc, RUN_GET, RunRequest(company_id=admin.company, id=run.id))).run or run
    except GatewayError:
        return None
    return run


async def _tried(
    api: Api, admin: TokenCaller, config: CompanyConfig, language: Language, until: float
) -> FirstAnswer | None:
    """What the company does, asked as a visitor would; none if nothing was read. A page may be known slightly before it
    can be found, so this waits until it can."""
    try:
        wanted = DocumentsRequest(company_id=admin.company, limit=1)
        found = await ask(api.rpc, DOCUMENTS, wanted)
        while not found.items and time.monotonic() < until:
            await asyncio.sleep(LOOK_EVERY)
            found = await ask(api.rpc, DOCUMENTS, wanted)
        if not found.items:
            return None
        question = words(language, "firstHour")["question"].format(name=config.name or config.company_id)
        said = await tried(api, admin, config, question, language)
    except GatewayError:
        return None
    return FirstAnswer(question=question, answer=said.text, model=said.provider)


async def _has_model(api: Api, config: CompanyConfig) -> bool:
    if config.own_model is not None:
        return True
    try:
        listed = await providers(api, config.company_id)
    except GatewayError:
        return True  # nobody can say now, and so nothing is said of it
    return any(one.configured and one.id != "offline" for one in listed.providers)


def _language(config: CompanyConfig, accept_language: str | None) -> Language:
    return config.answer_language(None if config.languages else named_language(accept_language))


def server_of(request: Request) -> str:
    """This server as a browser sees it: behind an untrusted proxy only the Origin header knows the scheme."""
    host, origin = request.headers.get("host", request.url.netloc), request.headers.get("origin", "")
    return origin if origin in {f"https://{host}", f"http://{host}"} else f"{request.url.scheme}://{host}"
