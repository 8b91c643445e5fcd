"""Calls that the market-adapter serves besides its tools: status, events, quotes, and a user's own data."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.company_rpc import CompanyRequest
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action
from contracts.events.market import Condition, TriggeredAlert
from contracts.ids import CompanyId, Id
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc

QUEUE = "market-adapter"

# ---------------------------------------------------------------- the market


class MarketStatusRequest(Wire):
    """Asks for the state of the stock market."""


class MarketStatusReply(Wire):
    """New York's sessions. `current_time` is the market's present; with the sample provider, that of its clock."""

    status: Annotated[Literal["open", "closed", "pre_market", "after_hours"], OPEN]
    current_time: datetime
    next_open: datetime
    next_close: datetime
    early_close: bool = Field(default=False, description="the session of next_close ends early")
    source: str
    as_of: datetime
    notes: dict[str, str] | None = Field(
        default=None, description="by language: what a reader must know of all figures of this provider now"
    )
    symbols: list[str] = Field(
        default_factory=list[str],
        description="all that the provider has, if they are 40 at most: none where they are more or cannot be listed",
    )


class MarketEventsRequest(Wire):
    """The events of the next `days` days, of these symbols and of the economy."""

    symbols: list[str] = Field(default_factory=list[str], max_length=20)
    days: int = Field(default=60, ge=1, le=366)
    limit: int = Field(default=20, ge=1, le=100)


class MarketEvent(Wire):
    """One event. `status`: expected (from calendars) or confirmed (by its organiser)."""

    date: date
    name: str
    impact: Annotated[Literal["high", "medium", "low"], OPEN]
    kind: Annotated[Literal["earnings", "dividend", "economy"], OPEN]
    symbol: str | None = None
    status: Annotated[Literal["expected", "confirmed"], OPEN] = "confirmed"
    source: str


class TickerError(Wire):
    """A symbol that could not be answered."""

    error: str
    ticker: str
    reason: str


class MarketEventsReply(Wire):
    """Soonest first. `errors` names the symbols whose events are not known."""

    events: list[MarketEvent]
    errors: list[TickerError] = Field(default_factory=list[TickerError])
    source: str
    as_of: datetime


class QuotesRequest(Wire):
    """The prices of several symbols, however they are spelled."""

    symbols: list[str] = Field(min_length=1, max_length=20)


class QuoteView(Wire):
    """One price; `change_percent` 2.5 = 2.5 %, null when there is nothing to compare with."""

    symbol: str
    price: float
    change: float | None = None
    change_percent: float | None = None
    change_basis: str
    currency: str
    source: str
    as_of: datetime


class QuotesReply(Wire):
    """The quotes in the order of the request, without repeats. A symbol that is not known is among the errors: no price
    is ever made up."""

    quotes: list[QuoteView]
    errors: list[TickerError] = Field(default_factory=list[TickerError])


MARKET_STATUS = Rpc("rpc.market.status.v1", MarketStatusRequest, MarketStatusReply, queue=QUEUE)
MARKET_EVENTS = Rpc("rpc.market.events.v1", MarketEventsRequest, MarketEventsReply, queue=QUEUE)
MARKET_QUOTES = Rpc("rpc.market.quotes.v1", QuotesRequest, QuotesReply, queue=QUEUE)


# ---------------------------------------------------------------- actions that need a person's yes


class ActionDecideRequest(Wire):
    """A person's yes or no. `content_hash`, if given, must match the action's: what they saw is what is decided.

    `language` is that of error messages for them: es, en or a region of either; English by default. After the caller's
    deadline nothing is decided any more (TIMEOUT), since the person has been told that nobody answered.
    """

    company_id: CompanyId
    user_id: Id
    action_id: Id
    decision: Literal["confirm", "reject"]
    content_hash: str | None = Field(default=None, max_length=128)
    edits: dict[str, Any] | None = Field(
        default=None,
        description="with a yes: other values of what is editable; wrong ones decide nothing",
    )
    language: str | None = Field(default=None, max_length=35)


class ActionReply(Wire):
    """The action as it is now. Deciding again changes nothing: the first decision counts."""

    action: Action


class PendingActionsReply(Wire):
    """The actions that wait for this user's confirmation, oldest first."""

    actions: list[Action]


class ActionsRequest(Wire):
    """Asks for the state of these actions of a user."""

    company_id: CompanyId
    user_id: Id
    action_ids: list[Id] = Field(min_length=1, max_length=100)


class ActionsReply(Wire):
    """The requested actions that belong to this user, decided or not."""

    actions: list[Action]


ACTION_DECIDE = Rpc("rpc.market.action.decide.v1", ActionDecideRequest, ActionReply, queue=QUEUE)
ACTIONS_PENDING = Rpc("rpc.market.actions.pending.v1", UserRef, PendingActionsReply, queue=QUEUE)
ACTIONS_GET = Rpc("rpc.market.actions.get.v1", ActionsRequest, ActionsReply, queue=QUEUE)


# ---------------------------------------------------------------- a user's alerts, holdings and everything


class UntoldAlertsReply(Wire):
    """Fired alerts, and confirmed orders that were filled or ended, of which the user has not been told yet; oldest
    first."""

    alerts: list[TriggeredAlert]
    actions: list[Action] = Field(default_factory=list[Action])


class AlertsToldRequest(Wire):
    """The user has been told of these alerts and of the outcome of these actions."""

    company_id: CompanyId
    user_id: Id
    alert_ids: list[Id] = Field(default_factory=list[str], max_length=100)
    action_ids: list[Id] = Field(default_factory=list[str], max_length=100)


class AlertsToldReply(Wire):
    """The number of alerts that had not been reported before."""

    told: int


class ActiveAlert(Wire):
    """An alert that waits for its condition."""

    id: Id
    symbol: str
    condition: Condition
    price: float
    message: str | None = None


class Holdings(Wire):
    """A user's market data for the context. `portfolio` is the data of get_portfolio, snake_case inside."""

    portfolio: dict[str, Any]
    alerts: list[ActiveAlert]
    watchlist: list[str]


class ForgottenReply(Wire):
    """The number of documents that were deleted."""

    deleted: int


ALERTS_UNTOLD = Rpc("rpc.market.alerts.untold.v1", UserRef, UntoldAlertsReply, queue=QUEUE)
ALERTS_TOLD = Rpc("rpc.market.alerts.told.v1", AlertsToldRequest, AlertsToldReply, queue=QUEUE)
HOLDINGS = Rpc("rpc.market.holdings.v1", UserRef, Holdings, queue=QUEUE)
USER_FORGET = Rpc("rpc.market.user.forget.v1", UserRef, ForgottenReply, queue=QUEUE)
COMPANY_FORGET = Rpc("rpc.market.company.forget.v1", CompanyRequest, ForgottenReply, queue=QUEUE)
