"""The facts of a conversation's log (stream CHAT), one subject for each kind of author."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.enumerations import OPEN, OpenEnum
from contracts.envelope import Snake, Wire
from contracts.errors import SystemCode
from contracts.files import MAX_FILES, FileRef
from contracts.ids import Id
from contracts.knowledge import Grounding

MAX_TEXT = 8000
MAX_TITLE = 300
MAX_URL = 2048
MAX_VISITED = 20
MAX_SUMMARY_LINES = 5
MAX_SUMMARY_LINE = 300


class Role(OpenEnum):
    """The author of a message, as clients see it."""

    VISITOR = "visitor"
    USER = "user"
    ASSISTANT = "assistant"
    OPERATOR = "operator"
    SYSTEM = "system"

    @classmethod
    def unknown(cls) -> "Role":
        """Returns a role whose messages are in no prompt."""
        return cls.SYSTEM

    @property
    def gets_answers(self) -> bool:
        """Whether messages of this role get answers: a visitor's or a customer's."""
        return self in {Role.VISITOR, Role.USER}


class Page(Wire):
    """The page of the company's site on which the visitor writes."""

    url: str = Field(max_length=MAX_URL)
    title: str | None = Field(default=None, max_length=MAX_TITLE)


class Citation(Wire):
    """A source of an answer: a page that was fetched, or a passage of the company's knowledge. `heading`: outermost
    first; `hash` and `read_at`: of the text as it was read, so that what it said then can be shown."""

    url: str
    title: str
    heading: list[str] | None = None
    passage_id: Id | None = None
    hash: str | None = None
    read_at: datetime | None = None


class ChartPoint(Wire):
    """One point of a chart; open, high and low for candles only."""

    time: str
    open: float | None = None
    high: float | None = None
    low: float | None = None
    close: float


class Chart(Wire):
    """Prices drawn beside an answer."""

    kind: Annotated[Literal["line", "candles"], OPEN]
    symbol: str
    series: list[ChartPoint]


class ActionState(OpenEnum):
    """The state of an action that needs confirmation."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"

    @classmethod
    def unknown(cls) -> "ActionState":
        """Returns a state in which an action can no longer be confirmed."""
        return cls.FAILED


class Action(Wire):
    """Something that happens only after a person confirms it, e.g. a paper order."""

    id: Id
    kind: str
    state: ActionState
    summary: str
    details: dict[str, Any] = Field(default_factory=dict[str, Any])
    expires_at: datetime | None = None
    editable: dict[str, Any] | None = Field(
        default=None, description="what of the details a yes may change, while it waits: by name, as JSON Schemas"
    )


class Usage(Wire):
    """The tokens of a whole turn."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


MAX_CLIENT_TOOLS = 32


class ClientTool(Wire):
    """A tool of the client's own program: a model may call it, the client runs it, and the turn waits for the
    result. One with the name of a platform tool is not offered."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str = Field(default="", max_length=2000)
    parameters: dict[str, Any] = Field(default_factory=dict[str, Any], description="JSON Schema")


class Sampling(Snake):
    """Sampling parameters, named as in OpenAI's API; what is not set is left to the provider."""

    top_p: float | None = Field(default=None, ge=0, le=1)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)


class Wishes(Wire):
    """A client program's wishes for the answer to its message. `instructions` come below the company's prompt; the
    other fields override the company's settings for this answer. `model`: one of the company's provider."""

    instructions: str | None = Field(default=None, max_length=MAX_TEXT)
    model: str | None = Field(default=None, max_length=200)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    sampling: Sampling | None = None
    parallel_calls: bool | None = Field(default=None, description="false: the model asks for one tool at a time")
    tools: list[ClientTool] | None = Field(default=None, max_length=MAX_CLIENT_TOOLS)


MAX_NAME, MAX_EMAIL = 80, 254


class VisitorMessage(Wire):
    """A visitor or customer wrote. Without a principal, the author is an anonymous visitor of the subject's company."""

    message_id: Id
    client_message_id: Id
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    principal: str | None = Field(default=None, description="compact JWS of who writes")
    role: Annotated[Literal["visitor", "user"], OPEN] = "visitor"
    locale: str | None = Field(default=None, max_length=35)
    page: Page | None = None
    visited: list[Annotated[str, Field(max_length=MAX_URL)]] | None = Field(
        default=None, max_length=MAX_VISITED, description="addresses of the site's pages before this one, oldest first"
    )
    funnel_stage: str | None = Field(default=None, max_length=64)
    door: str | None = Field(default=None, max_length=32, description="by which protocol it came; none: not told")
    wishes: Wishes | None = Field(default=None, description="of a client of another protocol")
    name: str | None = Field(default=None, max_length=MAX_NAME, description="of a customer, as their company says it")
    email: str | None = Field(default=None, max_length=MAX_EMAIL, description="the same")
    files: list[FileRef] | None = Field(default=None, max_length=MAX_FILES)


class AssistantMessage(Wire):
    """An answer. `basis`: stream sequence of the newest visitor message that it answers."""

    message_id: Id
    turn_id: Id
    basis: int = Field(ge=1)
    text: str
    citations: list[Citation] = Field(default_factory=list[Citation])
    actions: list[Action] = Field(default_factory=list[Action])
    charts: list[Chart] = Field(default_factory=list[Chart])
    usage: Usage = Field(default_factory=Usage)
    model: str
    provider: str | None = None
    config_version: int = Field(ge=0)
    grounding: Grounding | None = Field(default=None, description="where the company's knowledge was asked")


class OperatorMessage(Wire):
    """A human agent wrote; this settles the visitor messages before it."""

    message_id: Id
    client_message_id: Id | None = None
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    operator_id: Id
    name: str | None = None
    files: list[FileRef] | None = Field(default=None, max_length=MAX_FILES)


class SystemMessage(Wire):
    """A notice to the people in the conversation. `basis`: the newest visitor message that it settles."""

    message_id: Id
    text: str
    code: SystemCode | str
    basis: int = Field(default=0, ge=0)
    turn_id: Id | None = None


class OwnerKind(OpenEnum):
    """Who answers: the AI, nobody yet (a person was asked for), or a human agent."""

    AI = "ai"
    WAITING = "waiting"
    HUMAN = "human"

    @classmethod
    def unknown(cls) -> "OwnerKind":
        """Returns a person, so that the AI stays silent."""
        return cls.HUMAN


class Owner(Wire):
    """The owner of a conversation."""

    kind: OwnerKind
    operator_id: Id | None = None
    name: str | None = None


class Wait(Wire):
    """The visitor's message, by its sequence, from which they have waited for a person, and when it was stored."""

    seq: int = Field(ge=1)
    since: datetime


class OwnerChanged(Wire):
    """The conversation has a new owner from this fact on. `by`: a user id, or the service that did it; `name`:
    theirs, for display. `summary` and `language`: for the person who is to continue after the AI."""

    owner: Owner
    by: str
    name: str | None = Field(default=None, max_length=200)
    reason: str | None = None
    outside: str | None = Field(
        default=None, max_length=80, description="of a channel's conversation: the change there that this follows"
    )
    summary: list[Annotated[str, Field(max_length=MAX_SUMMARY_LINE)]] | None = Field(
        default=None, max_length=MAX_SUMMARY_LINES, description="what was asked, tried and found"
    )
    language: str | None = Field(default=None, max_length=35, description="in which the visitor writes")
    grounding: Grounding | None = Field(default=None, description="the question that the AI could not answer")
    opens_at: datetime | None = Field(
        default=None,
        description="a person was asked for when nobody was there: a message was taken, and somebody is there from then"
        " on; meanwhile the AI answers",
    )
    wait: Wait | None = Field(
        default=None,
        description="the owner was away: since when the visitor has waited, their place in the queue",
    )


class CancelReason(OpenEnum):
    """Why a run ended without an answer."""

    SUPERSEDED = "superseded"
    TAKEN_OVER = "taken_over"
    USER = "user"
    DISABLED = "disabled"

    @classmethod
    def unknown(cls) -> "CancelReason":
        """Returns that somebody cancelled it."""
        return cls.USER


class RunCancelled(Wire):
    """A turn was stopped on purpose; `basis` settles the visitor messages up to it."""

    turn_id: Id
    basis: int = Field(ge=0)
    by: str
    reason: CancelReason = CancelReason.USER
