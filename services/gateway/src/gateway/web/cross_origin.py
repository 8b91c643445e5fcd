"""Cross-origin requests of pages on companies' sites: of the widget (files, topics, messages, transcripts), and of
clients that run in browsers (OpenAI, AI SDK, AG-UI).

Any origin may call and read the response, including errors: cookies are never read, and permission depends only on the
token, which only a company's own sites (visitors.py) or its server can get. A client that could not read a refusal
would keep trying. A2A's clients are servers, and an MCP server must refuse foreign origins: neither is here (decision
0199).
"""

import re

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGES = re.compile(
    r"/v2/conversations(?:/[^/]+/(?:messages|transcript|files(?:/[^/]+(?:/link)?)?))?"
    r"|/v1/(?:chat/completions|models|responses)(?:/.+)?|/v2/ag-ui|/v2/ui/chat(?:/.+)?"
)
_VISITORS = "/v2/visitors"
_EXPOSED_HEADERS = "Retry-After, WWW-Authenticate, x-should-retry, x-vercel-ai-ui-message-stream"
"""Response headers that clients may read, besides those that every page may read."""
_PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "authorization, content-type, accept-language, *",
    "Access-Control-Max-Age": "600",
}


class CrossOrigin:
    """ASGI middleware for the paths that pages call."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope["headers"] if scope["type"] == "http" else ()
        origin = next((value.decode("latin-1") for name, value in headers if name == b"origin"), None)
        is_page_path = origin is not None and _PAGES.fullmatch(scope["path"]) is not None
        if origin is None or not (is_page_path or scope["path"] == _VISITORS):
            await self._app(scope, receive, send)
            return
        if is_page_path and scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=_PREFLIGHT_HEADERS | _cors_headers(origin))(scope, receive, send)
            return

        async def allowing(message: Message) -> None:
            if message["type"] == "http.response.start" and (is_page_path or message["status"] == 401):
                MutableHeaders(scope=message).update(_cors_headers(origin))
            await send(message)

        await self._app(scope, receive, allowing)


def _cors_headers(origin: str) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSED_HEADERS, "Vary": "Origin"}
