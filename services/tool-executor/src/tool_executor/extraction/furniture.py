"""What repeats on most pages of a site: menus, footers, banners.

Told by comparing pages of one language, whatever their markup. It stays on the page where it was seen first, so that a
telephone number that is only in the footer is still known, once.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.knowledge import Block
from tool_executor.extraction.document import Extracted

_FEWEST = 3
"""Pages with the same words; fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it is compared: its address, its language, its blocks by their words."""

    url: str
    language: str | None
    blocks: tuple[str, ...]


def seen(url: str, page: Extracted) -> Seen:
    """What is compared of a page."""
    headings = (_heading(block) for block in page.blocks if block.headings)
    return Seen(url, page.language, tuple(dict.fromkeys([*map(words_of, page.blocks), *headings])))


def furniture_of(pages: Sequence[Seen]) -> dict[str, str]:
    """The blocks that stand on more than half of the pages of their language, each with the page where it stays."""
    found: dict[str, str] = {}
    for language in dict.fromkeys(page.language for page in pages):
        alike = [page for page in pages if page.language == language]
        counts = Counter(block for page in alike for block in page.blocks)
        for block, count in counts.items():
            if count >= _FEWEST and count > len(alike) / 2 and block not in found:
                found[block] = next(page.url for page in pages if block in page.blocks)
    return found


def without(furniture: Mapping[str, str], url: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks of the page at this address that are its own.

    A heading of the page's own that had only furniture below it, such as a last card's above the footer, stays as text.
    """
    own = [block for block in blocks if furniture.get(words_of(block), url) == url]
    headed = {tuple(block.headings) for block in own}
    kept: list[Block] = []
    for block in blocks:
        if furniture.get(words_of(block), url) == url:
            kept.append(block)
        elif block.headings and _heading(block) not in furniture and tuple(block.headings) not in headed:
            headed.add(tuple(block.headings))
            kept.append(Block(text=block.headings[-1], headings=block.headings[:-1], anchor=block.anchor))
    return kept


def words_of(block: Block) -> str:
    """A block's words as one short key, wherever it stands."""
    return _key(f"{block.kind}\x1f{block.text}\x1f{block.rows}")


def _heading(block: Block) -> str:
    return _key(f"heading\x1f{block.headings[-1]}")


def _key(said: str) -> str:
    return hashlib.blake2b(said.encode(), digest_size=9).hexdigest()
