"""The declaration of a tool. Adding a tool takes one of these and a function, in a file of the catalogue."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from contracts.json_values import JsonObject
from contracts.text import Text
from contracts.tools_rpc import Category as Category
from tool_executor.domain.plans import Arguments, CompanyTools, VerifiedCaller

CACHE_SECONDS: Mapping[Category, int] = {
    Category.MARKET: 5,
    Category.PORTFOLIO: 10,
    Category.ML: 60,
    Category.NEWS: 300,
    Category.EDUCATION: 30,
}
"""Seconds for which a result is cached, by category. For `site` the company sets the time; others are never cached."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a handler gets about a call besides its arguments."""

    call_id: str
    caller: VerifiedCaller
    company: CompanyTools | None
    seconds_left: float


Data = JsonObject
"""A result's data: JSON values by snake_case names."""
Schema = Mapping[str, Any]
"""A JSON Schema, 2020-12."""


Handler = Callable[[Arguments, CallContext], Awaitable[Data]]
"""Does the work of one tool. Raises ToolFailedError with a reason, which only the pipeline may catch."""
LookUp = Callable[[Arguments, CallContext], Awaitable[Data | None]]
"""Returns the data of an earlier call; None if it had no effect, so that it may be run under the same id."""


@dataclass(frozen=True, slots=True)
class OverTheBus:
    """The tool is served by another service, as a NATS request on `subject`. None means ``rpc.tool.<name>.v1``, or for
    a look-up ``rpc.tool.outcome.v1``."""

    subject: str | None = None


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """A fault in an argument; an empty `field` means all of them together. A plain string comes from a schema or
    another service and is not translated."""

    field: str
    message: Text | str


Validator = Callable[[Arguments], Sequence[ArgumentProblem]]
PostProcessor = Callable[[Data, Arguments], Data]
Normaliser = Callable[[Arguments], Arguments]
CompanyRule = Callable[[CompanyTools], bool]


class CacheScope(StrEnum):
    """The callers who share a cached result. SITE: only the company, for as long as its settings say."""

    NEVER = "never"
    PUBLIC = "public"
    USER = "user"
    SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTool:
    """A tool. `required_plan`, `category` and the schemas are checked at start-up."""

    id: str
    name: str
    description: Text
    category: str
    handler: Handler | OverTheBus
    input_schema: Schema
    output_schema: Schema
    per_minute: int
    per_hour: int | None = None
    per_day: int | None = None
    required_plan: str = "free"
    label: Text | None = None
    """The text that a person reads while the tool runs."""
    side_effects: bool = False
    destructive: bool = False
    """Whether the tool deletes something: clients may want to ask their user first."""
    idempotent: bool = False
    """For a tool with side effects: whether a repeat with the same arguments, under any call id, changes nothing."""
    time_limit: float = 10.0
    """Seconds, for one run of the handler."""
    cache: CacheScope = CacheScope.NEVER
    texts_differ: bool = False
    """Whether the data depends on the caller's language."""
    version: int = 1
    """Increased when the meaning of the data changes, so that older cached results are not served."""
    validator: Validator | None = None
    normaliser: Normaliser | None = None
    """Converts arguments to a canonical form (btc/usd to BTC-USD), after validation."""
    post_processor: PostProcessor | None = None
    reconcile: LookUp | OverTheBus | None = None
    """For a tool with side effects: looks up, by the call id, the result of a call with an unknown outcome."""
    offered: CompanyRule | None = None
    """Whether a company with these settings has the tool at all."""
    foreign: bool = False
    """Whether the result contains foreign texts, which are marked as data for models."""
    offered_to_visitors: bool = True
    """False if visitors can never have the tool, whatever the company's settings say."""
    for_visitors: bool = False
    """Whether visitors have the tool even if the company does not list it in enabledTools."""
    budget_per_ticker: int = 1
    examples: Sequence[Mapping[str, Any]] = field(default_factory=tuple[Mapping[str, Any], ...])


class ToolFailedError(Exception):
    """A handler could not do its work: EXECUTION_ERROR with this reason.

    Args:
        reason: a short snake_case word for programs, e.g. not_found.
        message: one sentence for a model or a person; a plain string if it is already in the caller's language.
    """

    def __init__(self, reason: str, message: Text | str) -> None:
        super().__init__(str(message))
        self.reason = reason
        self.message = message


class ToolRefusedError(Exception):
    """A handler refuses its arguments: VALIDATION_ERROR with these fields."""

    def __init__(self, *problems: ArgumentProblem) -> None:
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in problems))
        self.problems = problems


class ToolUnavailableError(Exception):
    """A service that the tool needs cannot be reached now: UNAVAILABLE, to be tried again later.

    Args:
        was_received: whether the service received the call, and may have run it.
    """

    def __init__(self, message: str, *, was_received: bool = False) -> None:
        super().__init__(message)
        self.was_received = was_received
