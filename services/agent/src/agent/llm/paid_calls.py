"""Model calls that are paid for: tokens are reserved before each, settled after it, and told as a fact.

Each attempt is a call of its own, whoever is asked; the built-in provider uses no tokens and pays for none, but its
turns are told too. What was used settles its reservation by that fact; what was not used is given back at once.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from os import urandom
from typing import Self

import structlog

from agent.domain.cost import ModelPrice, ModelUse, Reservation, SpendingAccount, estimated_tokens, prompt_bytes
from agent.domain.pictures import picture_tokens
from agent.domain.texts import declined_text
from agent.domain.turn.journal import Journal, ModelAnswer, TokenCount
from agent.early_start import start_early
from agent.errors import BudgetSpentError, ModelDeclinedError, ModelError, ModelRefusedError
from agent.llm.fallback import ask
from agent.ports import (
    Budgets,
    ConversationKey,
    Model,
    ModelChoice,
    ModelRequest,
    Models,
    Search,
    TextSink,
    TurnSnapshot,
    UsageFacts,
)
from contracts.company import Budget, CompanyConfig
from contracts.memory_rpc import Tier
from contracts.own_model import OwnModel
from contracts.providers import CURRENCY

log = structlog.get_logger(__name__)

MARGIN = 30.0
"""Seconds beyond a call's own limit that its reservation lasts."""
RESULTS = 4_000
"""Tokens by which a call that follows on tools may be larger than the one before: their results."""


@dataclass(frozen=True)
class Spending:
    """Where calls are paid: budgets are reserved, usage is recorded."""

    budgets: Budgets
    facts: UsageFacts


def account_of(key: ConversationKey, seen: TurnSnapshot, journal: Journal) -> SpendingAccount:
    """Returns the account that pays for a turn: the visitor or user, or the conversation if nobody is known."""
    user = seen.requester.user
    return SpendingAccount(
        key.company, key.conversation, user or key.conversation, user, journal.turn_id, door=seen.door
    )


async def ask_paid(
    spending: Spending,
    models: Models,
    account: SpendingAccount,
    config: CompanyConfig,
    prompt: ModelRequest,
    sink: TextSink | None = None,
    choice: ModelChoice | None = None,
    advance: "Advance | None" = None,
) -> ModelAnswer:
    """Gets a reply of the company's model, or of the cheaper one when its budget is spent and its settings say so.

    `sink`: who hears the text while it comes, and a polite sentence where the provider withholds its answer; `choice`:
    these models instead of the company's own; `advance`: what the first attempt's tokens have been reserved with.

    Raises:
        BudgetSpentError: nothing may be called.
        ModelError: no provider gave a reply; a ModelDeclinedError only where nobody hears it.
    """
    if choice is None:
        choice = models.for_company(config).chosen(config.preferred_provider, config.preferred_model)
    main = _paid(spending, choice, account, config, "main", advance)
    try:
        try:
            return await ask(main, prompt, sink or UnreadText())
        except BudgetSpentError as spent:
            return await _ask_cheaper(spent, spending, models, account, config, prompt, sink or UnreadText())
    except ModelDeclinedError:
        if sink is None:
            raise
        text = declined_text(prompt.language)
        sink.restart()
        sink.text(text)
        return ModelAnswer(text, model=prompt.model)


async def _ask_cheaper(
    spent: BudgetSpentError,
    spending: Spending,
    models: Models,
    account: SpendingAccount,
    config: CompanyConfig,
    prompt: ModelRequest,
    sink: TextSink,
) -> ModelAnswer:
    """A reply of the cheaper model, where the company has one for a spent budget; else raises `spent`."""
    cheaper = config.budget.cheaper_model
    if config.budget.when_spent != "cheaper_model" or not cheaper:
        raise spent
    choice = models.for_company(config).cheaper(config.preferred_provider, cheaper)
    sink.restart()
    try:
        return await ask(_paid(spending, choice, account, config, "cheaper"), prompt, sink)
    except ModelRefusedError as error:
        log.warning("model.cheaper_refused", model=cheaper, error=str(error))
        raise spent from error


class Advance:
    """A call's reservation, had before the call may be made: taken by its first attempt, or given back.

    `further`: that of the call that follows if this one asks for tools, until somebody takes it.
    """

    def __init__(self, budgets: Budgets, granted: "asyncio.Future[Reservation | None]") -> None:
        self._budgets = budgets
        self._granted = granted
        self.taken = False
        self.further: Reservation | None = None

    @classmethod
    def asked(
        cls,
        spending: Spending,
        account: SpendingAccount,
        config: CompanyConfig,
        prompt: ModelRequest,
        tokens: int,
        search: Search | None = None,
    ) -> Self:
        """Asks now. `tokens`: of the prompt, at most; `search`: goes with it, and by itself if it comes back
        unanswered."""
        budgets = spending.budgets
        further = bool(prompt.tools)
        task = start_early(_reserved(budgets, account, config.budget, prompt, tokens, "main", search, further=further))
        if search is not None:
            task.add_done_callback(lambda _: search.send_alone())
        return cls(budgets, task)

    @classmethod
    def had(cls, spending: Spending, reservation: Reservation) -> Self:
        """Makes an admission of a reservation that was granted before."""
        granted: asyncio.Future[Reservation | None] = asyncio.get_running_loop().create_future()
        granted.set_result(reservation)
        return cls(spending.budgets, granted)

    async def take(self) -> Reservation | None:
        """The reservation, from now on the caller's. Raises BudgetSpentError."""
        reservation = await self._granted
        self.taken = True
        if reservation is None or reservation.further is None:
            return reservation
        self.further = reservation.further
        return replace(reservation, further=None)

    def take_further(self) -> Reservation | None:
        """The reservation of the call that follows, from now on the caller's."""
        further, self.further = self.further, None
        return further

    def close(self) -> None:
        """Gives back an unused reservation; one that is still being requested is cancelled."""
        left = [self.take_further()]
        granted = self._granted
        if not self.taken and not granted.cancel() and not granted.cancelled() and granted.exception() is None:
            self.taken = True
            reservation = granted.result()
            left += [reservation, reservation and reservation.further]
        for reservation in left:
            if reservation is not None:
                self._budgets.settle(reservation, 0)


def _paid(
    spending: Spending,
    choice: ModelChoice,
    account: SpendingAccount,
    config: CompanyConfig,
    tier: Tier,
    advance: Advance | None = None,
) -> ModelChoice:
    return ModelChoice(
        tuple(
            (
                _FreeModel(spending, model, account)
                if model.provider == "offline"
                else _PaidModel(spending, model, account, config, tier, advance),
                name,
            )
            for model, name in choice.candidates
        )
    )


class _FreeModel:
    """The built-in assistant: nothing to pay, and something to tell."""

    def __init__(self, spending: Spending, model: Model, account: SpendingAccount) -> None:
        self._facts = spending.facts
        self._model = model
        self.provider = model.provider
        self._account = account

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """The model's reply; raises ModelError."""
        reply = await self._model.reply(prompt, sink)
        self._facts.record(ModelUse(self._account, self.provider, prompt.model, TokenCount()))
        return reply


class _PaidModel:
    """A model whose every call is paid for."""

    def __init__(
        self,
        spending: Spending,
        model: Model,
        account: SpendingAccount,
        config: CompanyConfig,
        tier: Tier,
        advance: Advance | None,
    ) -> None:
        self._spending = spending
        self._model = model
        self.provider = model.provider
        self._account = account
        self._budget = config.budget
        self._own = config.own_model
        self._tier: Tier = tier
        self._advance = advance

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """The model's reply; raises BudgetSpentError before it is asked, and ModelError."""
        reservation = await self._reserve(prompt)
        heard = _CountedText(sink)
        try:
            reply = await self._model.reply(prompt, heard)
        except (ModelError, asyncio.CancelledError):
            self._broken_off(reservation, prompt, heard)
            raise
        except BaseException:
            self._unused(reservation)
            raise
        usage, estimated = reply.usage, reply.usage == TokenCount()
        if estimated:
            # Some servers count nothing; the budget counts all the same.
            usage = TokenCount(prompt_tokens(prompt), estimated_tokens(len(reply.text.encode())))
        # With no tools to wait for there is no call that follows.
        further = self._advance.take_further() if self._advance is not None and not reply.calls else None
        self._record(prompt.model, usage, reservation, estimated=estimated, goes_on=bool(reply.calls), further=further)
        return reply

    async def _reserve(self, prompt: ModelRequest) -> Reservation | None:
        if self._advance is not None and not self._advance.taken:
            return await self._advance.take()
        budgets, tokens = self._spending.budgets, prompt_tokens(prompt)
        return await _reserved(budgets, self._account, self._budget, prompt, tokens, self._tier)

    def _broken_off(self, reservation: Reservation | None, prompt: ModelRequest, heard: "_CountedText") -> None:
        """A call without a count: once it had begun to speak it is billed, by estimate; before that it is not."""
        if not heard.characters:
            self._unused(reservation)
            return
        usage = TokenCount(prompt_tokens(prompt), estimated_tokens(heard.characters, 0))
        self._record(prompt.model, usage, reservation, estimated=True)

    def _unused(self, reservation: Reservation | None) -> None:
        if reservation is not None:
            self._spending.budgets.settle(reservation, 0)

    def _record(
        self,
        model: str,
        usage: TokenCount,
        reservation: Reservation | None,
        *,
        estimated: bool,
        goes_on: bool = False,
        further: Reservation | None = None,
    ) -> None:
        price = own_price(self._own, self.provider, model)
        self._spending.facts.record(
            ModelUse(self._account, self.provider, model, usage, estimated, reservation, goes_on, further, price)
        )


def own_price(own: OwnModel | None, provider: str, model: str) -> ModelPrice | None:
    """Returns the price that the company has set for its own model; None for another model, or without a price."""
    if own is None or own.price is None or (own.provider, own.model) != (provider, model):
        return None
    return ModelPrice(own.price.prompt, own.price.completion, CURRENCY, datetime.now(UTC).date())


def is_limited(budget: Budget, account: SpendingAccount) -> bool:
    """Whether what this account uses is counted against anything."""
    return budget.daily_tokens is not None or (budget.visitor_hourly_tokens is not None and account.payer is not None)


async def _reserved(
    budgets: Budgets,
    account: SpendingAccount,
    budget: Budget,
    prompt: ModelRequest,
    tokens: int,
    tier: Tier,
    search: Search | None = None,
    *,
    further: bool = False,
) -> Reservation | None:
    """Returns the most tokens that a call with a prompt of this size may use; None if there is no limit. `further`: one
    that follows is reserved as well, where there is room enough. Raises BudgetSpentError."""
    if not is_limited(budget, account):
        return None
    of_call = partial(
        Reservation,
        company=account.company,
        payer=account.payer,
        seconds=prompt.time_limit + MARGIN,
        tier=tier,
        at=int(time.time()),
    )
    tokens += prompt.max_tokens
    follows = of_call(call=urandom(16).hex(), tokens=tokens + RESULTS) if further else None
    wanted = of_call(call=urandom(16).hex(), tokens=tokens, further=follows)
    return await budgets.reserve(wanted, budget.daily_tokens, budget.visitor_hourly_tokens, search)


class UnreadText:
    """A sink for the text of replies that nobody reads as they arrive."""

    def text(self, piece: str) -> None:
        """Nothing."""

    def restart(self) -> None:
        """Nothing."""


class _CountedText:
    """Counts what a running reply has said so far."""

    __slots__ = ("_sink", "characters")

    def __init__(self, sink: TextSink) -> None:
        self._sink = sink
        self.characters = 0

    def text(self, piece: str) -> None:
        self.characters += len(piece)
        self._sink.text(piece)

    def restart(self) -> None:
        self._sink.restart()


def prompt_tokens(prompt: ModelRequest, more: int = 0, most: int | None = None) -> int:
    """About how many tokens a prompt has. `more`: what is still to come into its messages; `most`: they will be made to
    fit into so many."""
    messages = list(prompt.messages)
    said = estimated_tokens(prompt_bytes(messages), len(messages)) + more
    tools = estimated_tokens(sum(tool.size for tool in prompt.tools), len(prompt.tools))
    return (said if most is None else min(said, most)) + picture_tokens(messages) + tools
