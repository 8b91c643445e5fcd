"""Prepares the next model call while the journal before it is being saved: builds the prompt and reserves the budget.

One request reserves the tokens and searches the company's knowledge; the reservation includes room for the passages.
The model itself is only called after the journal is saved, because the journal counts attempts.
"""

import asyncio
from dataclasses import dataclass

from agent.domain.cost import Reservation, SpendingAccount
from agent.domain.knowledge import MAX_TOKENS
from agent.domain.turn.effects import CallModel
from agent.domain.turn.journal import ModelAnswer
from agent.llm.paid_calls import EarlyReservation, account_of, is_limited, prompt_tokens
from agent.ports import ModelChoice, ModelRequest, Models, TurnSnapshot
from agent.turns.deps import Limits, Ports
from agent.turns.inputs import TurnInputs
from agent.turns.knowledge_search import PassageQuery
from contracts.company import CompanyConfig, CompanySettings
from contracts.completion_rpc import OWN_MODEL
from contracts.events.chat import Wishes
from runtime.background import start_early


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A model call that is ready to be made: prompt, providers to try, and who pays."""

    prompt: ModelRequest
    choice: ModelChoice
    account: SpendingAccount
    advance: EarlyReservation | None


class Prefetch:
    """Prepares the next model call of one delivery."""

    def __init__(self, ports: Ports, limits: Limits, inputs: TurnInputs) -> None:
        self._ports = ports
        self._limits = limits
        self._inputs = inputs
        self._prefetched: tuple[CallModel, CompanySettings, asyncio.Task[ModelAnswer | PreparedCall]] | None = None
        self._advance: EarlyReservation | None = None
        self._next_reservation: Reservation | None = None
        """Reservation that was granted with the previous call, for the call after its tools."""

    def begin(
        self, call: CallModel, settings: CompanySettings, snapshot: TurnSnapshot
    ) -> "asyncio.Task[ModelAnswer | PreparedCall]":
        """Starts to prepare the call, and cancels an earlier preparation."""
        self.cancel()
        task = start_early(self._prepare(call, settings, snapshot))
        self._prefetched = (call, settings, task)
        return task

    async def ready(
        self, call: CallModel, settings: CompanySettings, snapshot: TurnSnapshot
    ) -> ModelAnswer | PreparedCall:
        """Returns the prepared call, or the agent's own reply in its place; uses the prefetch if it was made for this
        very call."""
        prefetched = self._prefetched
        if prefetched is not None and prefetched[0] == call and prefetched[1] is settings:
            return await prefetched[2]
        return await self.begin(call, settings, snapshot)

    def cancel(self) -> None:
        """Cancels the preparation and gives back unused reservations, except that of the next call."""
        prefetched, self._prefetched = self._prefetched, None
        if prefetched is not None:
            prefetched[2].cancel()
        if self._advance is not None:
            self._next_reservation = self._advance.take_further() or self._next_reservation
            self._advance.close()
            self._advance = None

    def close(self) -> None:
        self.cancel()
        further, self._next_reservation = self._next_reservation, None
        if further is not None:
            self._ports.spending.budgets.settle(further, 0)

    async def _prepare(
        self, call: CallModel, settings: CompanySettings, snapshot: TurnSnapshot
    ) -> ModelAnswer | PreparedCall:
        own_reply = await self._inputs.own_reply(call, snapshot, settings.config)
        if own_reply is not None:
            return own_reply
        ports, key = self._ports, self._inputs.key
        config, choice = apply_wishes(settings.config, snapshot.wishes, ports.models)
        if choice.candidates[0][0].provider == "offline":
            unread_reply = await self._inputs.unread_files(call, snapshot.requester.language)
            if unread_reply is not None:
                return unread_reply
        remaining = call.journal.deadline - ports.clock.now()
        account = account_of(key, snapshot, call.journal)

        is_paid = choice.candidates[0][0].provider != "offline" and is_limited(config.budget, account)

        def reserve_tokens(prompt: ModelRequest, search: PassageQuery | None = None) -> None:
            if is_paid and self._advance is None:
                tokens = prompt_tokens(prompt, 0 if search is None else MAX_TOKENS, self._limits.window.max_tokens)
                further, self._next_reservation = self._next_reservation, None
                if further is not None and search is None and tokens + prompt.max_tokens <= further.tokens:
                    self._advance = EarlyReservation.of_granted(ports.spending, further)
                    return
                if further is not None:
                    ports.spending.budgets.settle(further, 0)
                self._advance = EarlyReservation.request(ports.spending, account, config, prompt, tokens, search)

        prompt = await self._inputs.prompt(
            call, config, snapshot, remaining, choice, reserve_tokens if is_paid else None
        )
        reserve_tokens(prompt)
        return PreparedCall(prompt, choice, account, self._advance)


def apply_wishes(config: CompanyConfig, wishes: Wishes | None, models: Models) -> tuple[CompanyConfig, ModelChoice]:
    """Returns the company's settings and models with the wishes of the requester's program applied. A wished model that
    the company's provider does not offer stands for the company's own model: the door has checked that it exists."""
    provider, model = config.preferred_provider, config.preferred_model
    models = models.for_company(config)
    if wishes is None:
        return config, models.chosen(provider, model)
    changes = {"temperature": wishes.temperature, "max_response_tokens": wishes.max_tokens}
    config = config.model_copy(update={name: value for name, value in changes.items() if value is not None})
    if wishes.model is not None and wishes.model != OWN_MODEL:
        for its_provider, its_model in models.named(provider, model):
            if its_model == wishes.model:
                return config.model_copy(update={"preferred_model": its_model}), models.only(its_provider, its_model)
    return config, models.chosen(provider, model)
