"""A document prepared for search: its passages with their stems already counted, so that a starting process need not
parse every word."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from memory.domain.recall.words import stems, words
from memory.knowledge.passages import PassageCut, Section
from memory.knowledge.question import QUESTION_WORDS

STEMS = 3
"""The version of the stems; version 1 has no number in the store. Increase it when the same words get different
stems, since stored passages would no longer be found."""
IN_TITLE = 2
IN_HEADING = 2
"""The weight of a word in the title or headings, compared with one in the text."""


@dataclass(frozen=True, slots=True)
class StemmedDocument:
    """A searchable document. `id` is unique within its company; `questions`, only of a question-and-answer pair: the
    ways to ask it; its single passage's text is the answer."""

    id: str
    source: str
    title: str
    url: str | None
    language: str | None
    hash: str
    read_at: datetime
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StemmedPassage:
    """A passage with its stems: the weight of each, and how many words the text has."""

    text: str
    sections: tuple[Section, ...]
    counts: Mapping[str, int]
    length: int

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above its beginning."""
        return self.sections[0].headings


def text_of(cut: PassageCut, title: str) -> StemmedPassage:
    counts: dict[str, int] = {}
    own = stems(cut.text)
    for stem in own:
        counts[stem] = counts.get(stem, 0) + 1
    for heading in dict.fromkeys(name for section in cut.sections for name in section.headings):
        for stem in _stems_of_heading(heading):
            counts[stem] = counts.get(stem, 0) + IN_HEADING
    for stem in _stems_of_heading(title):
        counts[stem] = counts.get(stem, 0) + IN_TITLE
    return StemmedPassage(cut.text, cut.sections, counts, len(own))


def _stems_of_heading(heading: str) -> list[str]:
    return [*stems(heading), *(word for word in words(heading) if word in QUESTION_WORDS)]


def packed(texts: Sequence[StemmedPassage]) -> bytes:
    return orjson.dumps(
        [
            [one.text, [[each.start, each.headings, each.anchor] for each in one.sections], one.counts, one.length]
            for one in texts
        ]
    )


def unpacked(stored: bytes) -> list[StemmedPassage]:
    """As it was packed."""
    return [
        StemmedPassage(
            text, tuple(Section(start, tuple(names), anchor) for start, names, anchor in sections), counts, length
        )
        for text, sections, counts, length in orjson.loads(stored)
    ]


def digest(text: str) -> str:
    """A text's hash, as used in events."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
