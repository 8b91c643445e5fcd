"""/docs and /openapi.json, rendered on first request in a thread. Pages run no scripts but this server's."""

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
from gateway.web.docs.guide import GuidePage, GuideSection, example, guide, page_path, slugs
from gateway.web.docs.reference import Chapter, chapter_path, chapters
from gateway.web.docs.search import MARK, MAX_QUERY_CHARACTERS, MAX_RESULTS, Index
from gateway.web.pages import language_links, static
from gateway.web.words import SITE, words

_HEADERS = PAGE_HEADERS | {
    "Content-Security-Policy": PAGE_HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    )
}
_API = "api"
"""Slug of the API reference in every language."""


def docs_routes(document: Callable[[], dict[str, object]]) -> list[BaseRoute]:
    """The routes of /docs and /openapi.json. `document`: builds the OpenAPI document, which takes a second."""
    docs = _Docs(document)
    return [
        Route("/openapi.json", docs.document, methods=["GET", "HEAD"]),
        Route("/docs", _redirect_to_language, methods=["GET"]),
        Route("/docs/", _redirect_to_language, methods=["GET"]),
        Route("/docs/examples/{name}", _example, methods=["GET"]),
        Route("/docs/{language}", docs.page, methods=["GET", "HEAD"]),
        Route("/docs/{language}/search", docs.search, methods=["GET"]),
        Route("/docs/{language}/{slug}", docs.page, methods=["GET", "HEAD"]),
        Route("/docs/{language}/api/{chapter}", docs.chapter, methods=["GET", "HEAD"]),
    ]


async def _redirect_to_language(request: Request) -> Response:
    language = named_language(request.headers.get("accept-language")) or "en"
    return RedirectResponse(f"/docs/{language}", headers={"Vary": "Accept-Language"})


async def _example(request: Request) -> Response:
    text = example(request.path_params["name"])
    return PlainTextResponse(text, headers=PAGE_HEADERS) if text is not None else _raise_not_found()


def _raise_not_found() -> NoReturn:
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
        sections = (section for chapter in self._chapters.values() for section in chapter.sections)
        return Index({section.heading: section for section in sections}.values())

    def _find(self, language: Language, question: str) -> list[GuideSection]:
        """The matches in the guide, then those in the reference, with addresses in the language."""
        reference = (
            replace(match, path=match.path.replace("/docs/en/", f"/docs/{language}/"))
            for match in self._reference.find(question)
        )
        return [*self._guides[language].find(question), *reference][:MAX_RESULTS]

    async def document(self, request: Request) -> Response:
        """The OpenAPI document."""
        return await self._answer(request, "en", "openapi", self._as_json, "application/json")

    async def page(self, request: Request) -> Response:
        """A page of the guide; without a slug, the first page."""
        language = _language(request)
        slug = request.path_params.get("slug") or slugs()[0][language]
        make = self._overview if slug == _API else _guide_page
        return await self._answer(request, language, slug, make)

    async def chapter(self, request: Request) -> Response:
        return await self._answer(request, _language(request), request.path_params["chapter"], self._chapter)

    async def search(self, request: Request) -> Response:
        """The sections that contain the words."""
        language, question = _language(request), request.query_params.get("q", "")[:MAX_QUERY_CHARACTERS]
        matches = await asyncio.to_thread(self._find, language, question)
        body = _results(language, question, matches)
        return HTMLResponse(body, headers=_HEADERS | {"Cache-Control": "no-store"})

    async def _answer(
        self,
        request: Request,
        language: Language,
        name: str,
        render: Callable[[Language, str], str | None],
        media_type: str = "text/html",
    ) -> Response:
        path = request.url.path
        page_asset = self._pages.get(path)
        if page_asset is None:
            body = await asyncio.to_thread(render, language, name)
            if body is None:
                _raise_not_found()
            page_asset = await asyncio.to_thread(asset, path, media_type, body.encode(), headers=_HEADERS)
            self._pages[path] = page_asset  # bounded by the number of pages
        return await page_asset.answer(request)

    def _as_json(self, language: Language, name: str) -> str:
        del language, name
        return json.dumps(self._document(), ensure_ascii=False)

    def _overview(self, language: Language, slug: str) -> str:
        texts = words(language, "docs")
        rows = "".join(
            f'<h2><a href="{chapter_path(language, chapter.slug)}">{escape(chapter.slug)}</a></h2>'
            + '<ul class="operations">'
            + "".join(f"<li><code>{escape(name)}</code></li>" for name in chapter.names)
            + "</ul>"
            for chapter in self._chapters.values()
        )
        lead = Template(escape(texts["api_lead"])).substitute(
            openapi='<a href="/openapi.json">/openapi.json</a>', asyncapi='<a href="/asyncapi">/asyncapi</a>'
        )
        return _layout(
            language, slug, texts["api"], f"<h1>{escape(texts['api'])}</h1><p>{lead}</p>{rows}", _in_each_language(slug)
        )

    def _chapter(self, language: Language, slug: str) -> str | None:
        chapter = self._chapters.get(slug)
        if chapter is None:
            return None
        back_link = f'<p><a href="{page_path(language, _API)}">{escape(words(language, "docs")["api"])}</a></p>'
        body = f'{back_link}<div lang="en"><h1>{escape(slug)}</h1>{chapter.body}</div>'
        return _layout(language, _API, slug, body, _in_each_language(f"{_API}/{slug}"))


def _language(request: Request) -> Language:
    requested = request.path_params["language"]
    for language in LANGUAGES:
        if language == requested:
            return language
    raise HTTPException(404, f"the documentation is at {', '.join(f'/docs/{available}' for available in LANGUAGES)}")


def _guide_page(language: Language, slug: str) -> str | None:
    pages = guide(language)
    index = next((index for index, page in enumerate(pages) if page.slug == slug), None)
    if index is None:
        return None
    page = pages[index]
    following = pages[index + 1] if index + 1 < len(pages) else None
    onward = f'<p class="onward"><a href="{following.path}">{escape(following.title)}</a></p>' if following else ""
    return _layout(language, slug, page.title, page.body + onward, slugs()[index])


def _results(language: Language, question: str, matches: list[GuideSection]) -> str:
    texts = words(language, "docs")
    rows = "".join(
        f'<li><a href="{escape(match.path)}">{escape(match.heading or match.page)}</a> '
        f"<span>{escape(match.page)}</span><p>{_marked(match.text)}</p></li>"
        for match in matches
    )
    result_list = f'<ol class="results">{rows}</ol>' if matches else f"<p>{escape(texts['nothing'])}</p>"
    title = texts["results"]
    search = _in_each_language(f"search?q={quote(question)}")
    return _layout(language, "search", title, f"<h1>{escape(title)}</h1>{result_list}", search, question)


def _marked(excerpt: str) -> str:
    return escape(excerpt).replace(MARK[0], "<mark>").replace(MARK[1], "</mark>")


def _in_each_language(slug: str) -> dict[Language, str]:
    return dict.fromkeys(LANGUAGES, slug)


def _layout(
    language: Language, slug: str, title: str, body: str, translations: Mapping[Language, str], question: str = ""
) -> str:
    links = "".join(_nav_link(page, page.slug == slug) for page in guide(language))
    texts = {name: escape(text) for name, text in words(language, "docs").items()}
    current = ' aria-current="page"' if slug == _API else ""
    return _template().substitute(
        {
            **texts,
            "lang": language,
            "title": escape(title),
            "links": links + f'<li><a href="{page_path(language, _API)}"{current}>{texts["api"]}</a></li>',
            "body": body.replace(
                "<pre>", '<pre tabindex="0">'
            ),  # so that scrolling code can be reached with the keyboard
            "question": escape(question),
            "home": f"/docs/{language}",
            **language_links(
                language,
                {tag: page_path(tag, name) for tag, name in translations.items()},
            ),
            "icon": static("icon.svg").url,
            "tokens": static("tokens.css").url,
            "styles": static("docs.css").url,
            "script": static("site.js").url,
        }
    )


def _nav_link(page: GuidePage, current: bool) -> str:
    mark = ' aria-current="page"' if current else ""
    return f'<li><a href="{page.path}"{mark}>{escape(page.title)}</a></li>'


@cache
def _template() -> Template:
    return Template((SITE / "docs.html").read_text(encoding="utf-8"))
