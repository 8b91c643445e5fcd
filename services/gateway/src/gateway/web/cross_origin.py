"""Cross-origin requests of the widget, which runs on companies' sites: sending and opening files, listing and beginning
topics, and reading messages and transcripts.

Any origin may call and read the response, errors included: cookies are never read, and the token, given only to a
company's own sites (visitors.py), decides what it may do. A widget that could not read a refusal would keep trying.
"""

import re

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_WIDGETS = re.compile(r"/v2/conversations(?:/[^/]+/(?:messages|transcript|files(?:/[^/]+(?:/link)?)?))?")
_VISITORS = "/v2/visitors"
_ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "authorization, content-type, accept-language",
    "Access-Control-Max-Age": "600",
}


class CrossOrigin:
    """ASGI middleware for the paths that the widget calls."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        widgets = scope["type"] == "http" and _WIDGETS.fullmatch(scope["path"]) is not None
        if not widgets and scope.get("path") != _VISITORS:
            await self._app(scope, receive, send)
            return
        origin = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), None)
        if widgets and origin is not None and scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=_ALLOWED | _to(origin))(scope, receive, send)
            return

        async def allowing(message: Message) -> None:
            if (
                origin is not None
                and message["type"] == "http.response.start"
                and (widgets or message["status"] == 401)
            ):
                MutableHeaders(scope=message).update(_to(origin))
            await send(message)

        await self._app(scope, receive, allowing)


def _to(origin: str) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
