"""A request that was read from a message: its kind, its tool calls, and what is still missing for them."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


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


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent with the tool calls that serve it.

    `missing` are arguments that the user still has to give; `calls` has the rest of the call. `withheld` is a tool that
    the request needs and that the user's plan lacks. `way` says what is looked up before `calls`. `shown` is, depending
    on the intent and the way: the line chosen from the last answer's list, a group of shares without symbols, the
    symbols that exist, the word of an order that was not read, or a figure. `later` is another request of the same
    message, for the next one.
    """

    intent: Intent
    calls: Calls = ()
    missing: tuple[str, ...] = ()
    withheld: str | None = None
    way: str = ""
    shown: str = ""
    later: str = ""
