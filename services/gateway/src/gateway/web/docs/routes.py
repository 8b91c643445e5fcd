"""/docs and /openapi.json: made on first request, beside the event loop; no script but this server's."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from html import escape
from string import Template
from typing import NoReturn
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from contracts.languages import LANGUAGES, Language, named_language
from gateway.web.assets import PAGE_HEADERS, Asset, asset
from gateway.web.docs.guide import GuidePage, example, guide, page_path, slugs
from gateway.web.docs.reference import Chapter, chapter_path, chapters
from gateway.web.docs.search import LONGEST, MARK, MOST, Found, Index
from gateway.web.pages import language_links, static
from gateway.web.words import SITE, words

_HEADERS = PAGE_HEADERS | {
    "Content-Security-Policy": PAGE_HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    )
}
_API = "api"
"""The reference's page, in every language."""


def docs_routes(document: Callable[[], dict[str, object]]) -> list[BaseRoute]:
    """The routes of /docs and /openapi.json. `document`: builds the OpenAPI document, which takes a second."""
    docs = _Docs(document)
    return [
        Route("/openapi.json", docs.document, methods=["GET", "HEAD"]),
        Route("/docs", _begin, methods=["GET"]),
        Route("/docs/examples/{name}", _example, methods=["GET"]),
        Route("/docs/{language}", docs.page, methods=["GET", "HEAD"]),
        Route("/docs/{language}/search", docs.search, methods=["GET"]),
        Route("/docs/{language}/{slug}", docs.page, methods=["GET", "HEAD"]),
        Route("/docs/{language}/api/{chapter}", docs.chapter, methods=["GET", "HEAD"]),
    ]


async def _begin(request: Request) -> Response:
    language = named_language(request.headers.get("accept-language")) or "en"
    return RedirectResponse(f"/docs/{language}", headers={"Vary": "Accept-Language"})


async def _example(request: Request) -> Response:
    text = example(request.path_params["name"])
    return PlainTextResponse(text, headers=PAGE_HEADERS) if text is not None else _nothing()


def _nothing() -> NoReturn:
    raise HTTPException(404, "there is no such page: see /docs")


class _Docs:
    def __init__(self, document: Callable[[], dict[str, object]]) -> None:
        self._document = document
        self._pages = dict[str, Asset]()

    @cached_property
    def _chapters(self) -> dict[str, Chapter]:
        return {chapter.slug: chapter for chapter in chapters(self._document())}

    @cached_property
    def _guides(self) -> dict[Language, Index]:
        return {language: Index(part for page in guide(language) for part in page.sections) for language in LANGUAGES}

    @cached_property
    def _reference(self) -> Index:
        found = (section for chapter in self._chapters.values() for section in chapter.sections)
        return Index({section.heading: section for section in found}.values())

    def _find(self, language: Language, question: str) -> list[Found]:
        """The guide's parts first; those of the reference at the language's own addresses."""
        reference = (
            replace(one, path=one.path.replace("/docs/en/", f"/docs/{language}/"))
            for one in self._reference.find(question)
        )
        return [*self._guides[language].find(question), *reference][:MOST]

    async def document(self, request: Request) -> Response:
        """The OpenAPI document."""
        return await self._answer(request, "en", "openapi", self._as_json, "application/json")

    async def page(self, request: Request) -> Response:
        """A page of the guide; without a name the first one."""
        language = _language(request)
        slug = request.path_params.get("slug") or slugs()[0][language]
        make = self._overview if slug == _API else _of_guide
        return await self._answer(request, language, slug, make)

    async def chapter(self, request: Request) -> Response:
        return await self._answer(request, _language(request), request.path_params["chapter"], self._chapter)

    async def search(self, request: Request) -> Response:
        """The sections that contain the words."""
        language, question = _language(request), request.query_params.get("q", "")[:LONGEST]
        found = await asyncio.to_thread(self._find, language, question)
        body = _results(language, question, found)
        return HTMLResponse(body, headers=_HEADERS | {"Cache-Control": "no-store"})

    async def _answer(
        self,
        request: Request,
        language: Language,
        name: str,
        make: Callable[[Language, str], str | None],
        media_type: str = "text/html",
    ) -> Response:
        path = request.url.path
        made = self._pages.get(path)
        if made is None:
            body = await asyncio.to_thread(make, language, name)
            if body is None:
                _nothing()
            made = await asyncio.to_thread(asset, path, media_type, body.encode(), headers=_HEADERS)
            self._pages[path] = made  # as many as there are pages
        return await made.answer(request)

    def _as_json(self, language: Language, name: str) -> str:
        del language, name
        return json.dumps(self._document(), ensure_ascii=False)

    def _overview(self, language: Language, slug: str) -> str:
        texts = words(language, "docs")
        rows = "".join(
            f'<h2><a href="{chapter_path(language, one.slug)}">{escape(one.title)}</a></h2><ul class="operations">'
            + "".join(f"<li><code>{escape(name)}</code></li>" for name in one.names)
            + "</ul>"
            for one in self._chapters.values()
        )
        told = Template(escape(texts["api_lead"])).substitute(
            openapi='<a href="/openapi.json">/openapi.json</a>', asyncapi='<a href="/asyncapi">/asyncapi</a>'
        )
        return _layout(
            language, slug, texts["api"], f"<h1>{escape(texts['api'])}</h1><p>{told}</p>{rows}", _in_each_language(slug)
        )

    def _chapter(self, language: Language, slug: str) -> str | None:
        chapter = self._chapters.get(slug)
        if chapter is None:
            return None
        back = f'<p><a href="{page_path(language, _API)}">{escape(words(language, "docs")["api"])}</a></p>'
        body = f'{back}<div lang="en"><h1>{escape(chapter.title)}</h1>{chapter.body}</div>'
        return _layout(language, _API, chapter.title, body, _in_each_language(f"{_API}/{slug}"))


def _language(request: Request) -> Language:
    given = request.path_params["language"]
    for language in LANGUAGES:
        if language == given:
            return language
    raise HTTPException(404, f"the documentation is at {', '.join(f'/docs/{one}' for one in LANGUAGES)}")


def _of_guide(language: Language, slug: str) -> str | None:
    pages = guide(language)
    at = next((at for at, page in enumerate(pages) if page.slug == slug), None)
    if at is None:
        return None
    page = pages[at]
    following = pages[at + 1] if at + 1 < len(pages) else None
    onward = f'<p class="onward"><a href="{following.path}">{escape(following.title)}</a></p>' if following else ""
    return _layout(language, slug, page.title, page.body + onward, slugs()[at])


def _results(language: Language, question: str, found: list[Found]) -> str:
    texts = words(language, "docs")
    rows = "".join(
        f'<li><a href="{escape(one.path)}">{escape(one.heading or one.page)}</a> <span>{escape(one.page)}</span>'
        f"<p>{_marked(one.excerpt)}</p></li>"
        for one in found
    )
    told = f'<ol class="results">{rows}</ol>' if found else f"<p>{escape(texts['nothing'])}</p>"
    title = texts["results"]
    search = _in_each_language(f"search?q={quote(question)}")
    return _layout(language, "search", title, f"<h1>{escape(title)}</h1>{told}", search, question)


def _marked(excerpt: str) -> str:
    return escape(excerpt).replace(MARK[0], "<mark>").replace(MARK[1], "</mark>")


def _in_each_language(slug: str) -> dict[Language, str]:
    return dict.fromkeys(LANGUAGES, slug)


def _layout(
    language: Language, slug: str, title: str, body: str, translations: Mapping[Language, str], question: str = ""
) -> str:
    links = "".join(_link(page, page.slug == slug) for page in guide(language))
    texts = {name: escape(text) for name, text in words(language, "docs").items()}
    current = ' aria-current="page"' if slug == _API else ""
    return _template().substitute(
        {
            **texts,
            "lang": language,
            "title": escape(title),
            "links": links + f'<li><a href="{page_path(language, _API)}"{current}>{texts["api"]}</a></li>',
            "body": body.replace("<pre>", '<pre tabindex="0">'),  # what scrolls can be reached with keys
            "question": escape(question),
            "home": f"/docs/{language}",
            **language_links(language, {one: page_path(one, name) for one, name in translations.items()}),
            "icon": static("icon.svg").url,
            "tokens": static("tokens.css").url,
            "styles": static("docs.css").url,
            "script": static("site.js").url,
        }
    )


def _link(page: GuidePage, current: bool) -> str:
    mark = ' aria-current="page"' if current else ""
    return f'<li><a href="{page.path}"{mark}>{escape(page.title)}</a></li>'


@cache
def _template() -> Template:
    return Template((SITE / "docs.html").read_text(encoding="utf-8"))
