"""Checks a source's figures: one that no market can have is held back, and its source is not believed."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from contracts.symbols import Symbol
from market_adapter.errors import ImplausibleError
from market_adapter.texts import TEXTS

MOST_PRICE, MOST_VOLUME, MOST_MONEY = 1e12, 1e18, 1e18
"""Values above these are not plausible in any currency in use, for a share, a coin or a company."""
FIGURES: Mapping[str, tuple[float, float]] = {
    "pe": (-1e6, 1e6),
    "eps": (-MOST_PRICE, MOST_PRICE),
    "revenue": (-MOST_MONEY, MOST_MONEY),
    "market_cap": (0, MOST_MONEY),
    "gross_margin": (-1e4, 1),
    "net_margin": (-1e4, 1e4),
    "dividend_yield": (0, 10),
    "beta": (-100, 100),
}
"""The least and the most of each; margins and yields are fractions."""


def check_figures(source: str, symbol: Symbol, figures: Mapping[str, Decimal | None]) -> None:
    """Raises ImplausibleError when one of a company's figures is beyond what is possible."""
    for name, value in figures.items():
        if value is not None and not FIGURES[name][0] <= value <= FIGURES[name][1]:
            raise _implausible(source, symbol, f"{name} {float(value):g}")


def check_bar(source: str, symbol: Symbol, prices: Sequence[float], volume: float) -> None:
    """Raises ImplausibleError when a price (open, high, low, close) is negative, a price or the volume beyond what is
    possible, or the high below the low."""
    if prices[1] < prices[2]:
        raise _implausible(source, symbol, f"high {prices[1]:g}, low {prices[2]:g}")
    for price in prices:
        if not 0 <= price <= MOST_PRICE:
            raise _implausible(source, symbol, f"price {price:g}")
    if not 0 <= volume <= MOST_VOLUME:
        raise _implausible(source, symbol, f"volume {volume:g}")


def check_dividends(source: str, symbol: Symbol, paid: Iterable[Decimal], highest: Decimal) -> None:
    """Raises ImplausibleError when a dividend is more than the share was ever worth."""
    for amount in paid:
        if amount > highest:
            raise _implausible(source, symbol, f"dividend {amount:g}")


def _implausible(source: str, symbol: Symbol, what: str) -> ImplausibleError:
    text = TEXTS["source.implausible"].format(source=source, symbol=symbol, what=what)
    return ImplausibleError(symbol.name, text)
