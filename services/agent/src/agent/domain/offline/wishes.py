"""What a person can want, as a value."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


class Intent(Enum):
    """What somebody may want."""

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
    UPSET = auto()
    WAITED = auto()
    WRONGED = auto()
    CHOSEN = auto()
    TONGUE = auto()
    FORGET = auto()
    NOT_REMEMBERED = auto()
    ADVICE = auto()
    FINE = auto()
    UNKNOWN = auto()


Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent with the tool calls that serve it. `missing`: arguments that the person has to give first (`calls` is
    what there is of the call so far); `withheld`: the tool that it needs, and that the asker is not offered; `way`:
    what has to be looked up before `calls` can be made; `shown`: which line of the newest answer's list is meant.
    """

    intent: Intent
    calls: Calls = ()
    missing: tuple[str, ...] = ()
    withheld: str | None = None
    way: str = ""
    shown: str = ""
