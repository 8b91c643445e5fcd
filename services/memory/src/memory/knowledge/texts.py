"""A document prepared for search: its passages with their stems already counted, so that a starting process need not
parse every word."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from memory.domain.recall.words import stems, words
from memory.knowledge.passages import HeadingPosition, PassageCut
from memory.knowledge.question import QUESTION_WORDS

STEMS = 4
"""The version of the stems; version 1 has no number in the store. Increase it if the same words get different stems,
since stored passages would no longer be found."""
TITLE_WEIGHT = 2
HEADING_WEIGHT = 2
"""The weight of a word in the title or headings, compared with one in the text."""


@dataclass(frozen=True, slots=True)
class StemmedDocument:
    """A searchable document. `id` is unique within its company; `questions`: the ways to ask the question of a
    question-and-answer pair, whose single passage is the answer; otherwise empty."""

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
    sections: tuple[HeadingPosition, ...]
    counts: Mapping[str, int]
    length: int

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above its beginning."""
        return self.sections[0].headings


def stemmed_passage(cut: PassageCut, title: str) -> StemmedPassage:
    counts: dict[str, int] = {}
    text_stems = stems(cut.text)
    for stem in text_stems:
        counts[stem] = counts.get(stem, 0) + 1
    for heading in dict.fromkeys(name for section in cut.sections for name in section.headings):
        for stem in _heading_stems(heading):
            counts[stem] = counts.get(stem, 0) + HEADING_WEIGHT
    for stem in _heading_stems(title):
        counts[stem] = counts.get(stem, 0) + TITLE_WEIGHT
    return StemmedPassage(cut.text, cut.sections, counts, len(text_stems))


def _heading_stems(heading: str) -> list[str]:
    return [*stems(heading), *(word for word in words(heading) if word in QUESTION_WORDS)]


def packed(texts: Sequence[StemmedPassage]) -> bytes:
    return orjson.dumps(
        [
            [
                text.text,
                [[section.start, section.headings, section.anchor] for section in text.sections],
                text.counts,
                text.length,
            ]
            for text in texts
        ]
    )


def unpacked(stored: bytes) -> list[StemmedPassage]:
    """Returns the passages that `packed` stored."""
    return [
        StemmedPassage(
            text,
            tuple(HeadingPosition(start, tuple(names), anchor) for start, names, anchor in sections),
            counts,
            length,
        )
        for text, sections, counts, length in orjson.loads(stored)
    ]


def digest(text: str) -> str:
    """Returns a text's hash, as used in events."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
