"""The words by which people ask for the tools of the catalogue: the table `[words]` of texts/<language>.toml.

All languages are used at once. The words decide which tools a model is shown, and what the offline assistant recognises
by words alone.
"""

import re
from collections.abc import Mapping

from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.text import Text


def _beginnings(words: Text, part_count: int) -> re.Pattern[str]:
    """Matches the beginning of any word of the first parts; words of up to three letters only match whole."""
    selected_parts = (plain(language_words).split(";")[:part_count] for language_words in words.by_language.values())
    phrases = {phrase.strip() for part in selected_parts for words in part for phrase in words.split(",")}
    patterns = (
        f"{re.escape(phrase)}\\b" if re.search(r"(?<![^ ])[a-z]{1,3}$", phrase) else re.escape(phrase)
        for phrase in phrases
    )
    return expression(rf"\b(?:{'|'.join(sorted(patterns, reverse=True))})")


_WORDS = TEXTS.section("words")
NAMING: Mapping[str, re.Pattern[str]] = {tool: _beginnings(words, 1) for tool, words in _WORDS.items()}
"""By tool, the words that name it alone."""
CUES: Mapping[str, re.Pattern[str]] = {tool: _beginnings(words, 2) for tool, words in _WORDS.items()}
"""By tool, these words and those that accompany them."""
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
"""Scores of the tools that are shown if the words point to none."""
