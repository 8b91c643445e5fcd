"""Works out the size of a position whose entry is the price of now, or whose stop is told as a distance from the entry.

"how many MSFT with 10k, risk 1 %, stop 3 % below" looks up the price first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.slots import ParsedText, Schema, stop_share
from agent.domain.offline.spoken import one_before
from agent.domain.offline.talk_words import THAT_MANY
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import numbers_in, symbols_in

_ORDER = "create_paper_order"
_MOST_WORDS = 8
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


def as_many(
    text: str,
    said: str,
    row: ToolPhrase | None,
    earlier: Wish,
    schemas: Mapping[str, Schema],
    before: Sequence[str],
) -> Wish | None:
    """The order for as many as were just worked out: "get me that many"; None: it is none."""
    sizes = earlier.calls[0][0] == _TOOL and not earlier.missing and not earlier.way
    if not (sizes or earlier.way == "affordable") or _ORDER not in schemas or "?" in text or numbers_in(said):
        return None
    if not THAT_MANY.search(said) or len(said.split()) > _MOST_WORDS or (row is not None and row.tool != _ORDER):
        return None
    symbols = symbols_in(text) or one_before(said, before)
    arguments = earlier.calls[0][1]
    if not symbols:
        return Wish(Intent.TOOL, ((_ORDER, {}),), ("symbol",))
    order = {"symbol": symbols[0], "side": "buy", "order_type": "market"}
    if not sizes:
        return Wish(Intent.TOOL, ((_ORDER, order),), way="spend", shown=earlier.shown)
    entry = arguments["entry_price"]
    side = "sell" if arguments["stop_loss_price"] > entry else "buy"
    planned = {**order, "side": side, "order_type": "limit", "limit_price": entry}
    return Wish(Intent.TOOL, ((_ORDER, planned), earlier.calls[0]), way="as_many")


def with_prices(found: Mapping[str, Any], entry: float, share: float) -> dict[str, Any]:
    """The arguments of a calculation with this entry, and a stop at so much of it unless there is one."""
    told = {name: one for name, one in found.items() if name != "symbol"}
    return {"stop_loss_price": round(entry * share, 4), **told, "entry_price": entry}
