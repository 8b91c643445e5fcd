"""The console at /console: a page and its modules, as in site/console, and those it shares with the widget."""

import hashlib
import json
import re
from functools import cache
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from contracts.languages import LANGUAGES
from gateway.domain.settings_fields import setting_fields
from gateway.web.assets import PAGE_HEADERS, asset
from gateway.web.words import SITE, words

# Pages that visitors were on are opened out of it: they need not know from where.
_HEADERS = PAGE_HEADERS | {"Referrer-Policy": "no-referrer"}
_SHARED = ("dom.js", "markdown.js", "figures.js", "charts.js", "charts.css", "returning.js")
"""Files of the widget that the console loads too; its own i18n.js has what those with texts import."""
_SAID = re.compile(r"\bwords\.(\w+)")
_HINT = re.compile(r"setting_(?P<path>.+)_hint")
_TYPES = {".js": "text/javascript", ".css": "text/css"}


def console_routes(*, dev: bool) -> list[BaseRoute]:
    """The page, and a route for each file that it loads. `dev`: demo users can sign in."""
    found = _files()
    # Modules load each other by relative addresses: under one version's folder they are all of that version.
    version = hashlib.sha256(b"".join(found[name] for name in sorted(found))).hexdigest()[:16]
    layout = Template((SITE / "console" / "index.html").read_text(encoding="utf-8"))
    page = layout.substitute(dev=str(dev).lower(), files=f"/console/{version}")

    async def endpoint(_: Request) -> Response:
        return HTMLResponse(page, headers=_HEADERS)

    routes: list[BaseRoute] = [Route("/console", endpoint, methods=["GET"])]
    for name, body in found.items():
        kind = _TYPES[name[name.rindex(".") :]]
        routes.append(asset(f"/console/{version}/{name}", kind, body, lasting=True).route())
    return routes


@cache
def _files() -> dict[str, bytes]:
    found = {file.name: file.read_bytes() for file in (SITE / "console").iterdir() if file.name.endswith(tuple(_TYPES))}
    found |= {name: (SITE / "widget" / name).read_bytes() for name in _SHARED}
    found["files.js"] = (SITE / "static" / "files.js").read_bytes()
    shared = {name for source in map(found.__getitem__, _SHARED) for name in _SAID.findall(source.decode())}
    said = {language: words(language, "console") for language in LANGUAGES}
    theirs = {language: {name: words(language, "widget")[name] for name in sorted(shared)} for language in LANGUAGES}
    found["words.js"] = (_constant("WORDS", said) + _constant("SHARED", theirs)).encode()
    bounds = {field.path: field.form for field in setting_fields() if field.form}
    hints = (_HINT.fullmatch(name) for name in words("en", "console"))
    hinted = [one["path"] for one in hints if one is not None]
    found["bounds.js"] = (_constant("BOUNDS", bounds) + _constant("HINTED", hinted)).encode()
    return found


def _constant(name: str, value: object) -> str:
    return f"export const {name} = {json.dumps(value, ensure_ascii=False)};\n"
