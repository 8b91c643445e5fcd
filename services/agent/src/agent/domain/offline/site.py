"""Which pages of a company's site to read for a question: the one that the visitor is on, then those it leads to."""

from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.offline.passages import Page, best_passages, telling
from agent.domain.prompt.layers import Language

AT_ONCE = 3
"""Pages read side by side."""
_SERVING = frozenset(("=help", "=begin", "=contact", "=price"))
"""What pages are about that answer questions of any kind."""


def first_page(page_url: str | None) -> str:
    """Where reading begins: the page that the person is on, or the first of the site."""
    return (urlsplit(page_url).path if page_url else "") or "/"


def next_pages(
    question: str, before: str, language: Language, read: Sequence[Page], tried: Collection[str]
) -> tuple[str, ...]:
    """The paths to read next: of what the pages read so far lead to, what promises most for the question."""
    asked = {key for word in (*telling(question), *telling(before)) for key in keys_of(word)}
    ranked: dict[str, tuple[float, int]] = {}
    for page in read:
        for path, words, spoken in page.links:
            if path in tried or path in ranked:
                continue
            about = {key for word in words_of(f"{words} {path}") for key in keys_of(word)}
            foreign = _foreign(path, spoken, language)
            score = 2.0 * len(asked & about) + bool(about & _SERVING) - 1.5 * foreign
            ranked[path] = (score, -len(ranked))
    order = sorted(ranked, key=lambda path: ranked[path], reverse=True)
    return tuple(order[:AT_ONCE])


def _foreign(path: str, spoken: str | None, language: Language) -> bool:
    """Whether the page is said to be in another language than the question's."""
    first = path.strip("/").split("/")[0].split("?")[0].lower()
    named = (spoken or (first if first in ("es", "en") else "")).lower()[:2]
    return bool(named) and named != language


def translations(language: Language, read: Sequence[Page], tried: Collection[str]) -> tuple[str, ...]:
    """The page in the question's language, where the first page that was read says there is one."""
    paths = [path for page in read[:1] for path, _, spoken in page.links
             if spoken and spoken.lower().startswith(language)]  # fmt: skip
    return tuple(path for path in paths if path not in tried)[:1]


def answers(question: str, before: str, read: Sequence[Page]) -> bool:
    """Whether what was read so far answers the question."""
    return bool(best_passages(question, before, read))
