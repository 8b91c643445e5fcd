"""Documents as passages, and what the pages of a site repeat."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from contracts.knowledge import Block
from memory.knowledge.passages import PassageCut, Section, passages, plain
from memory.knowledge.records import Pair, Record
from memory.knowledge.texts import StemmedPassage, text_of

FEW = 3
"""Pages on which a block may stand without counting as repeated, however small the site is."""
MOSTLY = 0.5
"""Share of the pages in one language on which a block stands that is left out of all but the first of them."""


def cut_up(blocks: Sequence[Block], title: str) -> list[StemmedPassage]:
    return [text_of(cut, title) for cut in passages(blocks)]


def text_of_pair(pair: Pair) -> StemmedPassage:
    """It is found by its questions as well; its text is the answer, word by word."""
    start = (Section(0, (), None),)
    found_by = text_of(PassageCut("\n".join((*pair.questions, pair.answer)), start), pair.questions[0])
    return replace(found_by, text=pair.answer)


def with_new_stems(texts: Sequence[StemmedPassage], record: Record) -> list[StemmedPassage]:
    """Passages that are stored, by the stems of this release."""
    if record.pair:
        return [text_of_pair(record.pair)]
    return [text_of(PassageCut(one.text, one.sections), record.title) for one in texts]


def number(block: Block) -> int:
    """A block by its words, for comparing pages."""
    return int.from_bytes(blake2b(plain(block).lower().encode(), digest_size=6).digest(), "big")


def repeats(pages: Sequence[Record]) -> frozenset[int]:
    """The blocks that stand on most of the pages."""
    counts = Counter(number for page in pages for number in set(page.blocks))
    most = max(FEW, MOSTLY * len(pages))
    return frozenset(number for number, count in counts.items() if count > most)


def nearest_home(page: Record) -> tuple[int, str]:
    """For sorting: the page nearest to the site's first comes first."""
    return len(page.url or ""), page.url or ""
