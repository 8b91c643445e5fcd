"""Computes the size of a position whose entry is the current price, or whose stop is given as a distance from the
entry.

"how many MSFT with 10k, risk 1 %, stop 3 % below" looks up the price first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.offline import talk_words
from agent.domain.offline.changed_arguments import FIGURES
from agent.domain.offline.conditions import distance_in
from agent.domain.offline.slots import ParsedText, stop_share
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import numbers_in
from contracts.expressions import expression

_ORDER = "create_paper_order"
_TOOL = "calculate_position_size"
_ASKS_QUANTITY = expression(
    r"^\W*(?:(?:and|y|so|entonces)\W+)?(?:how (?:many|much) (?:\w+ ){0,2}(?:is|are|was) (?:it|that|this|those)\b|"
    r"cuant[oa]s? (?:\w+ )?(?:es|son|serian?) (?:eso|esto|esas?)?\b)(?!.*\d)"
)
_RATIO = "calculate_risk_reward"
AWAY = "_away"
"""Ends the name of a price's distance from the entry."""
_STOP_OR_TARGET = expression(r"\b(?:(?P<stop>stop)|target|take[ -]?profit|objetivo|salida|exit)\b")
_PRICES = frozenset(("entry_price", "stop_loss_price"))


def size_from_prices(arguments: dict[str, Any], missing: tuple[str, ...], parsed: ParsedText) -> Wish | None:
    """The calculation with prices that the text gives other than as figures; None if it does not."""
    if distances := distances_from_entry(parsed.plain):
        others = {name: value for name, value in arguments.items() if name not in distances}
        arguments = others | {f"{name}{AWAY}": distance for name, distance in distances.items()}
        if "entry_price" in arguments and set(missing) <= _PRICES:
            return Wish(Intent.TOOL, ((_TOOL, with_prices(arguments, arguments["entry_price"], 1.0)),))
        missing = tuple(name for name in (*missing, "entry_price") if name not in ("stop_loss_price", *arguments))
    share = stop_share(parsed.plain)
    if not missing or not _PRICES.issuperset(missing) or (share is None and "stop_loss_price" in missing):
        return None
    if "entry_price" in arguments:
        return Wish(Intent.TOOL, ((_TOOL, with_prices(arguments, arguments["entry_price"], share or 1.0)),))
    if len(parsed.symbols) != 1:
        return None
    arguments = {**arguments, "symbol": parsed.symbols[0]}
    return Wish(Intent.TOOL, ((_TOOL, arguments),), way="sized", amount=share or 1.0)


def distances_from_entry(normalized: str) -> dict[str, float]:
    """The distances of the stop and of the target from the entry that a normalized text names: "stop 2 below, target 6
    above"."""
    distances: dict[str, float] = {}
    named = list(_STOP_OR_TARGET.finditer(normalized))
    ends = [*(match.start() for match in named[1:]), len(normalized)]
    for match, end in zip(named, ends, strict=False):
        distance = distance_in(normalized[match.start() : end])
        if distance is not None:
            distances["stop_loss_price" if match["stop"] else "take_profit_price"] = distance
    return distances


def ratio_at_distances(arguments: Mapping[str, Any], parsed: ParsedText) -> Wish | None:
    """The ratio for prices at distances from the entry, which is the current price if the text gives none; None if it
    names no distances."""
    distances = distances_from_entry(parsed.plain)
    if not distances:
        return None
    others = {name: value for name, value in arguments.items() if name not in distances}
    others |= {f"{name}{AWAY}": distance for name, distance in distances.items()}
    if "entry_price" in arguments:
        return Wish(Intent.TOOL, ((_RATIO, with_prices(others, arguments["entry_price"], 1.0)),))
    symbols = {"symbol": parsed.symbols[0]} if parsed.symbols else {}
    return Wish(Intent.TOOL, ((_RATIO, others | symbols),), () if symbols else ("symbol",), way="sized", amount=1.0)


def same_quantity(earlier: Wish, symbols: Sequence[str], share: float) -> Wish | None:
    """The order for the number of shares just computed, or a share of it: "get me half of that"; None if none was
    computed."""
    if earlier.way in ("affordable", "means"):
        order = {"symbol": earlier.calls[0][1]["symbol"], "side": "buy", "order_type": "market"}
        if earlier.way == "means":
            return Wish(Intent.TOOL, ((_ORDER, order),), ("quantity",))
        return Wish(Intent.TOOL, ((_ORDER, order),), way="spend", amount=earlier.amount * share)
    if earlier.calls[0][0] != _TOOL or earlier.missing or earlier.way:
        return None
    if not symbols:
        return Wish(Intent.TOOL, ((_ORDER, {}),), ("symbol",))
    entry, stop = (earlier.calls[0][1][name] for name in ("entry_price", "stop_loss_price"))
    side = "sell" if stop > entry else "buy"
    order_at_entry = {"symbol": symbols[0], "side": side, "order_type": "limit", "limit_price": entry}
    return Wish(Intent.TOOL, ((_ORDER, order_at_entry), earlier.calls[0]), way="as_many", amount=share)


def cost_of(earlier: Wish, normalized: str) -> Wish | None:
    """The wish for the total of the earlier order, or of the count in the normalized text; None if it was no order, or
    has no count."""
    tool, arguments = earlier.calls[0]
    count = next((value for _, value in numbers_in(normalized)), arguments.get("quantity"))
    if tool != _ORDER or count is None or "symbol" not in arguments:
        return None
    price_call = "get_price", {"symbol": arguments["symbol"]}
    return Wish(Intent.TOOL, (price_call,), way="part", amount=count, unit_price=arguments.get("limit_price"))


def details_of(normalized: str, earlier: Wish) -> Wish | None:
    """What the earlier order costs in all, or how many shares it or a calculation is for."""
    if talk_words.IN_ALL.search(normalized) and (cost := cost_of(earlier, normalized)):
        return cost
    if not _ASKS_QUANTITY.search(normalized):
        return None
    if earlier.calls[0][0] == _ORDER:
        return Wish(Intent.TOOL, (("get_pending_orders", {}),))  # which tells how many the order is for
    return earlier if earlier.calls[0][0] in FIGURES else None


def with_prices(arguments: Mapping[str, Any], entry: float, share: float) -> dict[str, Any]:
    """The arguments of a calculation with this entry, and a stop at `share` of it unless there is one."""
    others = {name: value for name, value in arguments.items() if name != "symbol" and not name.endswith(AWAY)}
    away = {
        name.removesuffix(AWAY): round(entry + value, 4) for name, value in arguments.items() if name.endswith(AWAY)
    }
    return {"stop_loss_price": round(entry * share, 4), **others, **away, "entry_price": entry}
