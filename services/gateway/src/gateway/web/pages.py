"""The demo site, the widget's script and the page that lists the HTTP interface: plain HTML, made here, no framework.

Pages name everything that they may load in their content security policy: nothing but this server's own files.
"""

import asyncio
import html
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from contracts.asyncapi import document as asyncapi_document
from gateway.web.assets import asset
from gateway.web.script import widget_script

_SITE = files("gateway") / "site"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}


@dataclass(frozen=True, slots=True)
class _Words:
    name: str
    nav_label: str
    footer: str
    pages: dict[str, str]


_WORDS = {
    "en": _Words(
        name="English",
        nav_label="Main",
        footer="A demonstration site. Prices are samples, orders are paper orders, nothing here is advice.",
        pages={"home": "Home", "pricing": "Pricing", "help": "Help", "guide": "Guide"},
    ),
    "es": _Words(
        name="Español",
        nav_label="Principal",
        footer="Sitio de demostración. Los precios son de muestra, las órdenes simuladas; nada aquí es asesoramiento.",
        pages={"home": "Inicio", "pricing": "Precios", "help": "Ayuda", "guide": "Guía"},
    ),
}
_STATIC = {
    "/static/tokens.css": ("tokens.css", "text/css"),
    "/static/site.css": ("site.css", "text/css"),
    "/static/icon.svg": ("icon.svg", "image/svg+xml"),
}


def page_routes() -> list[BaseRoute]:
    """A route for each page in each language, and for the files they load."""
    routes: list[BaseRoute] = []
    for lang, words in _WORDS.items():
        for page in words.pages:
            routes.append(Route(_path(lang, page), _serve_page(_render(lang, page)), methods=["GET"]))
    routes.append(asset("/widget.js", "text/javascript", widget_script()).route())
    for path, (name, media_type) in _STATIC.items():
        routes.append(asset(path, media_type, (_SITE / "static" / name).read_bytes()).route())
    routes.append(Route("/docs", _docs, methods=["GET"]))
    routes.append(Route("/asyncapi", _asyncapi, methods=["GET"]))
    return routes


def _path(lang: str, page: str) -> str:
    tail = "" if page == "home" else f"/{page}"
    return (f"/es{tail}" if lang == "es" else tail) or "/"


def _render(lang: str, page: str) -> str:
    words = _WORDS[lang]
    other = "es" if lang == "en" else "en"
    links = (
        f'<a href="{_path(lang, name)}"{" aria-current=page" if name == page else ""}>{html.escape(title)}</a>'
        for name, title in words.pages.items()
    )
    layout = Template((_SITE / "layout.html").read_text())
    return layout.substitute(
        lang=lang,
        title=html.escape(words.pages[page]),
        home=_path(lang, "home"),
        nav_label=words.nav_label,
        nav="".join(links),
        path_en=_path("en", page),
        path_es=_path("es", page),
        other=other,
        other_name=_WORDS[other].name,
        other_path=_path(other, page),
        content=(_SITE / lang / f"{page}.html").read_text().strip(),
        footer=html.escape(words.footer),
    )


def _serve_page(body: str):  # noqa: ANN202 - a Starlette endpoint
    async def endpoint(_: Request) -> Response:
        return HTMLResponse(body, headers=_HEADERS)

    return endpoint


async def _docs(request: Request) -> Response:
    rows: list[str] = []
    for path, operations in request.app.openapi()["paths"].items():
        for method, operation in operations.items():
            about = html.escape(operation.get("description") or operation.get("summary", ""))
            rows.append(f"<dt><code>{method.upper()} {html.escape(path)}</code></dt><dd>{about}</dd>")
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Nexus HTTP interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/static/site.css"></head><body><main><h1>Nexus HTTP interface</h1>'
        '<p>The whole document: <a href="/openapi.json">/openapi.json</a>; events and calls on the bus: '
        '<a href="/asyncapi">/asyncapi</a>.</p>'
        f"<dl>{''.join(rows)}</dl></main></body></html>"
    )
    return HTMLResponse(body, headers=_HEADERS)


@cache
def _asyncapi_text() -> str:
    # As the repository keeps it, and as slow to make as hundreds of schemas are.
    return (
        json.dumps(asyncapi_document(version("nexus-contracts")), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


async def _asyncapi(_: Request) -> Response:
    return Response(await asyncio.to_thread(_asyncapi_text), media_type="application/json", headers=_HEADERS)
