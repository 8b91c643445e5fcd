"""The HTTP application: routes, problem documents, limits and the websocket, over what app.py built."""

from collections.abc import Awaitable

from fastapi import FastAPI
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from gateway.doors.table import DOORS
from gateway.web import (
    agent_help,
    analysis,
    companies,
    company_settings,
    conversations,
    desk,
    erasures,
    failed_turns,
    files,
    knowledge,
    knowledge_answers,
    own_tools,
    people,
    personal,
    personas,
    principals,
    problems,
    recorded_turns,
    reports,
    sign_in,
    team,
    tools,
    tryouts,
    usage,
    visitors,
    widget,
)
from gateway.web.body_limit import BodyLimit
from gateway.web.chat_endpoint import ChatEndpoint
from gateway.web.console import console_routes
from gateway.web.cross_origin import CrossOrigin
from gateway.web.deps import Api
from gateway.web.docs.routes import docs_routes
from gateway.web.field_words import complete
from gateway.web.mcp_endpoint import PATH as MCP_PATH
from gateway.web.mcp_endpoint import McpEndpoint
from gateway.web.pages import page_routes
from gateway.web.proxies import Proxies
from gateway.web.settings_words import describe

VERSION = "2.0"
CHAT_PATH = "/v2/chat/ws"


class Front:
    """Sends chats to their endpoint and all else to the HTTP application.

    A chat that stays for hours holds on to every layer that it came in through: here that is this one alone.
    """

    def __init__(self, chat: ChatEndpoint, http: FastAPI, proxies: Proxies) -> None:
        self._chat = chat
        self._http = http
        self._proxies = proxies

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        self._proxies.name_client(scope)
        if scope["type"] == "websocket" and scope["path"] == CHAT_PATH:
            return self._chat(scope, receive, send)
        return self._http(scope, receive, send)


def build_http(api: Api, health: list[BaseRoute], mcp: McpEndpoint | None = None) -> FastAPI:
    """The HTTP half of the door; `health` are the service's own /healthz, /readyz and /metrics."""
    application = FastAPI(
        title="Nexus",
        version=VERSION,
        description="Chat, conversations, settings, tools, memory and tokens. Errors are problem documents (RFC 9457).",
        docs_url=None,
        redoc_url=None,
    )
    application.state.api = api
    problems.install(application)
    # A request is held against the routes one after the other, and most requests are those of doors.
    if mcp is not None:
        application.router.routes.append(Route(MCP_PATH, mcp, methods=["POST", "GET", "DELETE"]))
    for door in DOORS:
        application.include_router(door)
    application.include_router(visitors.router)
    # Its /conversations/counts before what takes any word for an id.
    application.include_router(desk.router)
    application.include_router(people.router)
    application.include_router(conversations.router)
    application.include_router(files.router)
    application.include_router(agent_help.router)
    application.include_router(company_settings.router)
    application.include_router(companies.router)
    application.include_router(own_tools.router)
    application.include_router(sign_in.router)
    application.include_router(team.router)
    application.include_router(usage.router)
    application.include_router(reports.router)
    application.include_router(tryouts.router)
    application.include_router(recorded_turns.router)
    application.include_router(knowledge.router)
    application.include_router(knowledge_answers.router)
    application.include_router(failed_turns.router)
    application.include_router(tools.router)
    application.include_router(analysis.router)
    application.include_router(personal.router)
    application.include_router(erasures.router)
    application.include_router(principals.router)
    application.include_router(personas.router)
    application.include_router(widget.router)
    application.router.routes.extend(health)
    # The document of the interface is made with nothing behind it.
    offered = getattr(api, "personas", None) is not None
    application.router.routes.extend(page_routes(personas=offered))
    application.router.routes.extend(console_routes(dev=offered))
    application.router.routes.extend(docs_routes(lambda: application.openapi()))
    application.add_middleware(BodyLimit)
    application.add_middleware(CrossOrigin)
    made = application.openapi
    application.openapi = lambda: complete(describe(made()))
    return application
