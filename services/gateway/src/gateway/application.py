"""The HTTP application: routes, problem documents, limits and the websocket, on top of what app.py builds."""

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
        desk,  # its /conversations/counts must precede the routes that take any word as an id
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
    """Passes chats to their endpoint and everything else to the HTTP application, whose doors come first.

    A chat stays open for hours and keeps every layer in its path alive, so it passes only through this one.
    """

    def __init__(self, chat: ChatEndpoint, http: FastAPI, proxies: Proxies) -> None:
        self._chat = chat
        self._http = CrossOrigin(Doors(http))
        self._proxies = proxies

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        self._proxies.name_client(scope)
        if scope["type"] == "websocket" and scope["path"] == CHAT_PATH:
            return self._chat(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "HEAD":
            # RFC 9110, section 9.3.2: the response to GET without its content, which the server leaves out.
            scope = {**scope, "method": "GET"}
        return self._http(scope, receive, send)


def build_http(api: Api, health: list[BaseRoute], mcp: McpEndpoint | None = None) -> FastAPI:
    """Builds the HTTP application. `health`: the service's /healthz, /readyz and /metrics."""
    application = FastAPI(
        title="Nexus",
        version=VERSION,
        description=(
            "Chat, conversations, settings, tools, memory and tokens. Errors are problem documents (RFC 9457). Where "
            "there is GET, there is HEAD. No path ends with a slash."
        ),
        openapi_url=None,  # web/docs serves it
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a path without its last id must not become the path of all (decision 0224)
    )
    application.state.api = api
    problems.install(application)
    # Routes are tried in order, and most requests are for doors.
    if mcp is not None:
        for path in (MCP_PATH, f"{MCP_PATH}/"):
            application.router.routes.append(Route(path, mcp, methods=["POST", "GET", "DELETE"]))
    # Added to the application itself, since each router in between would match a request once more.
    for router in (*DOORS, *ROUTERS):
        application.router.routes.extend(router.routes)
    application.router.routes.extend(health)
    # The OpenAPI document is generated without an Api.
    has_personas = getattr(api, "personas", None) is not None
    application.router.routes.extend(page_routes(personas=has_personas))
    application.router.routes.extend(console_routes(dev=has_personas))
    application.router.routes.extend(docs_routes(lambda: application.openapi()))
    application.add_middleware(BodyLimit)
    generate, lock = application.openapi, Lock()

    @cache
    def document() -> JsonObject:
        return complete(describe(generate()))

    def openapi() -> JsonObject:
        with lock:  # so that of two threads only one generates it
            return document()

    application.openapi = openapi
    return application
