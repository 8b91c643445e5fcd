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
"""After a dash, one of these is a currency and anything else a share class; after a slash any currency is accepted."""
COINS = frozenset(("BTC", "ETH", "SOL", "XRP", "ADA", "DOGE", "BNB", "DOT", "LTC", "LINK", "AVAX", "MATIC", "TRX"))
"""Bases that are recognised without a separator (BTCUSD). Deliberately few: any other pair needs a slash."""


class InvalidSymbolError(ValueError):
    """The text is no valid symbol; the message shows the accepted forms."""

    def __init__(self, text: str) -> None:
        self.text = text[:40]
        super().__init__(
            f"{self.text!r} is not a symbol: write a stock as AAPL or BRK.B, an index as ^GSPC, a pair as BTC/USD"
        )


class SymbolKind(StrEnum):
    """The kind of instrument; it decides the change basis, the sessions and the provider."""

    EQUITY = "equity"
    INDEX = "index"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol in its internal form, made only by `parse_symbol`."""

    name: str
    kind: SymbolKind

    def __str__(self) -> str:
        return self.name


def parse_symbol(text: str) -> Symbol:
    """Returns the internal form of a symbol as somebody wrote it; raises InvalidSymbolError."""
    name = text.strip().upper().removeprefix("$")
    if _INDEX.fullmatch(name):
        return Symbol(name, SymbolKind.INDEX)
    if _EQUITY.fullmatch(name):
        joined = _joined_pair(name)
        return Symbol(joined, SymbolKind.PAIR) if joined else Symbol(name, SymbolKind.EQUITY)
    separators = _SEPARATOR.findall(name)
    if len(separators) == 1:
        base, quote = name.split(separators[0])
        if _SHARE_CLASS.fullmatch(quote) and _EQUITY.fullmatch(base) and "." not in base:
            return Symbol(f"{base}.{quote}", SymbolKind.EQUITY)
        is_pair = quote in QUOTES or separators[0] == "/"
        if is_pair and base != quote and _CURRENCY.fullmatch(base) and _CURRENCY.fullmatch(quote):
            return Symbol(f"{base}/{quote}", SymbolKind.PAIR)
    raise InvalidSymbolError(text)


def normalized_symbol(text: str) -> str:
    """Returns the normal spelling of a symbol, so that all spellings share a cached result. A text that is no symbol is
    returned in capitals; the lookup will refuse it."""
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
