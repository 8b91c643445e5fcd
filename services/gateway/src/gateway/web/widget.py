"""GET /widget.json: the company's settings that the widget needs, readable from any site; none of them is secret.

It also says whether the widget may run on the site, since browsers do not tell a page why POST /v2/visitors was
refused.
"""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Header, Query, Request, Response
from starlette.responses import JSONResponse

from contracts.company import Greeting, Language, ProactiveMessage, Suggestion
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.ids import CompanyId
from gateway.web.deps import ApiDep
from gateway.web.first_hour import origin_of, server_of
from gateway.web.origins import origin_allowed
from gateway.web.problems import problem

MAX_ORIGIN_CHARACTERS = 300
"""Characters of a recorded origin at most."""
router = APIRouter(include_in_schema=False)
_HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache", "Vary": "Origin"}


class Presence(Wire):
    """How the assistant presents itself, by language."""

    name: str | None = None
    greeting: dict[Language, Greeting]
    suggestions: dict[Language, list[Suggestion]]


class WidgetLook(Wire):
    """The company's colour (#rrggbb), whether the AI answers, how it presents itself, the closed chat's messages,
    and whether the widget may run at this origin."""

    brand_color: str | None = None
    ai: bool
    allowed: bool
    assistant: Presence
    proactive: list[ProactiveMessage]


@router.get("/widget.json", response_model=None)
async def widget_look(
    api: ApiDep,
    request: Request,
    response: Response,
    background: BackgroundTasks,
    company: Annotated[CompanyId, Query()],
    origin: Annotated[str | None, Header()] = None,
    sec_fetch_site: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> WidgetLook | JSONResponse:
    """What the widget needs before the chat is opened."""
    settings = await api.companies.get(company)
    if settings is None:
        return problem(404, ErrorCode.NOT_FOUND, "there is no such company", headers=_HEADERS)
    response.headers.update(_HEADERS)
    config = settings.config
    # Pages of this server itself call without an Origin.
    allowed = origin is None or origin_allowed(origin, settings, request, dev=api.dev)
    # They are a company's site only if it says so, as the demo's does.
    here, site = server_of(request), config.knowledge.site_url
    is_own_site = sec_fetch_site == "same-origin" and site is not None and origin_of(site) == here
    seen_at = origin or (here if is_own_site else None)
    if seen_at is not None and allowed and len(seen_at) <= MAX_ORIGIN_CHARACTERS:
        background.add_task(api.sightings.note, company, seen_at)
    assistant = config.assistant
    presence = Presence(
        name=assistant.name or config.name, greeting=assistant.greeting, suggestions=assistant.suggestions
    )
    return WidgetLook(
        brand_color=config.brand_color,
        ai=config.ai_auto_response_enabled,
        allowed=allowed,
        assistant=presence,
        proactive=config.proactive,
    )
