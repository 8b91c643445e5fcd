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
    """The author of the newest message. `principal`: compact JWS to pass on; None for an anonymous visitor. `language`:
    of the message; where it does not show, of the page, or of the principal. `prompt`: the first and the last sequence
    of the conversation's messages that stand whole in the prompt with which a tool was asked for, where it is known.
    `said`: what the user wrote, oldest first, where no conversation keeps it.
    """

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
class AskedSnapshot:
    """One snapshot of the log, with the requester. `text`: their newest message; `asked`: what the newest answer asks
    them a yes or no for; `wishes`: how their own program wants it answered; `door`: by which protocol it came;
    `trades`: whether the company is a trading platform.
    """

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
        return [one for one in self.messages if not one.mine and one.seq > basis]

    def settled(self, basis: int) -> list[PromptMessage]:
        """All messages but those."""
        return [one for one in self.messages if one.mine or one.seq <= basis]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model, in the shapes of the OpenAI chat API. `time_limit`: seconds for the whole reply, or, where
    `longest` is given, for its first words; `longest`: seconds for the whole of one that has begun."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[OfferedTool]
    tool_choice: Literal["auto", "none", "required"]
    model: str
    temperature: float
    max_tokens: int
    time_limit: float
    longest: float | None = None
    language: Language = "es"
    page_url: str | None = None
    company: CompanyConfig | None = None
    """The company whose assistant answers; the prompt tells models about it."""
    begun_before: bool = False
    """The conversation had begun before the messages that are shown here."""
    knowledge: KnowledgeFound | None = field(default_factory=KnowledgeFound)
    """The passages found for the question, for the prompt. None: they could not be had."""
    market: Mapping[str, Any] | None = None
    """The state of the market now, if it is known, for the prompt."""
    facts: Sequence[str] = ()
    """What the user has told that answers the question, for the assistant by rules."""
    plan: str | None = None
    """The plan of a trading platform's customer, for the prompt; None: nobody's."""
    task: Literal["answer", "suggest", "improve"] = "answer"
    stop: tuple[str, ...] = ()
    sampling: Mapping[str, float] | None = None
    """Parameters of sampling, by their names in the OpenAI chat API; a model gets those that its interface has."""
    parallel_calls: bool = True
    tool_name: str | None = None
    """The tool that must be called, if `tool_choice` is `required`."""
    about: str = ""
    """For help to a human agent: the visitor's newest message, or the draft. The offline provider, which has no model,
    reads only this."""
    sight: PictureSupport = LISTED_SUPPORT
    """Which models get the pictures of the messages. Others are told in words that there are some."""
    patient: bool = False
    """A silent provider is waited for until the time limit: it is asked for the second time, and no other is left."""


class TextSink(Protocol):
    """Takes the text of a running reply, piece by piece; neither method waits."""

    def text(self, piece: str) -> None:
        """Adds text to the reply."""
        ...

    def restart(self) -> None:
        """Drops the text so far: the reply is made anew."""
        ...


class Model(Protocol):
    """One configured provider."""

    @property
    def provider(self) -> str:
        """A name of contracts.providers."""
        ...

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Streams one reply into the sink; raises ModelError."""
        ...


class Companies(Protocol):
    """The companies' settings, as fresh as the bus."""

    async def get(self, company: str) -> CompanySettings | None:
        """The settings now; None: no such company. Raises UnreachableError when they cannot be had."""
        ...


class ChatLog(Protocol):
    """The log of a conversation."""

    async def look(self, key: ConversationKey, at_least: int) -> AskedSnapshot:
        """The snapshot, no older than `at_least`; raises UnreachableError."""
        ...

    async def behind_copies(self, key: ConversationKey, view: Snapshot, answered: Collection[str]) -> Snapshot:
        """The view in which what waits first is no copy of these messages, unless only copies wait."""
        ...

    async def append(self, key: ConversationKey, ending: "Ending", fence: int) -> "AppendOutcome":
        """Appends what the turn ends in, if nothing newer than `fence` is there."""
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
    """Outcome of an append: stored (at seq), refused by the fence (seq: what is there; 0: not said), or unknown."""

    outcome: Literal["stored", "refused", "unknown"]
    seq: int = 0


class Journals(Protocol):
    """The one journal value of each conversation."""

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        """The value and its revision (0: there is none)."""
        ...

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """The new revision; None when another value is there already, or it is unknown whether this one is."""
        ...


class Histories(Protocol):
    """Reads what was said in conversations."""

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be its conversation's first one: the look tells what was said then."""
        ...

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        """The newest messages with sequence ≤ seq, none missing."""
        ...


class Contexts(Protocol):
    """Reads from memory what it knows of a customer, and the summaries that it keeps."""

    async def full(
        self, key: ConversationKey, requester: Requester, text: str, seq: int, company: CompanyConfig, messages: int = 1
    ) -> FullContext | None:
        """Everything about the turn of the message `text`, with at most so many messages; None: not to be had."""
        ...

    async def save(self, key: ConversationKey, summary: str, up_to: int, messages: int, over: Summary | None) -> None:
        """Keeps a summary that covers `messages` messages up to a sequence, in place of `over`; best effort."""
        ...


class KnowledgeReader(Protocol):
    """Searches the company's knowledge."""

    async def search(self, company: str, query: KnowledgeQuery) -> KnowledgeFound | None:
        """The passages that fit best; None: not to be had."""
        ...


class FileReader(Protocol):
    """Reads files of a conversation."""

    async def read(self, key: ConversationKey, files: Sequence[FileRef], language: Language) -> tuple[ReadFile, ...]:
        """Returns each file with its text, or with the reason why there is none."""
        ...

    async def pictures(self, key: ConversationKey, files: Sequence[FileRef]) -> Mapping[str, str]:
        """The content of pictures by the file's id, in base64; those that are not to be had are missing."""
        ...


class Search(Protocol):
    """One search of the company's knowledge, which may travel along with another request."""

    @property
    def query(self) -> KnowledgeQuery | None:
        """The query that is still to be sent; None: nothing."""
        ...

    def answered(self, found: KnowledgeFound | None) -> None:
        """Takes the result; None: it could not be had."""
        ...

    def alone(self) -> None:
        """Sends the query, if it is still to be sent, in a request of its own."""
        ...


class Summaries(Protocol):
    """Makes summaries after a turn, for the next one."""

    def want(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """Orders a summary of everything up to a sequence; does not wait for it."""
        ...


class Proposals(Protocol):
    """Has a model propose, after a turn, what to remember of its user."""

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Orders proposals for an answered turn; does not wait for them."""
        ...


class OwnCalls(Protocol):
    """Tool calls that the agent makes by itself, in the user's name, because the user's words ask for them."""

    async def outcome(self, key: ConversationKey, call: TurnCall, requester: Requester) -> str:
        """The result as JSON text, in the shape of a tool's, whatever happens."""
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
        """The result as JSON text, whatever happens; asked for again until `seconds` are over."""
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
        """Tells of a failed turn, under an id of its own, so that a repeat is recognised."""
        ...


class BusClock(Protocol):
    """The bus's time, so that agents whose clocks differ decide alike."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The providers to try, in order, each with its model."""

    candidates: tuple[tuple[Model, str], ...]


class Budgets(Protocol):
    """The budgets that companies and visitors have for models."""

    async def reserve(
        self, wanted: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Reserves tokens; returns the reservation as granted, which may lack its further one. Raises BudgetSpentError.
        The limits are in tokens; None: there is none. `search` may travel in the same request, and is answered whether
        or not the tokens are granted."""
        ...

    def settle(self, reservation: Reservation, used: int) -> None:
        """Reports what the call really used; does not wait."""
        ...


class UsageFacts(Protocol):
    """Records what model calls used."""

    def record(self, use: ModelUse) -> None:
        """Records one model call; does not wait."""
        ...


class Models(Protocol):
    """The configured providers."""

    def for_company(self, config: CompanyConfig) -> "Models":
        """The same providers, after the company's own model where it has one."""
        ...

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """Returns the (provider, model) names under which a company's preferred model may be called."""
        ...

    def only(self, provider: str, model: str) -> ModelChoice:
        """This model of this provider, as `named` gave it, and nobody else's."""
        ...

    def chosen(self, provider: str, model: str) -> ModelChoice:
        """Returns the models to try for a company's preferred provider and model, in order; never empty."""
        ...

    def cheaper(self, provider: str, model: str) -> ModelChoice:
        """The same provider's cheaper model, and nobody else's; never empty."""
        ...
