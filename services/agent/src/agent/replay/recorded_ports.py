"""The ports of a turn, played back from its record. Nothing here calls an outside service."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.domain.cost import ModelUse, Reservation
from agent.domain.offered_tool import OfferedTool
from agent.domain.sent_files import ReadFile
from agent.domain.tool_results import canonical
from agent.domain.turn.journal import MAX_CANCELS, Journal, TokenCount, TurnCall
from agent.domain.turn.policy import MAX_BURST_SECONDS
from agent.ports import (
    AppendOutcome,
    ConversationKey,
    Ending,
    PromptHistory,
    Requester,
    Search,
    TurnSnapshot,
    UsageFacts,
)
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn import EndedTurn
from contracts.company import CompanyConfig, CompanySettings
from contracts.context_rpc import FullContext, Summary
from contracts.conversation import Snapshot
from contracts.files import FileRef
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.languages import Language
from contracts.proposal_rpc import AnsweredTurn

NOT_IN_RECORD = "NOT_IN_RECORD"


class PlayedLog:
    """ports.ChatLog, Histories, Contexts and KnowledgeReader: the conversation and what was known, as it was.
    `ending`: the end of the replayed turn."""

    def __init__(self, turn: RecordedTurn, delay: float) -> None:
        """`delay`: seconds before an answer, by the settings."""
        self._turn = turn
        self._view = _view(turn, delay)
        self.ending: Ending | None = None

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        """Returns the snapshot on which the turn was decided."""
        return replace(self._turn.inputs.seen, view=self._view)

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        return view

    async def append(self, key: ConversationKey, ending: Ending, fence: int) -> AppendOutcome:
        """Keeps the end of the turn."""
        self.ending = ending
        return AppendOutcome("stored", fence + 1)

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        return False

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        return self._turn.inputs.history

    async def full(
        self, key: ConversationKey, requester: Requester, text: str, seq: int, company: CompanyConfig, messages: int = 1
    ) -> FullContext | None:
        return self._turn.inputs.context

    async def save(
        self, key: ConversationKey, summary: str, up_to: int, messages: int, replaced: Summary | None
    ) -> None:
        """Does nothing: a replay stores no summaries."""

    async def search(self, company: str, query: KnowledgeQuery, *, when_read: bool = False) -> KnowledgeFound | None:
        return self._turn.inputs.knowledge


class PlayedJournals:
    """ports.Journals: the value from which the turn was opened, and every value that it saves."""

    def __init__(self, turn: RecordedTurn) -> None:
        self.saved: list[Journal] = []
        self._opened_from = _opened_from(turn.journal)

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        return (self.saved[-1] if self.saved else self._opened_from), len(self.saved)

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """Always stores the journal: no other agent drives a replayed turn."""
        self.saved.append(journal)
        return len(self.saved)


@dataclass
class PlayedTools:
    """ports.ToolCalls: results from the record if tool and arguments match; nothing is ever executed."""

    turn: Journal
    others: Mapping[tuple[str, str], str]
    """Results of the conversation's other turns, used if the turn has none, and listed in `borrowed`."""
    missing: list[str] = field(default_factory=list[str])
    borrowed: list[str] = field(default_factory=list[str])

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """Returns the recorded result, or an error result if there is none."""
        call_key = (call.tool, canonical(call.arguments))
        recorded = results_of(self.turn).get(call_key)
        if recorded is not None:
            return recorded
        borrowed = self.others.get(call_key)
        if borrowed is not None:
            self.borrowed.append(call.call_id)
            return borrowed
        self.missing.append(call.call_id)
        return json.dumps(
            {
                "success": False,
                "error": {"code": NOT_IN_RECORD, "message": f"{call.tool} was not called so when this was recorded"},
                "metadata": {"execution_time": 0.0},
            }
        )


@dataclass(frozen=True)
class PlayedOwnCalls:
    """ports.OwnCalls: the recorded outcomes of the agent's own steps; nothing is decided again."""

    tools: PlayedTools

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """Returns the recorded result, or an error result if there is none."""
        return await self.tools.outcome(key, call, "", requester, self.tools.turn.turn_id, 0.0)


@dataclass(frozen=True)
class FixedPorts:
    """ports.Companies, Catalogue, Drivers, Failures, Live, BusClock, FileReader and Budgets, all of which never
    change."""

    settings: CompanySettings
    tools: tuple[OfferedTool, ...]
    at: float

    async def get(self, company: str) -> CompanySettings | None:
        return self.settings

    async def offered(self, company: str, requester: Requester) -> tuple[OfferedTool, ...]:
        return self.tools

    async def read(self, key: ConversationKey, files: Sequence[FileRef], language: Language) -> tuple[ReadFile, ...]:
        """Returns no texts: the texts of files are not recorded."""
        return tuple(ReadFile(file) for file in files)

    async def pictures(self, key: ConversationKey, files: Sequence[FileRef]) -> Mapping[str, str]:
        """Returns no pictures: they are not recorded."""
        return {}

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        """Returns False: no other agent drives a replayed turn."""
        return False

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Does nothing: a replay reports no failures."""

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, object]) -> None:
        """Does nothing: nobody listens to a replay."""

    def now(self) -> float:
        """Returns the time at which the turn was opened."""
        return self.at

    async def reserve(
        self, reservation: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Always grants the reservation: a replay is not charged."""
        return reservation

    def settle(self, reservation: Reservation, used: int) -> None:
        """Does nothing: nothing was reserved."""

    def request(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """Does nothing: a replay makes no summaries."""

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Does nothing: a replay proposes nothing."""

    def ended(self, key: ConversationKey, turn: EndedTurn) -> None:
        """Does nothing: a replay is not recorded."""


@dataclass
class ReplayUsage:
    """ports.UsageFacts: collects what the replay's own model calls used. `book`: also gets each use, if given."""

    book: UsageFacts | None = None
    calls: list[tuple[str, str, TokenCount]] = field(default_factory=list[tuple[str, str, TokenCount]])

    def record(self, use: ModelUse) -> None:
        self.calls.append((use.provider, use.model, use.usage))
        if self.book is not None:
            self.book.record(use)


def results_of(journal: Journal) -> dict[tuple[str, str], str]:
    """Returns result texts by tool and canonical arguments; for repeated calls the first result, which has no note."""
    results: dict[tuple[str, str], str] = {}
    for call in journal.calls:
        if call.result is not None:
            result = json.dumps(json.loads(call.result), ensure_ascii=False)
            results.setdefault((call.tool, canonical(call.arguments)), result)
    return results


def _opened_from(journal: Journal) -> Journal:
    """Returns the journal from which the turn was opened: before its last attempt, with what earlier ones left."""
    return Journal(
        journal.turn_id,
        journal.basis,
        journal.started_at,
        journal.deadline,
        steps=tuple(step for step in journal.steps if step.basis != journal.basis),
        cancels=journal.cancels,
        released=True,
        owner_since=journal.owner_since,
        attempts=journal.attempts - 1,
        failures=journal.failures,
        message=journal.message,
        answered=journal.answered,
    )


def _view(turn: RecordedTurn, delay: float) -> Snapshot:
    """Returns the recorded view, with times that make the turn due now, and as impatient as it was when opened."""
    view, journal, opened_at = turn.inputs.seen.view, turn.journal, turn.journal.started_at
    was_impatient = journal.forced and journal.cancels < MAX_CANCELS
    first_unanswered_at = opened_at - MAX_BURST_SECONDS if was_impatient else opened_at
    return replace(
        view,
        newest_visitor_at=min(view.newest_visitor_at, opened_at - delay),
        first_unanswered_at=first_unanswered_at,
        owner_seq=journal.owner_since,
    )
