"""A company's rules for which messages go to a person first, or never; every service judges them with this code."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from contracts.enumerations import OPEN_EXCEPT_INPUT, is_input
from contracts.plain_text import LINE_OF_SETTINGS
from contracts.strict import Strict

MAX_CHARS = 8_000
"""How many characters of a text are examined."""
Phrase = Annotated[str, Field(min_length=2, max_length=100), LINE_OF_SETTINGS]
_ENDINGS = (
    "acione", "acion", "cione", "cion", "mente", "ando", "iendo", "ado", "ada", "ido", "ida", "ing", "ie", "ed", "ar",
    "er", "ir", "o", "a", "e", "y",
)  # fmt: skip
MIN_STEM_CHARS = 4


def _path(value: str, info: ValidationInfo) -> str:
    if is_input(info) and not value.startswith(("/", "*")):
        raise ValueError("use a path such as /pricing or /docs/*")
    return value


PagePath = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_path), LINE_OF_SETTINGS]
"""The start of a path (/pricing), or a pattern with * for anything (/docs/*/api)."""


class PersonRule(Strict):
    """A message matches if each list that is not empty has a match.

    `words`: a word or phrase, ignoring case and accents. `topics`: all words of one, in any form and order
    ("reembolsos" also finds "reembolsar"). `plans`: of the writer; visitors count as free. `pages`: where they write.
    """

    to: Annotated[Literal["person", "never"], OPEN_EXCEPT_INPUT] = Field(
        description="person: goes to one before the AI answers; never: nobody is asked for"
    )
    words: list[Phrase] = Field(default_factory=list[str], max_length=100)
    topics: list[Phrase] = Field(default_factory=list[str], max_length=100)
    plans: list[Annotated[Literal["free", "pro", "premium"], OPEN_EXCEPT_INPUT]] = Field(
        default_factory=list[Literal["free", "pro", "premium"]], max_length=3
    )
    pages: list[PagePath] = Field(default_factory=list[str], max_length=100)

    @model_validator(mode="after")
    def _says_when(self, info: ValidationInfo) -> "PersonRule":
        if is_input(info) and not (self.words or self.topics or self.plans or self.pages):
            raise ValueError("say when it counts: words, topics, plans or pages")
        return self


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The input of the rules: a visitor's text, their plan, and the address of their page."""

    text: str
    plan: str = "free"
    page: str | None = None


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """The rule that applies: its index in the list, and where the message goes."""

    index: int
    to: str


def matching_rule(rules: Sequence[PersonRule], rule_input: RuleInput) -> RuleMatch | None:
    """Returns the first rule that applies, or None."""
    if not rules:
        return None
    words = re.findall(r"\w+", _folded(rule_input.text[:MAX_CHARS]))
    joined, stems = f" {' '.join(words)} ", frozenset(map(_stem, words))
    path = path_of(rule_input.page) if rule_input.page else None
    for index, rule in enumerate(rules):
        if (
            (rule.words or rule.topics or rule.plans or rule.pages)
            and (not rule.words or any(_is_said(word, joined) for word in rule.words))
            and (not rule.topics or any(_is_about(topic, stems) for topic in rule.topics))
            and (not rule.plans or rule_input.plan in rule.plans)
            and (not rule.pages or (path is not None and any(_is_on(page, path) for page in rule.pages)))
        ):
            return RuleMatch(index, rule.to)
    return None


def path_of(page: str) -> str:
    """Returns the path of a page's address; the site's root if it is no address."""
    try:
        return urlsplit(page).path or "/"
    except ValueError:
        return "/"


def _is_said(phrase: str, joined: str) -> bool:
    words = re.findall(r"\w+", _folded(phrase))
    return bool(words) and f" {' '.join(words)} " in joined


def _is_about(topic: str, stems: frozenset[str]) -> bool:
    words = re.findall(r"\w+", _folded(topic))
    return bool(words) and all(_stem(word) in stems for word in words)


def _is_on(rule: str, path: str) -> bool:
    if "*" in rule:
        # Each part is matched at its first occurrence. A regular expression would try all, for some rules endlessly.
        first, *parts, last = rule.split("*")
        position = len(first) if path.startswith(first) else -1
        for part in parts:
            match_start = path.find(part, position) if position >= 0 else -1
            position = match_start + len(part) if match_start >= 0 else -1
        return 0 <= position <= len(path) - len(last) and path.endswith(last)
    return path == rule or path.startswith(rule if rule.endswith("/") else f"{rule}/")


def _folded(text: str) -> str:
    marks = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in marks if not unicodedata.combining(character))


def _stem(word: str) -> str:
    """Returns a word without its Spanish or English endings, enough to find "reembolso" in "reembolsos"."""
    if len(word) > MIN_STEM_CHARS:
        word = word.removesuffix("s")
    word = word.removesuffix(
        next((ending for ending in _ENDINGS if len(word) - len(ending) >= MIN_STEM_CHARS and word.endswith(ending)), "")
    )
    return word[:-1] if len(word) > MIN_STEM_CHARS and word[-1] == word[-2] else word
