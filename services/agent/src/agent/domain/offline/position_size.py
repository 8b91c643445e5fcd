"""Works out the size of a position whose entry is the price of now, or whose stop is told as a distance from the entry.

"how many MSFT with 10k, risk 1 %, stop 3 % below" looks up the price first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.offline.slots import ParsedText, stop_share
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import number_of, numbers_in

_ORDER = "create_paper_order"
_TOOL = "calculate_position_size"
_PRICES = frozenset(("entry_price", "stop_loss_price"))


def sized(found: dict[str, Any], missing: tuple[str, ...], said: ParsedText) -> Wish | None:
    """The calculation with the prices that the text tells in another way than by their figure; None: it does not."""
    share = stop_share(said.plain)
    if not missing or not _PRICES.issuperset(missing) or (share is None and "stop_loss_price" in missing):
        return None
    if "entry_price" in found:
        return Wish(Intent.TOOL, ((_TOOL, with_prices(found, found["entry_price"], share or 1.0)),))
    if len(said.symbols) != 1:
        return None
    found = {**found, "symbol": said.symbols[0]}
    return Wish(Intent.TOOL, ((_TOOL, found),), way="sized", shown=str(share or 1.0))


def same_quantity(earlier: Wish, symbols: Sequence[str], share: float) -> Wish | None:
    """The order for as many as were just worked out, or a share of them: "get me half of that"; None: no number was."""
    if earlier.way in ("affordable", "means"):
        bought = {"symbol": earlier.calls[0][1]["symbol"], "side": "buy", "order_type": "market"}
        asked = Wish(Intent.TOOL, ((_ORDER, bought),), ("quantity",))
        return (
            asked
            if earlier.way == "means"
            else replace(asked, missing=(), way="spend", shown=str(number_of(earlier.shown) * share))
        )
    if earlier.calls[0][0] != _TOOL or earlier.missing or earlier.way:
        return None
    if not symbols:
        return Wish(Intent.TOOL, ((_ORDER, {}),), ("symbol",))
    entry, stop = (earlier.calls[0][1][name] for name in ("entry_price", "stop_loss_price"))
    side = "sell" if stop > entry else "buy"
    planned = {"symbol": symbols[0], "side": side, "order_type": "limit", "limit_price": entry}
    return Wish(Intent.TOOL, ((_ORDER, planned), earlier.calls[0]), way="as_many", shown=str(share))


def cost_of(earlier: Wish, said: str) -> Wish | None:
    """What an order that was asked for comes to in all, or as many as the text (plain) names instead."""
    tool, arguments = earlier.calls[0]
    count = next((value for _, value in numbers_in(said)), arguments.get("quantity"))
    if tool != _ORDER or count is None or "symbol" not in arguments:
        return None
    each = f"@{arguments['limit_price']}" if "limit_price" in arguments else ""
    return Wish(Intent.TOOL, (("get_price", {"symbol": arguments["symbol"]}),), way="part", shown=f"{count}{each}")


def with_prices(found: Mapping[str, Any], entry: float, share: float) -> dict[str, Any]:
    """The arguments of a calculation with this entry, and a stop at so much of it unless there is one."""
    told = {name: one for name, one in found.items() if name != "symbol"}
    return {"stop_loss_price": round(entry * share, 4), **told, "entry_price": entry}
