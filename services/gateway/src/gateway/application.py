"""The HTTP application: routes, problem documents, limits and the websocket, over what app.py built."""

from collections.abc import Awaitable
from functools import cache
from threading import Lock

from fastapi import FastAPI
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from contracts.json_values import JsonObject
from gateway.doors.door_route import Doors
from gateway.doors.mcp.endpoint import PATH as MCP_PATH
from gateway.doors.mcp.endpoint import McpEndpoint
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
from gateway.web.pages import page_routes
from gateway.web.proxies import Proxies
from gateway.web.settings_words import describe

VERSION = "2.0"
ROUTERS = tuple(
    module.router
    for module in (
        visitors,
        desk,  # its /conversations/counts before what takes any word for an id
        people,
        conversations,
        files,
        agent_help,
        company_settings,
        companies,
        own_tools,
        sign_in,
        team,
        usage,
        reports,
        tryouts,
        recorded_turns,
        knowledge,
        knowledge_answers,
        failed_turns,
        tools,
        analysis,
        personal,
        erasures,
        principals,
        personas,
        widget,
    )
)
CHAT_PATH = "/v2/chat/ws"


class Front:
    """Sends chats to their endpoint and everything else to the HTTP application, whose doors come first.

    A chat stays open for hours and keeps every layer in its path alive, so it passes through this one only.
    """

    def __init__(self, chat: ChatEndpoint, http: FastAPI, proxies: Proxies) -> None:
        self._chat = chat
        self._http = CrossOrigin(Doors(http))
        self._proxies = proxies

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        self._proxies.name_client(scope)
        if scope["type"] == "websocket" and scope["path"] == CHAT_PATH:
            return self._chat(scope, receive, send)
        return self._http(scope, receive, send)


def build_http(api: Api, health: list[BaseRoute], mcp: McpEndpoint | None = None) -> FastAPI:
    """The HTTP application; `health` are the service's own /healthz, /readyz and /metrics."""
    application = FastAPI(
        title="Nexus",
        version=VERSION,
        description="Chat, conversations, settings, tools, memory and tokens. Errors are problem documents (RFC 9457).",
        openapi_url=None,  # web/docs serves it
        docs_url=None,
        redoc_url=None,
    )
    application.state.api = api
    problems.install(application)
    # A request is held against the routes one after the other, and most requests are those of doors.
    if mcp is not None:
        application.router.routes.append(Route(MCP_PATH, mcp, methods=["POST", "GET", "DELETE"]))
    # As routes of the application's own: each router between would match a request once more.
    for router in (*DOORS, *ROUTERS):
        application.router.routes.extend(router.routes)
    application.router.routes.extend(health)
    # The document of the interface is made with nothing behind it.
    offered = getattr(api, "personas", None) is not None
    application.router.routes.extend(page_routes(personas=offered))
    application.router.routes.extend(console_routes(dev=offered))
    application.router.routes.extend(docs_routes(lambda: application.openapi()))
    application.add_middleware(BodyLimit)
    made, making = application.openapi, Lock()

    @cache
    def document() -> JsonObject:
        return complete(describe(made()))

    def openapi() -> JsonObject:
        with making:  # of two threads that ask first one makes it
            return document()

    application.openapi = openapi
    return application
