"""Replays recorded turns with the settings and tools that they had, or with changed ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.adapters.catalogue import ExecutorCatalogue
from agent.adapters.price_table import prices
from agent.domain.cost import Prices
from agent.domain.offered_tool import OfferedTool
from agent.llm.paid_calls import Spending
from agent.ports import Models, Requester
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn import hash_of
from agent.record.turn_archive import TurnArchive
from agent.replay.comparison import comparison
from agent.replay.overrides import OverrideError, changed_settings
from agent.replay.recorded_ports import results_of
from agent.replay.rerun import ReplayWorld, replay_turn
from contracts.company import CompanySettings


@dataclass(frozen=True)
class Changes:
    """The changes of a replay besides the model. `patch`: a merge patch of the settings."""

    prompt: str | None = None
    patch: dict[str, object] | None = None


@dataclass(slots=True, eq=False)
class Replayer:
    """Replays turns. `spending`: pays for the model calls; None if nobody does."""

    archive: TurnArchive
    catalogue: ExecutorCatalogue
    models: Models
    changes: Changes
    spending: Spending | None = None
    _tools: dict[tuple[str, str, str, str], tuple[OfferedTool, ...]] = field(init=False, default_factory=dict)
    _versions: dict[str, dict[int, CompanySettings]] = field(init=False, default_factory=dict)
    _prices: Prices = field(init=False, default_factory=prices)

    async def replay_and_compare(self, turn: RecordedTurn, siblings: Sequence[RecordedTurn] = ()) -> dict[str, object]:
        """Replays a turn and compares it. `siblings` are the turns of its conversation. Raises OverrideError,
        UnreachableError."""
        notes: list[str] = []
        settings = await self._settings(turn, notes)
        settings = changed_settings(settings, prompt=self.changes.prompt, patch=self.changes.patch)
        tools = await self._offered(turn, notes)
        others: dict[tuple[str, str], str] = {}
        for sibling in siblings:
            if sibling is not turn:
                others |= results_of(sibling.journal)
        world = ReplayWorld(settings, tools, self.models, others, self._prices, spending=self.spending)
        return comparison(turn, await replay_turn(turn, world), self._prices, notes)

    async def _settings(self, turn: RecordedTurn, notes: list[str]) -> CompanySettings:
        company = turn.key.company
        if company not in self._versions:
            self._versions[company] = await self.archive.settings(company)
        versions = self._versions[company]
        settings = versions.get(turn.config_version)
        if settings is not None:
            return settings
        if not versions:
            raise OverrideError(f"there is no company {company} any more")
        newest = max(versions)
        notes.append(f"settings of version {turn.config_version} are gone: version {newest} was used")
        return versions[newest].model_copy(update={"version": turn.config_version})

    async def _offered(self, turn: RecordedTurn, notes: list[str]) -> tuple[OfferedTool, ...]:
        requester = turn.inputs.seen.requester
        list_key = (turn.key.company, requester.role, requester.plan, requester.language)
        if list_key not in self._tools:
            self._tools[list_key] = await self.catalogue.offered(turn.key.company, _with_recorded_principal(requester))
        tools = self._tools[list_key] if requester.principal is not None else ()
        if self.changes.patch is None:
            # The tools that the settings allowed then, with their current descriptions.
            tools = tuple(tool for tool in tools if tool.name in turn.tools)
        if hash_of(tools) != turn.tools_hash:
            notes.append("the tools are not the ones that were offered then")
        return tools


def _with_recorded_principal(requester: Requester) -> Requester:
    return requester if requester.principal is not None else replace(requester, principal="recorded")
