"""The words by which people ask for the tools of the catalogue: the table `[words]` of texts/<language>.toml, all
languages at once. They choose the tools that a model is shown, and what the offline assistant reads by words alone."""

import re
from collections.abc import Mapping

from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.text import Text


def _beginnings(words: Text, parts: int) -> re.Pattern[str]:
    """Matches where a word of the first so many parts begins; letters, up to three, only as a whole word."""
    said = (plain(one).split(";")[:parts] for one in words.by_language.values())
    each = {one.strip() for part in said for words in part for one in words.split(",")}
    whole = (f"{re.escape(one)}\\b" if re.search(r"(?<![^ ])[a-z]{1,3}$", one) else re.escape(one) for one in each)
    return re.compile(rf"\b(?:{'|'.join(sorted(whole, reverse=True))})")


_WORDS = TEXTS.section("words")
NAMING: Mapping[str, re.Pattern[str]] = {tool: _beginnings(words, 1) for tool, words in _WORDS.items()}
"""By the tool, the words that name it by themselves."""
CUES: Mapping[str, re.Pattern[str]] = {tool: _beginnings(words, 2) for tool, words in _WORDS.items()}
"""The same, and those that are said beside them."""
DEFAULT_RANKS: Mapping[str, float] = {
    "get_price": 2.0,
    "market_snapshot": 1.4,
    "get_portfolio": 1.2,
    "get_fundamentals": 1.0,
    "get_news": 1.0,
    "search_knowledge": 1.0,
    "fetch_page": 1.0,
    "explain_concept": 0.9,
    "search_memory": 0.8,
    "create_paper_order": 0.7,
    "get_indicators": 0.6,
}
"""The tools that are shown when the words point to none."""
