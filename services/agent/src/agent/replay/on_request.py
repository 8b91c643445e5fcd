"""Replays one recorded turn, or makes a case of it, for an admin who asks through the gateway (rpc.agent.turn.…)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

import aiohttp

from agent.adapters.catalogue import ExecutorCatalogue
from agent.domain.cost import ModelUse, Reservation, SpendingAccount
from agent.errors import HelpRefusedError
from agent.llm.paid_calls import Spending
from agent.ports import Budgets, Models, Search, UsageFacts
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn_archive import TurnArchive
from agent.replay.made_case import case_of
from agent.replay.overrides import ChosenModel, OverrideError, chosen_model, single_model
from agent.replay.replayer import Changes, Replayer
from agent.settings import ModelSettings
from contracts.preview_rpc import TurnRequest
from contracts.providers import OFFLINE, ProviderInfo
from contracts.replay_rpc import CaseReply, ComparedTurn, ReplayReply, ReplayRequest


@dataclass(frozen=True)
class ReplayModels:
    """The models that a replay can use. `own`: the models of companies' turns. `listed` returns all providers, each
    with whether it is configured."""

    own: Models
    listed: Callable[[], Sequence[tuple[ProviderInfo, bool]]]
    settings: ModelSettings
    session: aiohttp.ClientSession

    def named(self, name: str) -> Models:
        """Returns only this model; raises HelpRefusedError if it is not configured here."""
        try:
            chosen = chosen_model(name, self.settings)
        except OverrideError as error:
            raise HelpRefusedError("BAD_FIELD", f"model: {error}") from error
        if not self._is_listed(chosen):
            message = f"model: {name} is no model that is configured here: GET /v2/llm/config/providers lists them"
            raise HelpRefusedError("BAD_FIELD", message)
        return single_model(chosen, self.settings, self.session)

    def _is_listed(self, chosen: ChosenModel) -> bool:
        if chosen.provider == OFFLINE.name:
            return True
        return any(
            provider.name == chosen.provider
            and configured
            and any(chosen.model in (model.name, *model.aliases) for model in provider.known_models)
            for provider, configured in self.listed()
        )


class RequestedReplays:
    """Serves replays of recorded turns. The company pays for the model calls, not the user of the turn."""

    def __init__(
        self, archive: TurnArchive, catalogue: ExecutorCatalogue, models: ReplayModels, spending: Spending
    ) -> None:
        self._archive = archive
        self._catalogue = catalogue
        self._models = models
        self._spending = spending

    async def replay(self, request: ReplayRequest) -> ReplayReply:
        """Replays the turn and compares it; raises HelpRefusedError, UnreachableError."""
        models = self._models.named(request.model) if request.model else self._models.own
        turn = await self._turn(request)
        if turn is None:
            return ReplayReply()
        payer = CompanyBudget(self._spending, SpendingAccount(request.company_id, turn_id=uuid4().hex))
        changes = Changes(prompt=request.prompt)
        replayer = Replayer(self._archive, self._catalogue, models, changes, Spending(payer, payer))
        try:
            compared = await replayer.replay_and_compare(turn)
        except OverrideError as error:
            raise HelpRefusedError("BAD_FIELD", str(error)) from error
        return ReplayReply(turn=ComparedTurn.model_validate(compared))

    async def case(self, request: TurnRequest) -> CaseReply:
        """Returns the turn as a case; raises UnreachableError."""
        turn = await self._turn(request)
        return CaseReply(case=None if turn is None else case_of(turn))

    async def _turn(self, request: TurnRequest) -> RecordedTurn | None:
        turn = await self._archive.turn(request.company_id, request.user_id, request.turn_id, request.answered_at)
        return turn if turn is not None and turn.key.conversation == request.conversation_id else None


class CompanyBudget:
    """ports.Budgets and ports.UsageFacts that charge the company instead of the user."""

    def __init__(self, spending: Spending, account: SpendingAccount) -> None:
        self._budgets: Budgets = spending.budgets
        self._facts: UsageFacts = spending.facts
        self._account = account

    async def reserve(
        self, reservation: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Reserves from the company's daily budget only, not from a visitor's hourly one. Raises BudgetSpentError."""
        further = None if reservation.further is None else replace(reservation.further, payer=None)
        return await self._budgets.reserve(replace(reservation, payer=None, further=further), daily, None)

    def settle(self, reservation: Reservation, used: int) -> None:
        self._budgets.settle(reservation, used)

    def record(self, use: ModelUse) -> None:
        self._facts.record(replace(use, account=self._account))
