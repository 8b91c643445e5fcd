"""Stops and targets of a held position at a distance from a price that the position shows.

`of_price` and `of_average_price` are shares of the current price and of the one that was paid; `from_price` and
`from_average_price` sums of money from them.
"""

from collections.abc import Mapping
from typing import Any

from agent.domain.offline.changes import percent_in
from agent.domain.offline.conditions import MONEY
from contracts.expressions import expression

DISTANCES = ("of_price", "of_average_price", "from_price", "from_average_price")
_AMOUNT = expression(rf"\d{MONEY}|[$€] ?\d")


def price_at_distance(arguments: Mapping[str, Any], position: Mapping[str, Any]) -> float | None:
    """The price that the arguments give as a distance from one of the position's; None if they give none."""
    for name in DISTANCES:
        if name in arguments:
            kind, _, reference = name.partition("_")
            price, distance = float(position[reference]), float(arguments[name])
            return round(price * distance if kind == "of" else price + distance, 2)
    return None


def at_other_distance_of_position(
    arguments: Mapping[str, Any], figure: float, normalized: str
) -> dict[str, Any] | None:
    """The arguments at another distance, in the same unit unless the text names the other; None if they have none."""
    name = next((name for name in DISTANCES if name in arguments), None)
    if name is None:
        return None
    kind, _, reference = name.partition("_")
    in_percent = percent_in(normalized) is not None or (kind == "of" and not _AMOUNT.search(normalized))
    sign = 1 if float(arguments[name]) > (1 if kind == "of" else 0) else -1
    others = {key: value for key, value in arguments.items() if key != name}
    if in_percent:
        return {**others, f"of_{reference}": round(1 + sign * figure / 100, 6)}
    return {**others, f"from_{reference}": sign * figure}
