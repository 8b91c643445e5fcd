"""The ports of a turn, played back from its record. Nothing here reaches anything outside."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.domain.cost import ModelUse, Reservation
from agent.domain.offered_tool import OfferedTool
from agent.domain.sent_files import ReadFile
from agent.domain.turn.journal import MAX_CANCELS, Journal, TokenCount, TurnCall
from agent.domain.turn.policy import MAX_BURST_SECONDS
from agent.ports import (
    AppendOutcome,
    AskedSnapshot,
    ConversationKey,
    Ending,
    PromptHistory,
    Requester,
    Search,
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
    """ports.ChatLog and ports.Histories: the conversation as it was, and what the replay would have said."""

    def __init__(self, turn: RecordedTurn, delay: float) -> None:
        """`delay`: seconds that the settings let pass before an answer."""
        self._turn = turn
        self._view = _view(turn, delay)
        self.ending: Ending | None = None

    async def look(self, key: ConversationKey, at_least: int) -> AskedSnapshot:
        """The snapshot that the turn was decided from."""
        del key, at_least
        return replace(self._turn.inputs.seen, view=self._view)

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        del key, answered
        return view

    async def append(self, key: ConversationKey, ending: Ending, fence: int) -> AppendOutcome:
        """Keeps what the turn ends in."""
        del key
        self.ending = ending
        return AppendOutcome("stored", fence + 1)

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        del key, seq
        return False

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        del key, seq
        return self._turn.inputs.history


class PlayedJournals:
    """ports.Journals: the value as the turn found it, and every value that it saves."""

    def __init__(self, turn: RecordedTurn) -> None:
        self.saved: list[Journal] = []
        self._found = _found(turn.journal)

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        del key
        return (self.saved[-1] if self.saved else self._found), len(self.saved)

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """Always stored: nobody else drives."""
        del key, revision
        self.saved.append(journal)
        return len(self.saved)


@dataclass
class PlayedTools:
    """ports.ToolCalls: results from the record where tool and arguments match; nothing is ever executed."""

    turn: Journal
    others: Mapping[tuple[str, str], str]
    """Results of the conversation's other turns: better than none, and told apart."""
    missing: list[str] = field(default_factory=list[str])
    borrowed: list[str] = field(default_factory=list[str])

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """The recorded result, or one that says that there is none."""
        del key, category, requester, turn_id, seconds
        wanted = (call.tool, canonical(call.arguments))
        own = results_of(self.turn).get(wanted)
        if own is not None:
            return own
        found = self.others.get(wanted)
        if found is not None:
            self.borrowed.append(call.call_id)
            return found
        self.missing.append(call.call_id)
        return json.dumps(
            {
                "success": False,
                "error": {"code": NOT_IN_RECORD, "message": f"{call.tool} was not called so when this was recorded"},
                "metadata": {"execution_time": 0.0},
            }
        )


@dataclass(frozen=True)
class PlayedContexts:
    """ports.Contexts: what was known of the customer."""

    turn: RecordedTurn

    async def full(
        self, key: ConversationKey, requester: Requester, text: str, seq: int, company: CompanyConfig, messages: int = 1
    ) -> FullContext | None:
        del key, requester, text, seq, company, messages
        return self.turn.inputs.context

    async def save(self, key: ConversationKey, summary: str, up_to: int, messages: int, over: Summary | None) -> None:
        """Does nothing: a replay stores no summaries."""


@dataclass(frozen=True)
class PlayedKnowledge:
    """ports.KnowledgeReader: what was found then."""

    turn: RecordedTurn

    async def search(self, company: str, query: KnowledgeQuery) -> KnowledgeFound | None:
        del company, query
        return self.turn.inputs.knowledge


@dataclass(frozen=True)
class PlayedOwnCalls:
    """ports.OwnCalls: the recorded outcomes of the agent's own steps; nothing is decided again."""

    tools: PlayedTools

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """The recorded result, or one that says that there is none."""
        return await self.tools.outcome(key, call, "", requester, self.tools.turn.turn_id, 0.0)


@dataclass(frozen=True)
class FixedPorts:
    """ports.Companies, Catalogue, Drivers, Failures, Live, BusClock, FileReader and Budgets, all of which never
    change."""

    settings: CompanySettings
    tools: tuple[OfferedTool, ...]
    at: float

    async def get(self, company: str) -> CompanySettings | None:
        del company
        return self.settings

    async def offered(self, company: str, requester: Requester) -> tuple[OfferedTool, ...]:
        del company, requester
        return self.tools

    async def read(self, key: ConversationKey, files: Sequence[FileRef], language: Language) -> tuple[ReadFile, ...]:
        """Returns no texts: the texts of files are not recorded."""
        del key, language
        return tuple(ReadFile(file) for file in files)

    async def pictures(self, key: ConversationKey, files: Sequence[FileRef]) -> Mapping[str, str]:
        """Returns no pictures: they are not recorded."""
        del key, files
        return {}

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        """Returns False: no other agent drives a replayed turn."""
        del key, turn_id
        return False

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Does nothing: a replay reports no failures."""

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, object]) -> None:
        """Does nothing: nobody listens to a replay."""

    def now(self) -> float:
        """The moment at which the turn was opened."""
        return self.at

    async def reserve(
        self, wanted: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Always granted: a replay is not charged to anybody."""
        del daily, hourly, search
        return wanted

    def settle(self, reservation: Reservation, used: int) -> None:
        """Does nothing: nothing was reserved."""

    def want(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """A replay sums nothing up."""

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """A replay remembers nothing."""

    def ended(self, key: ConversationKey, turn: EndedTurn) -> None:
        """A replay is not recorded."""


@dataclass
class ReplayUsage:
    """ports.UsageFacts: what the replay's own model calls used. `book`: where it is told as well."""

    book: UsageFacts | None = None
    calls: list[tuple[str, str, TokenCount]] = field(default_factory=list[tuple[str, str, TokenCount]])

    def record(self, use: ModelUse) -> None:
        self.calls.append((use.provider, use.model, use.usage))
        if self.book is not None:
            self.book.record(use)


def results_of(journal: Journal) -> dict[tuple[str, str], str]:
    """Result texts by tool and canonical arguments; for repeated calls the first result, which has no note."""
    found: dict[tuple[str, str], str] = {}
    for call in journal.calls:
        if call.result is not None:
            result = json.dumps(json.loads(call.result), ensure_ascii=False)
            found.setdefault((call.tool, canonical(call.arguments)), result)
    return found


def canonical(arguments: str) -> str:
    """Arguments as they compare."""
    return json.dumps(json.loads(arguments), sort_keys=True)


def _found(journal: Journal) -> Journal:
    """The value that the turn was opened from, its last attempt still to come: what earlier ones left is kept."""
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
    """The recorded view, due now, and as impatient as the turn was when it was opened."""
    view, journal, now = turn.inputs.seen.view, turn.journal, turn.journal.started_at
    impatient = journal.forced and journal.cancels < MAX_CANCELS
    first = now - MAX_BURST_SECONDS if impatient else now
    return replace(
        view,
        newest_visitor_at=min(view.newest_visitor_at, now - delay),
        first_unanswered_at=first,
        owner_seq=journal.owner_since,
    )
