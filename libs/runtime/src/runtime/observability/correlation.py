"""The ids of the current work (company, conversation, turn, trace), which are added to every log line.

The handling of a message starts with the ids that its sender passed on (the header `baggage`,
https://www.w3.org/TR/baggage/) and adds others once they are known. All tasks that it starts share them, including ids
added later. The names are those of the log fields.

baggage: nexus=<company>/<conversation>/<turn>
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import lru_cache

from contracts.ids import is_id

TRACEPARENT = "traceparent"
BAGGAGE = "baggage"
_MEMBER = "nexus="


@dataclass(slots=True)
class Correlation:
    """The ids of one piece of work; unknown ones are empty. `trace`: 32 hexadecimal digits.

    As a context manager: a block of work with these ids, independent of the work around it.
    """

    company: str = ""
    conversation: str = ""
    turn: str = ""
    trace: str = ""
    _before: Token[Correlation | None] | None = field(default=None, init=False, compare=False, repr=False)

    def __enter__(self) -> Correlation:
        self._before = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            _current.reset(self._before)

    def fields(self) -> dict[str, str]:
        """Returns the ids as fields of a log line."""
        known = {"company": self.company, "conversation": self.conversation, "turn": self.turn, "trace": self.trace}
        return {name: value for name, value in known.items() if value}


_current: ContextVar[Correlation | None] = ContextVar("nexus_correlation", default=None)


def current() -> Correlation | None:
    """Returns the ids of the current work, or None."""
    return _current.get()


def received(headers: Mapping[str, str]) -> Correlation:
    """Returns the ids in a message's headers, as a context manager for handling the message."""
    trace = headers.get(TRACEPARENT, "").split("-")
    return Correlation(*_read(headers.get(BAGGAGE, "")), trace=trace[1] if len(trace) > 1 and is_id(trace[1]) else "")


def begin(company: str, conversation: str = "") -> None:
    """Sets the ids for the rest of this task, for example of an HTTP request. An invalid conversation is left out,
    since it comes from an unchecked path."""
    _current.set(Correlation(company, conversation if is_id(conversation) else ""))


def add_ids(company: str = "", conversation: str = "", turn: str = "") -> None:
    """Adds ids to the current work; does nothing if there is none."""
    correlation = _current.get()
    if correlation is not None:
        correlation.company = company or correlation.company
        correlation.conversation = conversation or correlation.conversation
        correlation.turn = turn or correlation.turn


def forget() -> None:
    """Clears the ids, for work done for several requests."""
    _current.set(None)


def baggage() -> dict[str, str]:
    """Returns the header for a called service; empty if no ids are known."""
    ids = _current.get()
    if ids is None or not (ids.company or ids.conversation or ids.turn):
        return {}
    return {BAGGAGE: f"{_MEMBER}{ids.company}/{ids.conversation}/{ids.turn}"}


@lru_cache(1024)  # all messages of a turn carry the same header
def _read(header: str) -> list[str]:
    """Returns company, conversation and turn; invalid ids become empty, since they go into logs."""
    for member in header.split(","):
        value = member.strip()
        if value.startswith(_MEMBER):
            ids = value[len(_MEMBER) :].partition(";")[0].split("/")
            return [part if is_id(part) else "" for part in ids[:3]]
    return []
