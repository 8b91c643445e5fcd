"""One internal form for every symbol, however it was spelled.

    equity    AAPL, BRK.B (a class share), VOD.L (a foreign listing)     from aapl, $AAPL, BRK-B, BRK/B
    index     ^GSPC                                                       kept
    pair      BTC/USD                                                     from btc/usd, BTC-USD, BTC_USD, BTCUSD

USDT is not USD: a pair keeps the quote currency it was given. A bare BTC stays an equity's ticker (there is a fund of
that name): nothing is guessed.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_EQUITY = re.compile(r"[A-Z0-9]{1,10}(\.[A-Z]{1,3})?")
_INDEX = re.compile(r"\^[A-Z0-9]{1,10}(\.[A-Z]{1,3})?")
_SHARE_CLASS = re.compile(r"[A-Z]")
_CURRENCY = re.compile(r"[A-Z0-9]{2,10}")
_SEPARATOR = re.compile(r"[/\-_: ]")
QUOTES = ("USDT", "USDC", "BUSD", "USD", "EUR", "GBP", "JPY", "CHF", "BTC", "ETH")
"""What follows a dash can be a currency of these or a share class; a slash may be followed by any currency."""
COINS = frozenset(("BTC", "ETH", "SOL", "XRP", "ADA", "DOGE", "BNB", "DOT", "LTC", "LINK", "AVAX", "MATIC", "TRX"))
"""Bases that are recognised with no separator (BTCUSD). Short on purpose: any other pair is written with a slash."""


class InvalidSymbolError(ValueError):
    """The text is no spelling of a symbol; the message says how one is written."""

    def __init__(self, text: str) -> None:
        self.text = text[:40]
        super().__init__(
            f"{self.text!r} is not a symbol: write a stock as AAPL or BRK.B, an index as ^GSPC, a pair as BTC/USD"
        )


class SymbolKind(StrEnum):
    """What trades under a symbol: it decides the change basis, the sessions and the provider."""

    EQUITY = "equity"
    INDEX = "index"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol in its internal form. Made by `parse_symbol` alone."""

    name: str
    kind: SymbolKind

    def __str__(self) -> str:
        return self.name


def parse_symbol(text: str) -> Symbol:
    """The internal form of a symbol as somebody wrote it; raises InvalidSymbolError when it is none."""
    name = text.strip().upper().removeprefix("$")
    if _INDEX.fullmatch(name):
        return Symbol(name, SymbolKind.INDEX)
    if _EQUITY.fullmatch(name):
        joined = _joined_pair(name)
        return Symbol(joined, SymbolKind.PAIR) if joined else Symbol(name, SymbolKind.EQUITY)
    separators = _SEPARATOR.findall(name)
    if len(separators) == 1:
        left, right = name.split(separators[0])
        if _SHARE_CLASS.fullmatch(right) and _EQUITY.fullmatch(left) and "." not in left:
            return Symbol(f"{left}.{right}", SymbolKind.EQUITY)
        known = right in QUOTES or separators[0] == "/"
        if known and left != right and _CURRENCY.fullmatch(left) and _CURRENCY.fullmatch(right):
            return Symbol(f"{left}/{right}", SymbolKind.PAIR)
    raise InvalidSymbolError(text)


def normal_symbol(text: str) -> str:
    """The one spelling of a symbol, so that spellings share a cached result; what is no symbol comes back in capitals,
    for whoever decides about it to refuse."""
    try:
        return parse_symbol(text).name
    except InvalidSymbolError:
        return text.strip().upper()


def _joined_pair(name: str) -> str | None:
    for quote in QUOTES:
        coin = name.removesuffix(quote)
        if coin != name and coin != quote and coin in COINS:
            return f"{coin}/{quote}"
    return None
