"""Prepares the next model call while the journal before it is being saved: builds the prompt and reserves the budget.

Tokens are reserved in one request with the search for what the company says, with the room that this may take. No model
hears of it before it is asked: that waits for the journal, in which attempts are counted.
"""

import asyncio
from dataclasses import dataclass, replace

from agent.domain.cost import Reservation, SpendingAccount
from agent.domain.knowledge import MAX_TOKENS
from agent.domain.turn.effects import CallModel
from agent.domain.turn.journal import ModelAnswer
from agent.early_start import start_early
from agent.llm.paid_calls import Advance, account_of, is_limited, prompt_tokens
from agent.ports import AskedSnapshot, ModelChoice, ModelRequest, Models
from agent.turns.deps import Limits, Ports
from agent.turns.inputs import TurnInputs
from agent.turns.knowledge_search import PassageQuery
from contracts.company import CompanyConfig, CompanySettings
from contracts.completion_rpc import OWN_MODEL
from contracts.events.chat import Wishes


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A model call that is ready to be made: prompt, providers to try, and who pays."""

    prompt: ModelRequest
    choice: ModelChoice
    account: SpendingAccount
    advance: Advance | None


class Prefetch:
    """Prepares the next model call of one delivery."""

    def __init__(self, ports: Ports, limits: Limits, inputs: TurnInputs) -> None:
        self._ports = ports
        self._limits = limits
        self._inputs = inputs
        self._begun: tuple[CallModel, CompanySettings, asyncio.Task[ModelAnswer | PreparedCall]] | None = None
        self._advance: Advance | None = None
        self._further: Reservation | None = None
        """Came with the call before, for the one that follows on its tools."""

    def begin(
        self, ask: CallModel, settings: CompanySettings, seen: AskedSnapshot
    ) -> "asyncio.Task[ModelAnswer | PreparedCall]":
        """Begins to prepare the call, instead of one begun before."""
        self.leave()
        task = start_early(self._make(ask, settings, seen))
        self._begun = (ask, settings, task)
        return task

    async def ready(self, ask: CallModel, settings: CompanySettings, seen: AskedSnapshot) -> ModelAnswer | PreparedCall:
        """Returns the request to the model, or the agent's own reply in its place; the prefetched one if it was made
        for this very call."""
        begun = self._begun
        if begun is not None and begun[0] == ask and begun[1] is settings:
            return await begun[2]
        return await self.begin(ask, settings, seen)

    def leave(self) -> None:
        """Cancels what was begun, and gives back unused reservations, except that of the next call."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun[2].cancel()
        if self._advance is not None:
            self._further = self._advance.take_further() or self._further
            self._advance.close()
            self._advance = None

    def close(self) -> None:
        self.leave()
        further, self._further = self._further, None
        if further is not None:
            self._ports.spending.budgets.settle(further, 0)

    async def _make(self, ask: CallModel, settings: CompanySettings, seen: AskedSnapshot) -> ModelAnswer | PreparedCall:
        own = await self._inputs.own_reply(ask, seen, settings.config)
        if own is not None:
            return own
        ports, key = self._ports, self._inputs.key
        config, choice = wished(settings.config, seen.wishes, ports.models)
        if choice.candidates[0][0].provider == "offline":
            unread = await self._inputs.unread_files(ask, seen.requester.language)
            if unread is not None:
                return unread
        left = ask.journal.deadline - ports.clock.now()
        account = account_of(key, seen, ask.journal)

        paid = choice.candidates[0][0].provider != "offline" and is_limited(config.budget, account)

        def pay(prompt: ModelRequest, search: PassageQuery | None = None) -> None:
            if paid and self._advance is None:
                tokens = prompt_tokens(prompt, 0 if search is None else MAX_TOKENS, self._limits.window.most)
                further, self._further = self._further, None
                if further is not None and search is None and tokens + prompt.max_tokens <= further.tokens:
                    self._advance = Advance.had(ports.spending, further)
                    return
                if further is not None:
                    ports.spending.budgets.settle(further, 0)
                self._advance = Advance.asked(ports.spending, account, config, prompt, tokens, search)

        seconds = min(left, self._limits.model)
        prompt = await self._inputs.prompt(ask, config, seen, seconds, choice, pay if paid else None)
        pay(prompt)
        return PreparedCall(replace(prompt, longest=left), choice, account, self._advance)


def wished(config: CompanyConfig, wishes: Wishes | None, models: Models) -> tuple[CompanyConfig, ModelChoice]:
    """The company's settings and models, changed by what the requester's program wants for this answer. A model that
    the company's provider does not have is the company's own: the door has checked that it exists."""
    provider, model = config.preferred_provider, config.preferred_model
    models = models.for_company(config)
    if wishes is None:
        return config, models.chosen(provider, model)
    changes = {"temperature": wishes.temperature, "max_response_tokens": wishes.max_tokens}
    config = config.model_copy(update={name: value for name, value in changes.items() if value is not None})
    if wishes.model is not None and wishes.model != OWN_MODEL:
        for named, one in models.named(provider, model):
            if one == wishes.model:
                return config.model_copy(update={"preferred_model": one}), models.only(named, one)
    return config, models.chosen(provider, model)
