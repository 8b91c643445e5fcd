"""The pages of the demo site, the widget's scripts and its npm package."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.metadata import version
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from contracts.asyncapi import document as asyncapi_document
from contracts.languages import LANGUAGES, Language
from gateway.web.assets import PAGE_HEADERS, Asset, asset
from gateway.web.package import PACKAGE_PATH, client_package
from gateway.web.script import LATER_PATH, later_script, widget_script
from gateway.web.words import SITE, words

_PAGES = ("home", "pricing", "help", "guide")
_MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def static(name: str) -> Asset:
    """A file of site/static, under /static/."""
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    return asset(f"/static/{name}", media_type, (SITE / "static" / name).read_bytes())


@cache
def page_routes(*, personas: bool = False) -> Sequence[BaseRoute]:
    """A route for each page in each language, and for the files they load. `personas`: pages offer demo users."""
    scripts = {"/widget.js": widget_script(), LATER_PATH: later_script()}
    routes: list[BaseRoute] = [asset(path, "text/javascript", body).route() for path, body in scripts.items()]
    for language in LANGUAGES:
        for page in _PAGES:
            body = _render(language, page, personas=personas)
            routes.append(Route(_path(language, page), _serve_page(body), methods=["GET"]))
    routes.extend(static(file.name).route() for file in sorted((SITE / "static").iterdir(), key=lambda file: file.name))
    routes.append(Route("/asyncapi", _asyncapi, methods=["GET"]))
    routes.append(asset(PACKAGE_PATH, "application/gzip", client_package()).route())
    return routes


def _path(language: Language, page: str) -> str:
    """The address of a page. English pages have no prefix."""
    return "/" + "/".join([language] * (language != "en") + [page] * (page != "home"))


def language_links(language: Language, paths: Mapping[Language, str]) -> dict[str, str]:
    """Values for a page's template: links to the same page in the other languages."""
    alternates = (f'<link rel="alternate" hreflang="{name}" href="{escape(path)}">' for name, path in paths.items())
    others = (
        f'<a class="ghost" href="{escape(path)}" hreflang="{name}" lang="{name}">{words(name, "site")["language"]}</a>'
        for name, path in paths.items()
        if name != language
    )
    return {"alternates": "\n".join(alternates), "others": "\n".join(others)}


def _render(language: Language, page: str, *, personas: bool) -> str:
    texts = {key: escape(text) for key, text in words(language, "site").items()}
    links = (
        f'<a href="{_path(language, name)}"{" aria-current=page" if name == page else ""}>{texts[name]}</a>'
        for name in _PAGES
    )
    return _part("layout.html").substitute(
        {
            **texts,
            "lang": language,
            "page": page,
            "title": texts[page],
            "home": _path(language, "home"),
            "nav": "".join(links),
            **language_links(
                language, {target_language: _path(target_language, page) for target_language in LANGUAGES}
            ),
            "personas": _part("personas.html").substitute(texts) if personas else "",
            "console": f'<a href="/console">{texts["console"]}</a>' if personas else "",
            "content": _part(f"{language}/{page}.html").substitute(panel=_panel(language).substitute(texts)).strip(),
            "icon": static("icon.svg").url,
            "tokens": static("tokens.css").url,
            "styles": static("site.css").url,
            "script": static("site.js").url,
        }
    )


def _part(path: str) -> Template:
    return Template(SITE.joinpath(*path.split("/")).read_text(encoding="utf-8"))


def _panel(language: Language) -> Template:
    """The home page's market panel, with the shown figures in the language's format; figures of the drawing are
    kept."""
    panel = _part("panel.html")
    if language != "es":
        return panel
    return Template(re.sub(r"(\d)\.(\d+)(%?)(?=[^<>]*<)", _spanish, panel.template))


def _spanish(figure: re.Match[str]) -> str:
    integer_part, decimals, percent = figure.groups()
    return f"{integer_part},{decimals}{'&nbsp;%' if percent else ''}"


def _serve_page(body: str):  # noqa: ANN202 - a Starlette endpoint
    async def endpoint(_: Request) -> Response:
        return HTMLResponse(body, headers=PAGE_HEADERS)

    return endpoint


@cache
def _asyncapi_text() -> str:
    # In the form in which the repository keeps it; cached, since it takes long for hundreds of schemas.
    return (
        json.dumps(asyncapi_document(version("nexus-contracts")), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


async def _asyncapi(_: Request) -> Response:
    return Response(await asyncio.to_thread(_asyncapi_text), media_type="application/json", headers=PAGE_HEADERS)
