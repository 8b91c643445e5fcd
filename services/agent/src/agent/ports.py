"""The dependencies of turns, as Protocols and values. The adapters implement them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from agent.domain.context.compression import PromptMessage
from agent.domain.cost import ModelUse, Reservation
from agent.domain.offered_tool import OfferedTool
from agent.domain.pictures import LISTED_SUPPORT, PictureSupport
from agent.domain.sent_files import ReadFile
from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.turn.journal import Journal, ModelAnswer, TurnCall
from contracts.company import CompanyConfig, CompanySettings
from contracts.context_rpc import FullContext, Summary
from contracts.conversation import Snapshot
from contracts.events.chat import Action, Chart, Citation, Wishes
from contracts.files import FileRef
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.languages import Language
from contracts.proposal_rpc import AnsweredTurn


class ConversationKey(NamedTuple):
    """One conversation."""

    company: str
    conversation: str


@dataclass(frozen=True, slots=True)
class Requester:
    """The author of the newest message. `principal`: compact JWS to pass on; None for an anonymous visitor.
    `language`: of the message or, if it does not show, of the page or the principal. `prompt`: first and last sequence
    of the messages that the prompt of a tool call contained in full; None if unknown. `said`: the user's texts, oldest
    first, if no conversation stores them."""

    principal: str | None
    role: str
    plan: str
    user: str | None
    language: Language
    page_url: str | None = None
    page_title: str | None = None
    funnel_stage: str | None = None
    prompt: tuple[int, int] | None = None
    said: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TurnSnapshot:
    """A snapshot of the log, with the requester. `text`: the requester's newest message. `asked`: the actions that the
    newest answer asks them to confirm. `wishes`: how their program wants the answer. `door`: the door through which the
    message came. `trades`: whether the company is a trading platform."""

    view: Snapshot
    requester: Requester
    text: str = ""
    asked: tuple[ShownAction, ...] = ()
    wishes: Wishes | None = None
    door: str | None = None
    trades: bool = True


@dataclass(frozen=True, slots=True)
class PromptHistory:
    """The last messages, oldest first, and what is known of the visitor."""

    messages: tuple[PromptMessage, ...]
    visits: int = 1
    page_url: str | None = None
    page_title: str | None = None
    funnel_stage: str | None = None

    def unanswered(self, basis: int) -> list[PromptMessage]:
        """The visitor's or user's messages after the sequence `basis`."""
        return [message for message in self.messages if not message.mine and message.seq > basis]

    def settled(self, basis: int) -> list[PromptMessage]:
        """All messages except the unanswered ones."""
        return [message for message in self.messages if message.mine or message.seq <= basis]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model, in the shapes of the OpenAI chat API. `time_limit`: seconds for the whole reply or, if
    `total_time_limit` is given, for its first words. `total_time_limit`: seconds for a reply that has begun."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[OfferedTool]
    tool_choice: Literal["auto", "none", "required"]
    model: str
    temperature: float
    max_tokens: int
    time_limit: float
    total_time_limit: float | None = None
    language: Language = "es"
    page_url: str | None = None
    company: CompanyConfig | None = None
    """The company whose assistant answers; the prompt describes it to models."""
    begun_before: bool = False
    """Whether the conversation has earlier messages than the prompt contains."""
    knowledge: KnowledgeFound | None = field(default_factory=KnowledgeFound)
    """The passages found for the question; None if the search failed."""
    market: Mapping[str, Any] | None = None
    """The current state of the market, if known."""
    facts: Sequence[str] | None = ()
    """Remembered facts that answer the question, for the offline provider; None if memory could not be read."""
    plan: str | None = None
    """The plan of a trading platform's customer; None for other requesters."""
    task: Literal["answer", "complete", "suggest", "improve"] = "answer"  # of a completion nothing is learned
    stop: tuple[str, ...] = ()
    sampling: Mapping[str, float] | None = None
    """Sampling parameters, by their names in the OpenAI chat API; a model gets those that its API supports."""
    parallel_calls: bool = True
    tool_name: str | None = None
    """The tool that must be called, if `tool_choice` is `required`."""
    about: str = ""
    """For help to a human agent: the visitor's newest message, or the draft. The offline provider reads only this."""
    sight: PictureSupport = LISTED_SUPPORT
    """Which models get the messages' pictures. Other models get a sentence about them."""
    ignore_silence: bool = False
    """Whether to wait for a silent provider until the time limit: it is its second try, and no other one is left."""


class TextSink(Protocol):
    """Receives the text of a running reply, piece by piece; no method waits."""

    def text(self, piece: str) -> None:
        """Adds text to the reply."""
        ...

    def restart(self) -> None:
        """Drops the text so far, because the reply starts again."""
        ...


class Model(Protocol):
    """One configured provider."""

    @property
    def provider(self) -> str:
        """The provider's name in contracts.providers."""
        ...

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Streams one reply into the sink; raises ModelError."""
        ...


class Companies(Protocol):
    """The companies' settings, kept current by the bus."""

    async def get(self, company: str) -> CompanySettings | None:
        """Returns the current settings, or None if there is no such company. Raises UnreachableError."""
        ...


class ChatLog(Protocol):
    """The log of a conversation."""

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        """Returns the snapshot, at least as new as the sequence `at_least`; raises UnreachableError."""
        ...

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        """Returns the view without leading unanswered messages that are copies of the messages `answered` (ids), unless
        all unanswered messages are copies."""
        ...

    async def append(self, key: ConversationKey, ending: "Ending", fence: int) -> "AppendOutcome":
        """Appends the end of the turn if the log holds nothing newer than `fence`."""
        ...


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a turn: an answer, or a system message (`code`)."""

    journal: Journal
    text: str
    citations: tuple[Citation, ...] = ()
    actions: tuple[Action, ...] = ()
    charts: tuple[Chart, ...] = ()
    config_version: int = 0
    code: str | None = None


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """Outcome of an append: stored at `seq`; refused by the fence, with the newest `seq` (0 if unknown); or unknown."""

    outcome: Literal["stored", "refused", "unknown"]
    seq: int = 0


class Journals(Protocol):
    """The one journal value of each conversation."""

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        """Returns the journal and its revision; None and 0 if there is none."""
        ...

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """Returns the new revision; None if another value was stored first, or if the outcome is unknown."""
        ...


class Histories(Protocol):
    """Reads what was said in conversations."""

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be its conversation's first one; then `look` already reads the history."""
        ...

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        """Returns the newest messages with sequence ≤ `seq`, without gaps."""
        ...


class Contexts(Protocol):
    """Reads what memory knows about a customer; stores summaries."""

    async def full(
        self, key: ConversationKey, requester: Requester, text: str, seq: int, company: CompanyConfig, messages: int = 1
    ) -> FullContext | None:
        """Returns the context for a turn on `text`, with at most `messages` messages; None if memory fails."""
        ...

    async def save(
        self, key: ConversationKey, summary: str, up_to: int, messages: int, replaced: Summary | None
    ) -> None:
        """Stores a summary of `messages` messages up to the sequence `up_to`, in place of `replaced`; best effort."""
        ...


class KnowledgeReader(Protocol):
    """Searches the company's knowledge."""

    async def search(self, company: str, query: KnowledgeQuery, *, when_read: bool = False) -> KnowledgeFound | None:
        """Returns the best passages; None if it failed. `when_read`: it waits shortly for a site's first reading."""
        ...


class FileReader(Protocol):
    """Reads files of a conversation."""

    async def read(self, key: ConversationKey, files: Sequence[FileRef], language: Language) -> tuple[ReadFile, ...]:
        """Returns each file with its text, or with the reason why there is none."""
        ...

    async def pictures(self, key: ConversationKey, files: Sequence[FileRef]) -> Mapping[str, str]:
        """Returns the content of pictures in base64, by file id; pictures that cannot be read are missing."""
        ...


class Search(Protocol):
    """One search of the company's knowledge, which may travel along with another request."""

    @property
    def query(self) -> KnowledgeQuery | None:
        """The query that is still to be sent; None if there is none."""
        ...

    def set_result(self, result: KnowledgeFound | None) -> None:
        """Sets the result; None means that the search failed."""
        ...

    def send_alone(self) -> None:
        """Sends the query in a request of its own, if it is still to be sent."""
        ...


class Summaries(Protocol):
    """Makes summaries after a turn, for the next one."""

    def request(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """Requests a summary of everything up to the sequence `up_to`; does not wait for it."""
        ...


class Proposals(Protocol):
    """Has a model propose, after a turn, what to remember of its user."""

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Requests proposals for an answered turn; does not wait for them."""
        ...


class OwnCalls(Protocol):
    """Tool calls that the agent makes by itself, on the user's behalf, because the user's words ask for them."""

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """Returns the result as JSON text, in the shape of a tool result; never raises for a failed call."""
        ...


class Catalogue(Protocol):
    """Lists the tools that a requester may use."""

    async def offered(self, company: str, requester: Requester) -> tuple[OfferedTool, ...]:
        """Returns the tools in the catalogue's order; none if the catalogue cannot be read."""
        ...


class ToolCalls(Protocol):
    """The tool executor."""

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """Returns the result as JSON text, even of a failed call; repeats the request until `seconds` have passed."""
        ...


class Drivers(Protocol):
    """All agents of the installation."""

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        """Whether some agent says that it drives this turn right now."""
        ...


class Live(Protocol):
    """Progress for clients that have the conversation open; may be lost. No method waits."""

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, Any]) -> None:
        """Publishes a live event of the turn, e.g. of kind message.delta."""
        ...


class Failures(Protocol):
    """The operators' inbox and the dead letters."""

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Reports a failed turn, with an id by which a repeat is recognised."""
        ...


class BusClock(Protocol):
    """The bus's time, so that agents with different clocks decide alike."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The providers to try, in order, each with its model."""

    candidates: tuple[tuple[Model, str], ...]


class Budgets(Protocol):
    """The token budgets of companies and visitors."""

    async def reserve(
        self, reservation: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Reserves tokens and returns the reservation as granted, which may lack its further one. Raises
        BudgetSpentError. `daily`, `hourly`: limits in tokens; None for no limit. `search` may travel in the same
        request, and gets its result whether or not the tokens are granted."""
        ...

    def settle(self, reservation: Reservation, used: int) -> None:
        """Reports the tokens that the call really used; does not wait."""
        ...


class UsageFacts(Protocol):
    """Records what model calls used."""

    def record(self, use: ModelUse) -> None:
        """Records one model call; does not wait."""
        ...


class Models(Protocol):
    """The configured providers."""

    def for_company(self, config: CompanyConfig) -> "Models":
        """Returns the same providers, preceded by the company's own model if it has one."""
        ...

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """Returns the (provider, model) names under which a company's preferred model may be called."""
        ...

    def only(self, provider: str, model: str) -> ModelChoice:
        """Returns only this model of this provider, as `named` returned it."""
        ...

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """Returns the models to try for a company's preferred provider and model, in order; never empty."""
        ...

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """Returns only the same provider's cheaper model; never empty."""
        ...
