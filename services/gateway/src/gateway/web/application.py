"""The HTTP application: routes, problem documents, limits and the websocket, over what app.py built."""

from fastapi import FastAPI
from starlette.routing import BaseRoute, WebSocketRoute

from gateway.web import conversations, problems, visitors
from gateway.web.body_limit import BodyLimit
from gateway.web.chat_endpoint import ChatEndpoint
from gateway.web.deps import Api
from gateway.web.pages import page_routes

VERSION = "2.0"


def build_application(api: Api, endpoint: ChatEndpoint, health: list[BaseRoute]) -> FastAPI:
    """The whole door as one ASGI application; `health` are the service's own /healthz, /readyz and /metrics."""
    application = FastAPI(
        title="Nexus",
        version=VERSION,
        description="Chat, conversations and tokens. Errors are problem documents (RFC 9457).",
        docs_url=None,
        redoc_url=None,
    )
    application.state.api = api
    problems.install(application)
    application.include_router(visitors.router)
    application.include_router(conversations.router)
    application.router.routes.append(WebSocketRoute("/v2/chat/ws", endpoint))
    application.router.routes.extend(health)
    application.router.routes.extend(page_routes())
    application.add_middleware(BodyLimit)
    return application
