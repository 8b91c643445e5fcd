"""Which symbols are relevant to a turn."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from contracts.context_rpc import RelevantSymbol
from contracts.market_rpc import QuoteView
from contracts.symbols import normalized_symbol

_one_spelling = lru_cache(maxsize=10_000)(normalized_symbol)

MAX_FAVOURITES = 3
MAX_SYMBOLS = 10
MAX_CANDIDATES = 20
"""More than can be relevant, since providers may not know some of them."""


def candidate_symbols(mentioned: Sequence[str], favourites: Sequence[str], portfolio: Sequence[str]) -> list[str]:
    """Returns the symbols that the message mentions, then the first three favourites, then the portfolio; each once."""
    names = [*mentioned, *favourites[:MAX_FAVOURITES], *portfolio]
    return list(dict.fromkeys(map(_one_spelling, names)))[:MAX_CANDIDATES]


def relevant_symbols(names: Sequence[str], quotes: Mapping[str, QuoteView]) -> list[RelevantSymbol]:
    """Returns the symbols with a known price, in the same order, at most ten."""
    known = [quotes[name] for name in names if name in quotes]
    return [RelevantSymbol.model_validate(quote, from_attributes=True) for quote in known[:MAX_SYMBOLS]]
