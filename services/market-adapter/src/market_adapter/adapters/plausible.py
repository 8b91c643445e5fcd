"""Checks a source's figures: an impossible one is not passed on, but reported as an error."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from contracts.symbols import Symbol
from market_adapter.errors import ImplausibleError
from market_adapter.texts import TEXTS

MAX_PRICE, MAX_VOLUME, MAX_MONEY = 1e12, 1e18, 1e18
"""Values above these are not plausible in any currency in use, for a share, a coin or a company."""
FIGURE_RANGES: Mapping[str, tuple[float, float]] = {
    "pe": (-1e6, 1e6),
    "eps": (-MAX_PRICE, MAX_PRICE),
    "revenue": (-MAX_MONEY, MAX_MONEY),
    "market_cap": (0, MAX_MONEY),
    "gross_margin": (-1e4, 1),
    "net_margin": (-1e4, 1e4),
    "dividend_yield": (0, 10),
    "beta": (-100, 100),
}
"""The smallest and the largest possible value of each figure; margins and yields are fractions."""


def check_figures(source: str, symbol: Symbol, figures: Mapping[str, Decimal | None]) -> None:
    """Raises ImplausibleError if one of a company's figures is outside its possible range."""
    for name, value in figures.items():
        if value is not None and not FIGURE_RANGES[name][0] <= value <= FIGURE_RANGES[name][1]:
            raise _implausible(source, symbol, f"{name} {float(value):g}")


def check_bar(source: str, symbol: Symbol, prices: Sequence[float], volume: float) -> None:
    """Raises ImplausibleError if a price (open, high, low, close) is negative, a price or the volume is impossibly
    high, or the high is below the low."""
    if prices[1] < prices[2]:
        raise _implausible(source, symbol, f"high {prices[1]:g}, low {prices[2]:g}")
    for price in prices:
        if not 0 <= price <= MAX_PRICE:
            raise _implausible(source, symbol, f"price {price:g}")
    if not 0 <= volume <= MAX_VOLUME:
        raise _implausible(source, symbol, f"volume {volume:g}")


def check_dividends(source: str, symbol: Symbol, amounts: Iterable[Decimal], highest_price: Decimal) -> None:
    """Raises ImplausibleError if a dividend is higher than any price of the share."""
    for amount in amounts:
        if amount > highest_price:
            raise _implausible(source, symbol, f"dividend {amount:g}")


def _implausible(source: str, symbol: Symbol, figure: str) -> ImplausibleError:
    text = TEXTS["source.implausible"].format(source=source, symbol=symbol, what=figure)
    return ImplausibleError(symbol.name, text)
