"""The dependencies of the pipeline and the catalogue. The adapters are in tool_executor.adapters."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from contracts.events.tool import ToolResult
from tool_executor.domain.limits import LimitDecision, Limits
from tool_executor.domain.plans import CompanyTools, VerifiedCaller


class RedisUnavailableError(Exception):
    """The shared store (Redis) did not answer in time."""


class SchemaBrokenError(Exception):
    """A JSON Schema does not compile; the message says why."""


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """The call has already run, with this result."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Claimed:
    """This executor runs the call. `abandoned`: another executor had started it and died."""

    owner: str
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class RunningElsewhere:
    """Another executor is running the call, and has `seconds` left for it."""

    seconds: float


@dataclass(frozen=True, slots=True)
class OtherArguments:
    """The id was used with other arguments."""


Claim = RecordedResult | Claimed | RunningElsewhere | OtherArguments


@dataclass(frozen=True, slots=True)
class CallKey:
    """A call id belongs to a company's user, so a repeat by anybody else cannot read its result."""

    company: str
    user: str
    call: str


class RateLimiter(Protocol):
    """Limits per user and tool. Every method raises RedisUnavailableError."""

    async def admit(self, caller: VerifiedCaller, tool: str, limits: Limits, call_id: str) -> LimitDecision:
        """Counts a call in one atomic step; a refused call consumes nothing, a repeated id only once."""
        ...

    async def remaining(self, caller: VerifiedCaller, tool: str, limits: Limits) -> LimitDecision:
        """Returns the calls that are left, without consuming one."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page of the same site; `language`: of the target, if the markup names it."""

    path: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ReadablePage:
    """A page of a company's site as readable text, with its links."""

    url: str
    title: str
    text: str
    truncated: bool
    links: tuple[Link, ...] = ()


ReadPage = Callable[[CompanyTools, str], Awaitable[ReadablePage]]
"""Reads a page of a company's own site. Raises ToolFailedError with the reason, ToolRefusedError for a bad path."""
