"""The ids of the current work (company, conversation, turn, trace), added to every log line.

Handling a message begins with the ids that its sender passed on (the header `baggage`, https://www.w3.org/TR/baggage/)
and adds others as it learns them. All tasks that it starts share them, including ids added later. The names are those
of the log fields.

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
    """The ids of one piece of work; empty where they are not known. `trace`: 32 hexadecimal digits.

    In a `with` statement: a block of work with these ids, independent of the work around it.
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
    """The ids of the current work."""
    return _current.get()


def received(headers: Mapping[str, str]) -> Correlation:
    """A block of work with the ids in these headers."""
    trace = headers.get(TRACEPARENT, "").split("-")
    return Correlation(*_read(headers.get(BAGGAGE, "")), trace=trace[1] if len(trace) > 1 and is_id(trace[1]) else "")


def begin(company: str, conversation: str = "") -> None:
    """Sets the ids for the rest of this task, for example of an HTTP request. Invalid ids are left out: they come
    from a path that nobody has checked."""
    _current.set(Correlation(company, conversation if is_id(conversation) else ""))


def add_ids(company: str = "", conversation: str = "", turn: str = "") -> None:
    """Adds ids to the current work; does nothing if there is none."""
    correlation = _current.get()
    if correlation is not None:
        correlation.company = company or correlation.company
        correlation.conversation = conversation or correlation.conversation
        correlation.turn = turn or correlation.turn


def forget() -> None:
    """Clears the ids, for work done for many."""
    _current.set(None)


def baggage() -> dict[str, str]:
    """The header for a called service; empty if no ids are known."""
    known = _current.get()
    if known is None or not (known.company or known.conversation or known.turn):
        return {}
    return {BAGGAGE: f"{_MEMBER}{known.company}/{known.conversation}/{known.turn}"}


@lru_cache(1024)  # a turn's messages all carry the same
def _read(header: str) -> list[str]:
    """Company, conversation and turn; invalid ids are left out, since they go into logs."""
    for member in header.split(","):
        value = member.strip()
        if value.startswith(_MEMBER):
            ids = value[len(_MEMBER) :].partition(";")[0].split("/")
            return [one if is_id(one) else "" for one in ids[:3]]
    return []
