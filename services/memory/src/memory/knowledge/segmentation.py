"""Splits documents into passages, and finds blocks that a site's pages repeat."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from contracts.knowledge import Block
from memory.knowledge.passages import HeadingPosition, PassageCut, passages, plain
from memory.knowledge.records import Pair, Record
from memory.knowledge.texts import StemmedPassage, stemmed_passage

MIN_PAGES = 3
"""Pages that may contain a block without it counting as repeated, however small the site is."""
MIN_RATIO = 0.5
"""The share of the pages in one language from which on a block counts as repeated, and is kept only on the first of
them."""


def split_document(blocks: Sequence[Block], title: str) -> list[StemmedPassage]:
    return [stemmed_passage(cut, title) for cut in passages(blocks)]


def text_of_pair(pair: Pair) -> StemmedPassage:
    """Returns the text of a pair: it is found by its questions too, but its text is the answer alone."""
    sections = (HeadingPosition(0, (), None),)
    searchable = stemmed_passage(PassageCut("\n".join((*pair.questions, pair.answer)), sections), pair.questions[0])
    return replace(searchable, text=pair.answer)


def with_new_stems(texts: Sequence[StemmedPassage], record: Record) -> list[StemmedPassage]:
    """Returns stored passages with this release's stems."""
    if record.pair:
        return [text_of_pair(record.pair)]
    return [stemmed_passage(PassageCut(text.text, text.sections), record.title) for text in texts]


def block_number(block: Block) -> int:
    """Returns a digest of a block's words, for comparing pages."""
    return int.from_bytes(blake2b(plain(block).lower().encode(), digest_size=6).digest(), "big")


def repeated_blocks(pages: Sequence[Record]) -> frozenset[int]:
    """Returns the blocks that most of the pages contain."""
    counts = Counter(number for page in pages for number in set(page.blocks))
    threshold = max(MIN_PAGES, MIN_RATIO * len(pages))
    return frozenset(number for number, count in counts.items() if count > threshold)


def nearest_home(page: Record) -> tuple[int, str]:
    """A sort key: pages nearest to the site's root first."""
    return len(page.url or ""), page.url or ""
