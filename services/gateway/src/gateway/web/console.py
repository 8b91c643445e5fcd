"""The console at /console: a page and its modules, as in site/console, and those it shares with the widget."""

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from contracts.languages import LANGUAGES
from gateway.domain.settings_fields import setting_fields
from gateway.web.assets import PAGE_HEADERS, asset
from gateway.web.words import SITE, words

# Human agents open visitors' pages from the console; those sites need not know from where.
_HEADERS = PAGE_HEADERS | {"Referrer-Policy": "no-referrer"}
_WIDGET_FILES = ("dom.js", "markdown.js", "figures.js", "charts.js", "charts.css", "returning.js")
"""Files of the widget that the console loads too; the console's own i18n.js has the texts that they import."""
_USED_TEXT = re.compile(r"\bwords\.(\w+)")
_HINT = re.compile(r"setting_(?P<path>.+)_hint")
_TYPES = {".js": "text/javascript", ".css": "text/css"}


@cache
def console_routes(*, dev: bool) -> Sequence[BaseRoute]:
    """The page, and a route for each file that it loads. `dev`: demo users can sign in."""
    bodies = _files()
    # Modules import each other by relative addresses, so one versioned folder keeps all of them at that version.
    version = hashlib.sha256(b"".join(bodies[name] for name in sorted(bodies))).hexdigest()[:16]
    layout = Template((SITE / "console" / "index.html").read_text(encoding="utf-8"))
    page = layout.substitute(dev=str(dev).lower(), files=f"/console/{version}")

    async def endpoint(_: Request) -> Response:
        return HTMLResponse(page, headers=_HEADERS)

    async def without_slash(_: Request) -> Response:
        return RedirectResponse("/console")

    routes: list[BaseRoute] = [
        Route("/console", endpoint, methods=["GET"]),
        Route("/console/", without_slash, methods=["GET"]),
    ]
    for name, body in bodies.items():
        kind = _TYPES[name[name.rindex(".") :]]
        routes.append(asset(f"/console/{version}/{name}", kind, body, lasting=True).route())
    return routes


def _files() -> dict[str, bytes]:
    bodies = {
        file.name: file.read_bytes() for file in (SITE / "console").iterdir() if file.name.endswith(tuple(_TYPES))
    }
    bodies |= {name: (SITE / "widget" / name).read_bytes() for name in _WIDGET_FILES}
    bodies["files.js"] = (SITE / "static" / "files.js").read_bytes()
    shared = {name for source in map(bodies.__getitem__, _WIDGET_FILES) for name in _USED_TEXT.findall(source.decode())}
    console_texts = {language: words(language, "console") for language in LANGUAGES}
    widget_texts = {
        language: {name: words(language, "widget")[name] for name in sorted(shared)} for language in LANGUAGES
    }
    bodies["words.js"] = (_constant("WORDS", console_texts) + _constant("SHARED", widget_texts)).encode()
    bounds = {field.path: field.form for field in setting_fields() if field.form}
    hint_matches = (_HINT.fullmatch(name) for name in words("en", "console"))
    paths_with_hint = [match["path"] for match in hint_matches if match is not None]
    bodies["bounds.js"] = (_constant("BOUNDS", bounds) + _constant("HINTED", paths_with_hint)).encode()
    return bodies


def _constant(name: str, value: object) -> str:
    return f"export const {name} = {json.dumps(value, ensure_ascii=False)};\n"
