"""Which symbols are relevant to a turn."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from contracts.context_rpc import RelevantSymbol
from contracts.market_rpc import QuoteView
from contracts.symbols import normalized_symbol

_one_spelling = lru_cache(maxsize=10_000)(normalized_symbol)

FAVOURITES = 3
SYMBOLS = 10
CANDIDATES = 20
"""More than can be relevant, since some may be unknown to providers."""


def candidates(mentioned: Sequence[str], favourites: Sequence[str], held: Sequence[str]) -> list[str]:
    """Symbols mentioned in the message, then the first three favourites, then the portfolio; each once."""
    names = [*mentioned, *favourites[:FAVOURITES], *held]
    return list(dict.fromkeys(map(_one_spelling, names)))[:CANDIDATES]


def relevant(wanted: Sequence[str], quotes: Mapping[str, QuoteView]) -> list[RelevantSymbol]:
    """The symbols with a known price, in the same order, at most ten."""
    known = [quotes[name] for name in wanted if name in quotes]
    return [RelevantSymbol.model_validate(one, from_attributes=True) for one in known[:SYMBOLS]]
