"""What the pipeline and the catalogue need of the outside; the adapters are in tool_executor.adapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from contracts.events.tool import ToolResult
from tool_executor.domain.declaration import CallContext, Data, Problem
from tool_executor.domain.limits import Admission, Limits
from tool_executor.domain.plans import Arguments, Caller, CompanyTools


class StoreAway(Exception):  # noqa: N818 - named after what happened
    """The shared store (Redis) did not answer in time."""


class SchemaBroken(Exception):  # noqa: N818
    """A JSON Schema does not compile; the message says why."""


class Checker(Protocol):
    """A compiled JSON Schema."""

    def problems(self, instance: Any) -> Sequence[Problem]:
        """What is wrong, by field; empty when nothing is."""
        ...


class SchemaCompiler(Protocol):
    """Compiles JSON Schema 2020-12."""

    def compile(self, schema: Mapping[str, Any]) -> Checker:
        """Raises SchemaBroken; a `$ref` to another document is broken too: nothing is fetched."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """The call was made before: this was its result."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Claimed:
    """The call is ours to make. `abandoned`: an executor had started it and died."""

    owner: str
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """Another executor is making the call, and has `seconds` left to."""

    seconds: float


@dataclass(frozen=True, slots=True)
class OtherArguments:
    """The id was used with other arguments."""


Claim = Recorded | Claimed | Running | OtherArguments


@dataclass(frozen=True, slots=True)
class CallKey:
    """A call id belongs to a company's user: nobody else's repeat can read its result."""

    company: str
    user: str
    call: str


class CallRecords(Protocol):
    """Which calls were started, by whom, and what came of them. Every method raises StoreAway."""

    async def claim(self, key: CallKey, fingerprint: str, lease: float, *, renewed: bool) -> Claim:
        """One atomic step: the record as it is, or a new one that is ours for `lease` seconds.

        Args:
            renewed: the lease is a short one, kept alive as long as this process lives: its death is known within
                seconds, and a stall of seconds may be taken for it.
        """
        ...

    async def finish(self, key: CallKey, owner: str, result: ToolResult, *, lasting: bool) -> bool:
        """Records the result, if the call is still the owner's. `lasting`: for as long as there are records at all."""
        ...

    async def release(self, key: CallKey, owner: str, *, forget: bool) -> None:
        """Lets go of a call that is still the owner's, so that its id can be tried again at once.

        Args:
            forget: False leaves the call as one that somebody started: it may have had its effect already.
        """
        ...


class RateLimiter(Protocol):
    """Limits per user and tool. Every method raises StoreAway."""

    async def admit(self, caller: Caller, tool: str, limits: Limits, call_id: str) -> Admission:
        """One atomic step; a refused call consumes nothing, a repeated id consumes once."""
        ...

    async def remaining(self, caller: Caller, tool: str, limits: Limits) -> Admission:
        """What is left, consuming nothing."""
        ...


class ResultCache(Protocol):
    """Results kept for others to use."""

    async def get(self, key: str) -> Data | None:
        """The kept data; None when there is none. Raises StoreAway."""
        ...

    async def put(self, key: str, data: Data, seconds: float) -> None:
        """Keeps the data. Raises StoreAway."""
        ...

    async def lead(self, key: str, seconds: float) -> str | None:
        """A token when the caller is the one to compute the value; None when another process is. Raises StoreAway."""
        ...

    async def follow(self, key: str, seconds: float) -> Data | None:
        """Waits for the leader's value, at most that long; None when it gave none. Raises StoreAway."""
        ...

    async def yield_lead(self, key: str, token: str) -> None:
        """Ends the lead, if it is still held. Raises StoreAway."""
        ...

    async def generation(self, owner: str) -> str:
        """A word that belongs into keys of an owner's own data; `forget` changes it. Raises StoreAway."""
        ...

    async def forget(self, owner: str) -> None:
        """Makes what is kept of an owner's own data unreachable, what is being computed too. Raises StoreAway."""
        ...


class Companies(Protocol):
    """What companies' settings say about tools."""

    async def tools_of(self, company: str) -> CompanyTools:
        """The defaults for a company that has no settings. Raises ServiceAway."""
        ...


class RemoteTools(Protocol):
    """Tools that other services serve."""

    async def call(self, tool: str, subject: str | None, arguments: Arguments, context: CallContext) -> Data:
        """Raises ToolFailed, ToolRefused, ServiceAway or TimeoutError."""
        ...

    async def outcome(self, tool: str, subject: str | None, arguments: Arguments, context: CallContext) -> Data | None:
        """What became of a call, by its id; None: nothing. Raises TimeoutError when it cannot be known now."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """A page of the same site that a page leads to; `language` where the markup names one."""

    path: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a company's site as readable text, with the pages that it leads to."""

    url: str
    title: str
    text: str
    truncated: bool
    links: tuple[Link, ...] = ()


class Pages(Protocol):
    """Reads pages of companies' own sites, and nothing else."""

    async def read(self, company: CompanyTools, path: str) -> Page:
        """Raises ToolFailed with the reason, ToolRefused for a path that is none."""
        ...


@dataclass(frozen=True, slots=True)
class Outside:
    """What handlers of the catalogue may use."""

    pages: Pages
