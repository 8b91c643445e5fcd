"""Paid model calls: tokens are reserved before each call, and its usage is recorded as a fact after it.

Each attempt at each provider is a call of its own. The offline provider uses no tokens, but its calls are recorded too.
The fact settles the reservation of a call; the reservation of a call that was not made is given back at once.
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
from runtime.background import start_early

log = structlog.get_logger(__name__)

RESERVATION_MARGIN_SECONDS = 30.0
"""Seconds that a reservation outlives the time limit of its call."""
TOOL_RESULT_TOKENS = 4_000
"""Tokens reserved for tool results, by which the call after the tools may be larger than the one before."""


@dataclass(frozen=True)
class Spending:
    """The budgets in which tokens are reserved, and the facts in which usage is recorded."""

    budgets: Budgets
    facts: UsageFacts


def account_of(key: ConversationKey, snapshot: TurnSnapshot, journal: Journal) -> SpendingAccount:
    """Returns the account that pays for a turn: the user, or the conversation if the user is unknown."""
    user = snapshot.requester.user
    return SpendingAccount(
        key.company, key.conversation, user or key.conversation, user, journal.turn_id, door=snapshot.door
    )


async def ask_paid(
    spending: Spending,
    models: Models,
    account: SpendingAccount,
    config: CompanyConfig,
    prompt: ModelRequest,
    sink: TextSink | None = None,
    choice: ModelChoice | None = None,
    advance: "EarlyReservation | None" = None,
) -> ModelAnswer:
    """Gets a reply of the company's model, or of the cheaper one if the budget is spent and the settings say so.

    `sink`: gets the text as it arrives, and a polite sentence if the provider withholds its answer. `choice`: the
    models to try instead of the company's. `advance`: the reservation already made for the first attempt.

    Raises:
        BudgetSpentError: no model may be called.
        ModelError: no provider replied; a ModelDeclinedError only if there is no `sink`.
    """
    if choice is None:
        choice = models.for_company(config).chosen(config.preferred_provider, config.preferred_model)
    main_choice = _paid_choice(spending, choice, account, config, "main", advance)
    try:
        try:
            return await ask(main_choice, prompt, sink or UnreadText())
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
    budget_error: BudgetSpentError,
    spending: Spending,
    models: Models,
    account: SpendingAccount,
    config: CompanyConfig,
    prompt: ModelRequest,
    sink: TextSink,
) -> ModelAnswer:
    """Gets a reply of the cheaper model if the company has one for a spent budget; otherwise raises `budget_error`."""
    cheaper = config.budget.cheaper_model
    if config.budget.when_spent != "cheaper_model" or not cheaper:
        raise budget_error
    choice = models.for_company(config).cheaper(config.preferred_provider, cheaper)
    sink.restart()
    try:
        return await ask(_paid_choice(spending, choice, account, config, "cheaper"), prompt, sink)
    except ModelRefusedError as error:
        log.warning("model.cheaper_refused", model=cheaper, error=str(error))
        raise budget_error from error


class EarlyReservation:
    """A reservation made before the call itself may be made. The call's first attempt takes it, or it is given back.

    `further`: the reservation for the call after this one's tools, until it is taken.
    """

    def __init__(self, budgets: Budgets, reservation: "asyncio.Future[Reservation | None]") -> None:
        self._budgets = budgets
        self._reservation = reservation
        self.taken = False
        self.further: Reservation | None = None

    @classmethod
    def request(
        cls,
        spending: Spending,
        account: SpendingAccount,
        config: CompanyConfig,
        prompt: ModelRequest,
        tokens: int,
        search: Search | None = None,
    ) -> Self:
        """Requests a reservation now. `tokens`: upper bound of the prompt's tokens. `search`: travels in the same
        request; sent by itself if it gets no result there."""
        budgets = spending.budgets
        with_further = bool(prompt.tools)
        task = start_early(
            _reserve_tokens(budgets, account, config.budget, prompt, tokens, "main", search, with_further=with_further)
        )
        if search is not None:
            task.add_done_callback(lambda _: search.send_alone())
        return cls(budgets, task)

    @classmethod
    def of_granted(cls, spending: Spending, reservation: Reservation) -> Self:
        """Wraps a reservation that was granted before."""
        granted: asyncio.Future[Reservation | None] = asyncio.get_running_loop().create_future()
        granted.set_result(reservation)
        return cls(spending.budgets, granted)

    async def take(self) -> Reservation | None:
        """Returns the reservation (None if there is no limit), which now belongs to the caller. Raises
        BudgetSpentError."""
        reservation = await self._reservation
        self.taken = True
        if reservation is None or reservation.further is None:
            return reservation
        self.further = reservation.further
        return replace(reservation, further=None)

    def take_further(self) -> Reservation | None:
        """Returns the further reservation, if there is one; it now belongs to the caller."""
        further, self.further = self.further, None
        return further

    def close(self) -> None:
        """Gives back unused reservations and cancels a request that is still under way."""
        unused = [self.take_further()]
        task = self._reservation
        if not self.taken and not task.cancel() and not task.cancelled() and task.exception() is None:
            self.taken = True
            reservation = task.result()
            unused += [reservation, reservation and reservation.further]
        for reservation in unused:
            if reservation is not None:
                self._budgets.settle(reservation, 0)


def _paid_choice(
    spending: Spending,
    choice: ModelChoice,
    account: SpendingAccount,
    config: CompanyConfig,
    tier: Tier,
    advance: EarlyReservation | None = None,
) -> ModelChoice:
    return ModelChoice(
        tuple(
            (
                _OfflineModel(spending, model, account)
                if model.provider == "offline"
                else _PaidModel(spending, model, account, config, tier, advance),
                name,
            )
            for model, name in choice.candidates
        )
    )


class _OfflineModel:
    """The offline provider: costs nothing, but its calls are recorded."""

    def __init__(self, spending: Spending, model: Model, account: SpendingAccount) -> None:
        self._facts = spending.facts
        self._model = model
        self.provider = model.provider
        self._account = account

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Returns the reply and records the call; raises ModelError."""
        reply = await self._model.reply(prompt, sink)
        self._facts.record(ModelUse(self._account, self.provider, prompt.model, TokenCount()))
        return reply


class _PaidModel:
    """A model each of whose calls is reserved and recorded."""

    def __init__(
        self,
        spending: Spending,
        model: Model,
        account: SpendingAccount,
        config: CompanyConfig,
        tier: Tier,
        advance: EarlyReservation | None,
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
        """Returns the model's reply; raises ModelError, or BudgetSpentError before the model is called."""
        reservation = await self._reserve(prompt)
        counted_text = _CountedText(sink)
        try:
            reply = await self._model.reply(prompt, counted_text)
        except (ModelError, asyncio.CancelledError):
            self._bill_broken_off(reservation, prompt, counted_text)
            raise
        except BaseException:
            self._give_back(reservation)
            raise
        usage, is_estimated = reply.usage, reply.usage == TokenCount()
        if is_estimated:
            # Some servers report no usage; the budget still needs one.
            usage = TokenCount(prompt_tokens(prompt), estimated_tokens(len(reply.text.encode())))
        # Without tool calls no further call follows, so its reservation is returned with this fact.
        unneeded = self._advance.take_further() if self._advance is not None and not reply.calls else None
        self._record(
            prompt.model,
            usage,
            reservation,
            estimated=is_estimated,
            requested_tools=bool(reply.calls),
            further=unneeded,
        )
        return reply

    async def _reserve(self, prompt: ModelRequest) -> Reservation | None:
        if self._advance is not None and not self._advance.taken:
            return await self._advance.take()
        budgets, tokens = self._spending.budgets, prompt_tokens(prompt)
        return await _reserve_tokens(budgets, self._account, self._budget, prompt, tokens, self._tier)

    def _bill_broken_off(
        self, reservation: Reservation | None, prompt: ModelRequest, counted_text: "_CountedText"
    ) -> None:
        """Settles a call that broke off without a token count: by estimate if text had arrived, otherwise as unused."""
        if not counted_text.characters:
            self._give_back(reservation)
            return
        usage = TokenCount(prompt_tokens(prompt), estimated_tokens(counted_text.characters, 0))
        self._record(prompt.model, usage, reservation, estimated=True)

    def _give_back(self, reservation: Reservation | None) -> None:
        if reservation is not None:
            self._spending.budgets.settle(reservation, 0)

    def _record(
        self,
        model: str,
        usage: TokenCount,
        reservation: Reservation | None,
        *,
        estimated: bool,
        requested_tools: bool = False,
        further: Reservation | None = None,
    ) -> None:
        price = own_price(self._own, self.provider, model)
        self._spending.facts.record(
            ModelUse(
                self._account, self.provider, model, usage, estimated, reservation, requested_tools, further, price
            )
        )


def own_price(own_model: OwnModel | None, provider: str, model: str) -> ModelPrice | None:
    """Returns the price that the company has set for its own model; None for other models, or if it has set none."""
    if own_model is None or own_model.price is None or (own_model.provider, own_model.model) != (provider, model):
        return None
    return ModelPrice(own_model.price.prompt, own_model.price.completion, CURRENCY, datetime.now(UTC).date())


def is_limited(budget: Budget, account: SpendingAccount) -> bool:
    """Whether a token limit applies to this account."""
    return budget.daily_tokens is not None or (budget.visitor_hourly_tokens is not None and account.payer is not None)


async def _reserve_tokens(
    budgets: Budgets,
    account: SpendingAccount,
    budget: Budget,
    prompt: ModelRequest,
    tokens: int,
    tier: Tier,
    search: Search | None = None,
    *,
    with_further: bool = False,
) -> Reservation | None:
    """Reserves the tokens that a call may use at most; returns None if there is no limit. `tokens`: of the prompt.
    `with_further`: also reserves the next call, if the budget has room for it. Raises BudgetSpentError."""
    if not is_limited(budget, account):
        return None
    reservation_of = partial(
        Reservation,
        company=account.company,
        payer=account.payer,
        seconds=prompt.time_limit + RESERVATION_MARGIN_SECONDS,
        tier=tier,
        at=int(time.time()),
    )
    tokens += prompt.max_tokens
    further = reservation_of(call=urandom(16).hex(), tokens=tokens + TOOL_RESULT_TOKENS) if with_further else None
    reservation = reservation_of(call=urandom(16).hex(), tokens=tokens, further=further)
    return await budgets.reserve(reservation, budget.daily_tokens, budget.visitor_hourly_tokens, search)


class UnreadText:
    """A sink for replies that nobody reads while they arrive."""

    def text(self, piece: str) -> None:
        """Ignores the text."""

    def restart(self) -> None:
        """Does nothing."""


class _CountedText:
    """Passes text on and counts its characters."""

    __slots__ = ("_sink", "characters")

    def __init__(self, sink: TextSink) -> None:
        self._sink = sink
        self.characters = 0

    def text(self, piece: str) -> None:
        self.characters += len(piece)
        self._sink.text(piece)

    def restart(self) -> None:
        self._sink.restart()


def prompt_tokens(prompt: ModelRequest, extra_tokens: int = 0, max_message_tokens: int | None = None) -> int:
    """Returns the estimated tokens of a prompt. `extra_tokens`: tokens that are still to be added to its messages.
    `max_message_tokens`: the size to which the messages will be compressed."""
    messages = list(prompt.messages)
    message_tokens = estimated_tokens(prompt_bytes(messages), len(messages)) + extra_tokens
    tool_tokens = estimated_tokens(sum(tool.size for tool in prompt.tools), len(prompt.tools))
    return (
        (message_tokens if max_message_tokens is None else min(message_tokens, max_message_tokens))
        + picture_tokens(messages)
        + tool_tokens
    )
