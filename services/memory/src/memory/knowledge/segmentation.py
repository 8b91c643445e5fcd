"""Splits documents into passages, and finds blocks that a site's pages repeat."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from contracts.knowledge import Block
from memory.knowledge.passages import PassageCut, Section, passages, plain
from memory.knowledge.records import Pair, Record
from memory.knowledge.texts import StemmedPassage, text_of

FEW = 3
"""Pages that may contain a block without it counting as repeated, however small the site is."""
MOSTLY = 0.5
"""The share of the pages in one language from which on a block counts as repeated, and is kept only on the first of
them."""


def cut_up(blocks: Sequence[Block], title: str) -> list[StemmedPassage]:
    return [text_of(cut, title) for cut in passages(blocks)]


def text_of_pair(pair: Pair) -> StemmedPassage:
    """A pair is found by its questions too; its text is the answer, word for word."""
    start = (Section(0, (), None),)
    found_by = text_of(PassageCut("\n".join((*pair.questions, pair.answer)), start), pair.questions[0])
    return replace(found_by, text=pair.answer)


def with_new_stems(texts: Sequence[StemmedPassage], record: Record) -> list[StemmedPassage]:
    """Stored passages with this release's stems."""
    if record.pair:
        return [text_of_pair(record.pair)]
    return [text_of(PassageCut(one.text, one.sections), record.title) for one in texts]


def number(block: Block) -> int:
    """A digest of a block's words, for comparing pages."""
    return int.from_bytes(blake2b(plain(block).lower().encode(), digest_size=6).digest(), "big")


def repeats(pages: Sequence[Record]) -> frozenset[int]:
    """The blocks that most of the pages contain."""
    counts = Counter(number for page in pages for number in set(page.blocks))
    most = max(FEW, MOSTLY * len(pages))
    return frozenset(number for number, count in counts.items() if count > most)


def nearest_home(page: Record) -> tuple[int, str]:
    """A sort key: pages nearest to the site's root first."""
    return len(page.url or ""), page.url or ""
