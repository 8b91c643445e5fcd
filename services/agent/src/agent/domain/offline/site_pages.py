"""Answers a question from pages of the company's site that are read now, and says which pages to read."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from agent.domain.offline.answers import say
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.evidence import answers
from agent.domain.offline.excerpts import SitePage
from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.offline.passages import answer_from_pages, introduction
from agent.domain.offline.quotations import quoted
from agent.domain.offline.site import SURE_COVERAGE, SiteQuestion
from agent.domain.offline.step_results import Result, SayText, UseTools
from contracts.languages import Language
from contracts.person_rules import path_of

TOOL = "fetch_page"
MAX_PAGES_AT_ONCE = 3
"""Pages read at the same time."""
MAX_PAGES = 5
"""Maximum pages read for one question."""
_OTHER_LANGUAGE: dict[Language, Language] = {"es": "en", "en": "es"}
_GENERAL_MEANINGS = frozenset(("=help", "=begin", "=contact", "=price"))
"""Meanings of pages that answer questions of any kind."""


def from_site(request: SiteQuestion, results: Sequence[Result], *, last: bool) -> SayText | UseTools:
    """Return the answer, or the pages to read for it."""
    fetched_pages = [(str(arguments.get("path")), body) for tool, arguments, body in results if tool == TOOL]
    tried_paths = [path for path, _ in fetched_pages]
    pages = [_page(path, body) for path, body in fetched_pages if "error" not in body]
    question, antecedent, language = request.question, request.antecedent, request.language
    start = "/" if request.asks_about_company else first_page(request.page_url)
    next_paths: tuple[str, ...] = () if tried_paths else (start,)
    if tried_paths and not pages and "/" not in tried_paths:
        next_paths = ("/",)
    next_paths = next_paths or translation_paths(language, pages, tried_paths)
    if next_paths and not last:
        return UseTools(tuple((TOOL, {"path": path}) for path in next_paths))
    own_language_pages = [page for page in pages if not is_foreign(page.path, None, language)] or pages
    answer = (
        introduction(own_language_pages[-1:])
        if request.asks_about_company
        else answer_from_pages(question, antecedent, own_language_pages, SURE_COVERAGE)
    )
    if (
        not answer
        and not last
        and len(tried_paths) < MAX_PAGES
        and (next_paths := next_pages(question, antecedent, language, pages, tried_paths))
    ):
        return UseTools(tuple((TOOL, {"path": path}) for path in next_paths))
    answer = (
        answer
        or answer_from_pages(question, antecedent, own_language_pages)
        or answer_from_pages(question, antecedent, pages)
    )
    if answer and (request.asks_about_company or answers(question, antecedent, answer)):
        return SayText(quoted(answer, language))
    if fetched_pages and not pages:
        error = cast("dict[str, Any]", fetched_pages[0][1].get("error") or {})
        reason = str(error.get("message") or error.get("code") or "?").rstrip(".")
        return SayText(say("unread", language, reason=reason))
    return request.unknown()


def _page(path: str, body: Mapping[str, Any]) -> SitePage:
    links = cast("list[Mapping[str, Any]]", body.get("links") or [])
    return SitePage(
        path,
        str(body.get("url") or path),
        str(body.get("title") or ""),
        str(body.get("text") or ""),
        tuple((str(link.get("path")), str(link.get("text") or ""), link.get("language")) for link in links),
    )


def first_page(page_url: str | None) -> str:
    """The page to read first: the one that the person is on, or the site's start page."""
    return path_of(page_url) if page_url else "/"


def next_pages(
    question: str, antecedent: str, language: Language, pages: Sequence[SitePage], tried_paths: Collection[str]
) -> tuple[str, ...]:
    """The paths to read next: the most promising links of the pages read so far, up to `MAX_PAGES_AT_ONCE`."""
    query_keys = {
        key for word in (*significant_words(question), *significant_words(antecedent)) for key in keys_of(word)
    }
    ranked: dict[str, tuple[float, int]] = {}
    for page in pages:
        for path, link_text, link_language in page.links:
            if path in tried_paths or path in ranked:
                continue
            link_keys = {key for word in words_of(f"{link_text} {path}") for key in keys_of(word)}
            if is_foreign(path, link_language, language):
                continue
            # Links into the branch of the site in the question's language come first.
            is_own_branch = is_foreign(path, link_language, _OTHER_LANGUAGE[language])
            score = 2.0 * len(query_keys & link_keys) + bool(link_keys & _GENERAL_MEANINGS) + 3.0 * is_own_branch
            ranked[path] = (score, -len(ranked))
    paths = sorted(ranked, key=lambda path: ranked[path], reverse=True)
    return tuple(paths[:MAX_PAGES_AT_ONCE])


def is_foreign(path: str, declared_language: str | None, language: Language) -> bool:
    """Whether a page is declared, by link or by path, to be in another language than the question's."""
    first_segment = path.strip("/").split("/")[0].split("?")[0].lower()
    page_language = (declared_language or (first_segment if first_segment in ("es", "en") else "")).lower()[:2]
    return bool(page_language) and page_language != language


def translation_paths(language: Language, pages: Sequence[SitePage], tried_paths: Collection[str]) -> tuple[str, ...]:
    """The path of the page in the question's language, if the first page links to one."""
    if any(
        not is_foreign(page.path, None, language) and is_foreign(page.path, None, _OTHER_LANGUAGE[language])
        for page in pages
    ):
        return ()
    # A link to another page in the language ("see our manual, in English") is not a translation.
    paths = [path for page in pages[:1] for path, link_text, link_language in page.links
             if link_language and link_language.lower().startswith(language)
             and (not link_text or is_foreign(path, None, _OTHER_LANGUAGE[language]))]  # fmt: skip
    return tuple(path for path in paths if path not in tried_paths)[:1]
