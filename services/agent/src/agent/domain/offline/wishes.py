"""A request that was read from a message: its kind, its tool calls, and what is still missing for them."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal


class Intent(Enum):
    """The kinds of requests."""

    HANDOFF = auto()
    ANALYSIS = auto()
    TOOL = auto()
    MARKET = auto()
    SITE = auto()
    ABOUT = auto()
    ABILITIES = auto()
    GREETING = auto()
    THANKS = auto()
    FAREWELL = auto()
    STATED = auto()
    TOLD = auto()
    ADDRESS = auto()
    UPSET = auto()
    WAITED = auto()
    WRONGED = auto()
    CHOSEN = auto()
    TONGUE = auto()
    STYLE = auto()
    FORGET = auto()
    NOT_REMEMBERED = auto()
    UNDO = auto()
    ADVICE = auto()
    FINE = auto()
    NOT_YET = auto()
    NO_DAY = auto()
    UNREAD = auto()
    UNLISTED = auto()
    REMINDER = auto()
    UNKNOWN = auto()


Calls = tuple[tuple[str, dict[str, Any]], ...]
Way = Literal[
    "", "sell", "stop", "resell", "replace", "replace_listed", "cancel", "delete_alert",
    "at_share", "either_side", "at_distance", "at_level", "sized", "spend", "share_of_cash", "stop_later", "sold_later",
    "as_many", "part", "affordable", "raised", "means", "left", "if_moved", "grown", "portfolio", "watched",
    "sized_by_account",
]  # fmt: skip
"""What is looked up or computed before the calls (`steps`): how much is held, which orders wait, a price, the cash."""
RELATIVE_WAYS: tuple[Way, ...] = ("at_share", "at_distance")
"""An alert or order at a share of the current price, or at a distance from it in money."""

OF_AVERAGE_PRICE = "average_price"
"""The `words` of a wish in a relative way whose distance is from the price that was paid, not from the current one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent with the tool calls that serve it.

    `missing` are arguments that the user still has to give; `calls` has the rest of the call. `withheld` is a tool that
    the request needs and that the user's plan lacks. `way` says what is looked up before `calls`, and `amount` is the
    figure that it computes with: a count, a sum of money, a level, a share of something, or a distance from a price;
    `unit_price` is the price to use instead of the current one. `words` are those of the message or of an answer that
    the reply needs: the line chosen from a list, a group of shares without symbols, the symbols that exist, or what was
    not read. `later` is another request of the same message, for the next one.
    """

    intent: Intent
    calls: Calls = ()
    missing: tuple[str, ...] = ()
    withheld: str | None = None
    way: Way = ""
    amount: float = 0.0
    unit_price: float | None = None
    words: str = ""
    later: str = ""
