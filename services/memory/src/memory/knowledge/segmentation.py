"""Splits documents into passages, and finds blocks that a site's pages repeat."""

from collections import Counter
from collections.abc import Iterable, Sequence
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


def split_document(
    blocks: Sequence[Block], title: str, numbers: Sequence[int] = (), left_out: frozenset[int] = frozenset()
) -> list[StemmedPassage]:
    """Returns the passages of the blocks whose numbers are not left out; without numbers, of all blocks."""
    kept_blocks = [block for block, number in zip(blocks, numbers, strict=False) if number not in left_out]
    return [stemmed_passage(cut, title) for cut in passages(kept_blocks if numbers else blocks)]


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


def block_numbers(blocks: Iterable[Block]) -> list[int]:
    """Returns a digest of each block's words, for comparing pages."""
    digests = (blake2b(plain(block).lower().encode(), digest_size=6).digest() for block in blocks)
    return [int.from_bytes(digest, "big") for digest in digests]


def without_repeated(pages: Sequence[Record]) -> tuple[frozenset[int], list[tuple[Record, frozenset[int]]]]:
    """Returns the blocks that the pages of a site repeat, and the pages to split again, each with the blocks that it
    loses: all but the first page of its language."""
    # By language: each has its own menus and footers, on half of the pages at most.
    groups: dict[str | None, list[Record]] = {}
    for page in pages:
        groups.setdefault(page.language, []).append(page)
    repeated = frozenset[int]().union(*map(repeated_blocks, (pages, *groups.values())))
    first_pages = {min(group, key=nearest_home).id for group in groups.values()}
    changed: list[tuple[Record, frozenset[int]]] = []
    for page in pages:
        left_out = frozenset[int]() if page.id in first_pages else repeated
        if len(left_out.intersection(page.blocks)) != page.dropped and page.hash and page.found:
            changed.append((page, left_out))
    return repeated, changed


def repeated_blocks(pages: Sequence[Record]) -> frozenset[int]:
    """Returns the blocks that most of the pages contain."""
    counts = Counter(number for page in pages for number in set(page.blocks))
    threshold = max(MIN_PAGES, MIN_RATIO * len(pages))
    return frozenset(number for number, count in counts.items() if count > threshold)


def nearest_home(page: Record) -> tuple[int, str]:
    """A sort key: pages nearest to the site's root first."""
    return len(page.url or ""), page.url or ""
