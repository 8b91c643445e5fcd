"""Replays recorded turns with the settings and tools that they had, or with changed ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.adapters.catalogue import ExecutorCatalogue
from agent.adapters.price_table import prices
from agent.domain.offered_tool import OfferedTool
from agent.llm.paid_calls import Spending
from agent.ports import Models, Requester
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn import hash_of
from agent.record.turn_archive import TurnArchive
from agent.replay.comparison import compared
from agent.replay.overrides import OverrideError, changed
from agent.replay.recorded_ports import results_of
from agent.replay.rerun import ReplayWorld, again
from contracts.company import CompanySettings


@dataclass(frozen=True)
class Changes:
    """The changes for a replay besides the model. `patch`: a merge patch of the settings."""

    prompt: str | None = None
    patch: dict[str, object] | None = None


class Replayer:
    """Replays turns. `spending`: who pays for the model calls; None: nobody."""

    def __init__(
        self,
        archive: TurnArchive,
        catalogue: ExecutorCatalogue,
        models: Models,
        changes: Changes,
        spending: Spending | None = None,
    ) -> None:
        self._archive = archive
        self._catalogue = catalogue
        self._models = models
        self._changes = changes
        self._spending = spending
        self._tools: dict[tuple[str, str, str, str], tuple[OfferedTool, ...]] = {}
        self._versions: dict[str, dict[int, CompanySettings]] = {}
        self._prices = prices()

    async def one(self, turn: RecordedTurn, siblings: Sequence[RecordedTurn] = ()) -> dict[str, object]:
        """Replays a turn and compares it. `siblings` are the turns of its conversation. Raises OverrideError,
        UnreachableError."""
        notes: list[str] = []
        settings = await self._settings(turn, notes)
        settings = changed(settings, prompt=self._changes.prompt, patch=self._changes.patch)
        tools = await self._offered(turn, notes)
        others: dict[tuple[str, str], str] = {}
        for sibling in siblings:
            if sibling is not turn:
                others |= results_of(sibling.journal)
        world = ReplayWorld(settings, tools, self._models, others, self._prices, spending=self._spending)
        return compared(turn, await again(turn, world), self._prices, notes)

    async def _settings(self, turn: RecordedTurn, notes: list[str]) -> CompanySettings:
        company = turn.key.company
        if company not in self._versions:
            self._versions[company] = await self._archive.settings(company)
        versions = self._versions[company]
        found = versions.get(turn.config_version)
        if found is not None:
            return found
        if not versions:
            raise OverrideError(f"there is no company {company} any more")
        newest = max(versions)
        notes.append(f"settings of version {turn.config_version} are gone: version {newest} was used")
        return versions[newest].model_copy(update={"version": turn.config_version})

    async def _offered(self, turn: RecordedTurn, notes: list[str]) -> tuple[OfferedTool, ...]:
        requester = turn.inputs.seen.requester
        kind = (turn.key.company, requester.role, requester.plan, requester.language)
        if kind not in self._tools:
            self._tools[kind] = await self._catalogue.offered(turn.key.company, _known(requester))
        tools = self._tools[kind] if requester.principal is not None else ()
        if self._changes.patch is None:
            # What the settings then allowed, as the tools are described now.
            tools = tuple(tool for tool in tools if tool.name in turn.tools)
        if hash_of(tools) != turn.tools_hash:
            notes.append("the tools are not the ones that were offered then")
        return tools


def _known(requester: Requester) -> Requester:
    return requester if requester.principal is not None else replace(requester, principal="recorded")
