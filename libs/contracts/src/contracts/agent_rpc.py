"""Calls that the agent serves besides turns: the state of a running turn, available models, suggested replies, improved
wording, summaries for a person who takes over.

Errors, besides those of the runtime: NOT_FOUND (no such company or conversation), FORBIDDEN (suggestions are off in the
company's settings), RATE_LIMITED (the company's budget is spent; the message says so), UNAVAILABLE (no model answered).
The cost of a call counts against the company's budget and is published in usage.recorded, like that of a turn.
"""

from pydantic import Field

from contracts.envelope import Wire
from contracts.events.chat import MAX_SUMMARY_LINES, MAX_TEXT
from contracts.events.turn import HandedCall
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "agent"
DEADLINE = 30.0
"""Seconds within which a model must answer; callers wait slightly longer."""

# ---------------------------------------------------------------- providers


class ProvidersRequest(Wire):
    """Asks for the model providers that this company can use. The keys belong to the installation and are never
    shown."""

    company_id: CompanyId


class ModelView(Wire):
    """One model. `aliases`: other names for it; `default`: the provider's own choice; `params`: its size as text,
    e.g. 70B; the window is in tokens."""

    id: str
    aliases: list[str] = Field(default_factory=list[str])
    default: bool = False
    params: str | None = None
    recommended_use: str | None = None
    context_window: int | None = Field(default=None, ge=1)


class ProviderView(Wire):
    """One provider. `label`: its name for people; `configured`: this installation has the key to call it (offline:
    always)."""

    id: str
    label: str | None = None
    configured: bool
    models: list[ModelView]


class ProvidersReply(Wire):
    """The providers, in the order of contracts.providers."""

    providers: list[ProviderView]


# ---------------------------------------------------------------- help for human agents


class SuggestRequest(Wire):
    """Asks for three replies to the newest messages, for a human agent to choose from."""

    company_id: CompanyId
    conversation_id: Id


class SuggestReply(Wire):
    """Three different texts in the conversation's language, written by `model`."""

    suggestions: list[str] = Field(min_length=3, max_length=3)
    model: str


class ImproveRequest(Wire):
    """Asks for a better wording of a draft with the same meaning, facts and figures, suited to the conversation if one
    is given.

    `tone`: in the writer's own words (friendly, formal …); `locale`: e.g. es or en-US, None for the draft's own
    language.
    """

    company_id: CompanyId
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    tone: str | None = Field(default=None, min_length=1, max_length=100)
    locale: str | None = Field(default=None, min_length=1, max_length=35)
    conversation_id: Id | None = None


class ImproveReply(Wire):
    """The improved text, written by `model`."""

    text: str = Field(min_length=1)
    model: str


class SummaryRequest(Wire):
    """Asks for the summary that a person reads who takes the conversation over. `locale`: the person's; None: the
    conversation's."""

    company_id: CompanyId
    conversation_id: Id
    locale: str | None = Field(default=None, min_length=1, max_length=35)


class SummaryReply(Wire):
    """What was asked, tried and found, compiled without a model."""

    summary: list[str] = Field(max_length=MAX_SUMMARY_LINES)


PROVIDERS = Rpc("rpc.agent.providers.v1", ProvidersRequest, ProvidersReply, queue=QUEUE)
# Not safe to repeat: each call costs tokens.
SUGGEST = Rpc("rpc.agent.suggest.v1", SuggestRequest, SuggestReply, queue=QUEUE, safe=False)
IMPROVE = Rpc("rpc.agent.improve.v1", ImproveRequest, ImproveReply, queue=QUEUE, safe=False)

SUMMARY = Rpc("rpc.agent.summary.v1", SummaryRequest, SummaryReply, queue=QUEUE)


class TurnStateRequest(Wire):
    """Asks all agents for a running turn: the conversation's, or only `turnId`. Only the agent that drives it
    answers."""

    company_id: CompanyId
    conversation_id: Id
    turn_id: Id | None = None


class TurnState(Wire):
    """The running turn: the text so far and the sequence of its last delta (-1: none yet). `waiting`: handed calls
    whose results the turn waits for."""

    turn_id: Id
    message_id: Id
    text_so_far: str
    delta_seq: int = Field(ge=-1)
    waiting: list[HandedCall] | None = None


TURN_STATE = Rpc("rpc.agent.turn.state.v1", TurnStateRequest, TurnState, queue=None)
