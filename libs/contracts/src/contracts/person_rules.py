"""A company's rules for which messages go to a person first, or never; every service judges them with this code."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from contracts.enumerations import OPEN_BEHIND_THE_DOOR, at_the_door
from contracts.plain_text import LINE_OF_SETTINGS
from contracts.strict import Strict

LONGEST = 8_000
"""Characters of a text that are examined."""
Phrase = Annotated[str, Field(min_length=2, max_length=100), LINE_OF_SETTINGS]
_ENDINGS = (
    "acione", "acion", "cione", "cion", "mente", "ando", "iendo", "ado", "ada", "ido", "ida", "ing", "ie", "ed", "ar",
    "er", "ir", "o", "a", "e", "y",
)  # fmt: skip
LEAST_STEM = 4


def _path(value: str, info: ValidationInfo) -> str:
    if at_the_door(info) and not value.startswith(("/", "*")):
        raise ValueError("use a path such as /pricing or /docs/*")
    return value


PagePath = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_path), LINE_OF_SETTINGS]
"""The beginning of a path (/pricing), or a pattern with * for anything (/docs/*/api)."""


class PersonRule(Strict):
    """A message matches if each list that is not empty has a match.

    `words`: a word or phrase, ignoring case and accents. `topics`: all words of one, in any form and order
    ("reembolsos" also finds "reembolsar"). `plans`: of the writer; visitors count as free. `pages`: where they write.
    """

    to: Annotated[Literal["person", "never"], OPEN_BEHIND_THE_DOOR] = Field(
        description="person: goes to one before the AI answers; never: nobody is asked for"
    )
    words: list[Phrase] = Field(default_factory=list[str], max_length=100)
    topics: list[Phrase] = Field(default_factory=list[str], max_length=100)
    plans: list[Annotated[Literal["free", "pro", "premium"], OPEN_BEHIND_THE_DOOR]] = Field(
        default_factory=list[Literal["free", "pro", "premium"]], max_length=3
    )
    pages: list[PagePath] = Field(default_factory=list[str], max_length=100)

    @model_validator(mode="after")
    def _says_when(self, info: ValidationInfo) -> "PersonRule":
        if at_the_door(info) and not (self.words or self.topics or self.plans or self.pages):
            raise ValueError("say when it counts: words, topics, plans or pages")
        return self


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The input of the rules: a visitor's words, their plan, and the address of their page."""

    text: str
    plan: str = "free"
    page: str | None = None


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """The rule that applies: its index in the list, and where the message goes."""

    index: int
    to: str


def matching_rule(rules: Sequence[PersonRule], asking: RuleInput) -> RuleMatch | None:
    """The first rule that applies; None: none does."""
    if not rules:
        return None
    words = re.findall(r"\w+", _folded(asking.text[:LONGEST]))
    said, stems = f" {' '.join(words)} ", frozenset(map(_stem, words))
    path = path_of(asking.page) if asking.page else None
    for index, rule in enumerate(rules):
        if (
            (rule.words or rule.topics or rule.plans or rule.pages)
            and (not rule.words or any(_is_said(word, said) for word in rule.words))
            and (not rule.topics or any(_is_about(topic, stems) for topic in rule.topics))
            and (not rule.plans or asking.plan in rule.plans)
            and (not rule.pages or (path is not None and any(_is_on(page, path) for page in rule.pages)))
        ):
            return RuleMatch(index, rule.to)
    return None


def path_of(page: str) -> str:
    """The path of the address that a browser gives; the site's root if it is no address."""
    try:
        return urlsplit(page).path or "/"
    except ValueError:
        return "/"


def _is_said(phrase: str, said: str) -> bool:
    words = re.findall(r"\w+", _folded(phrase))
    return bool(words) and f" {' '.join(words)} " in said


def _is_about(topic: str, stems: frozenset[str]) -> bool:
    words = re.findall(r"\w+", _folded(topic))
    return bool(words) and all(_stem(word) in stems for word in words)


def _is_on(rule: str, path: str) -> bool:
    if "*" in rule:
        # Each part where it stands first: an expression would try all places, and of some rules that never ends.
        first, *parts, last = rule.split("*")
        at = len(first) if path.startswith(first) else -1
        for part in parts:
            found = path.find(part, at) if at >= 0 else -1
            at = found + len(part) if found >= 0 else -1
        return 0 <= at <= len(path) - len(last) and path.endswith(last)
    return path == rule or path.startswith(rule if rule.endswith("/") else f"{rule}/")


def _folded(text: str) -> str:
    marks = unicodedata.normalize("NFD", text.lower())
    return "".join(one for one in marks if not unicodedata.combining(one))


def _stem(word: str) -> str:
    """A word without its Spanish or English endings, enough to find "reembolso" in "reembolsos"."""
    if len(word) > LEAST_STEM:
        word = word.removesuffix("s")
    word = word.removesuffix(
        next((one for one in _ENDINGS if len(word) - len(one) >= LEAST_STEM and word.endswith(one)), "")
    )
    return word[:-1] if len(word) > LEAST_STEM and word[-1] == word[-2] else word
