"""What the agent answers beside turns: the models that can be chosen, suggested replies, better wording.

Errors, beside those of the runtime: NOT_FOUND (no such company or conversation), FORBIDDEN (the company's settings have
suggestions off), RATE_LIMITED (the company's budget is spent; the message says so), UNAVAILABLE (no model answered).
What a call spends counts against the company's budget and is told in usage.recorded, as a turn's is.
"""

from pydantic import Field

from contracts.envelope import Wire
from contracts.events.chat import MAX_TEXT
from contracts.ids import CompanyId, Id
from contracts.rpc import Method, Rpc

QUEUE = "agent"
DEADLINE = 30.0
"""Seconds within which a model's answer must be back; callers wait this long and a little."""

# ---------------------------------------------------------------- providers


class ProvidersRequest(Wire):
    """Which providers are there, for this company? The keys are the installation's, never shown."""

    company_id: CompanyId


class ModelView(Wire):
    """One model. `aliases`: other names that mean it; `default`: the provider's own choice; `params`: its size in
    words, e.g. 70B; a window in tokens.
    """

    id: str
    aliases: list[str] = Field(default_factory=list[str])
    default: bool = False
    params: str | None = None
    recommended_use: str | None = None
    context_window: int | None = Field(default=None, ge=1)


class ProviderView(Wire):
    """One provider. `label`: its name for people; `configured`: this installation has what it takes to call it
    (offline: always).
    """

    id: str
    label: str | None = None
    configured: bool
    models: list[ModelView]


class ProvidersReply(Wire):
    """In the order of contracts.providers."""

    providers: list[ProviderView]


# ---------------------------------------------------------------- help for human agents


class SuggestRequest(Wire):
    """Three replies for a human agent to choose from, to the newest messages of the conversation."""

    company_id: CompanyId
    conversation_id: Id


class SuggestReply(Wire):
    """Three distinct texts in the conversation's language; `model` wrote them."""

    suggestions: list[str] = Field(min_length=3, max_length=3)
    model: str


class ImproveRequest(Wire):
    """A draft to be written better: the same meaning, facts and figures; with a conversation, fitting to it.

    `tone` in the writer's own words (friendly, formal …); `locale` e.g. es or en-US: None is the draft's own language.
    """

    company_id: CompanyId
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    tone: str | None = Field(default=None, min_length=1, max_length=100)
    locale: str | None = Field(default=None, min_length=1, max_length=35)
    conversation_id: Id | None = None


class ImproveReply(Wire):
    """The text, written better; `model` wrote it."""

    text: str = Field(min_length=1)
    model: str


PROVIDERS = Rpc("rpc.agent.providers.v1", ProvidersRequest, ProvidersReply, queue=QUEUE)
# Not safe: each time costs tokens.
SUGGEST = Rpc("rpc.agent.suggest.v1", SuggestRequest, SuggestReply, queue=QUEUE, safe=False)
IMPROVE = Rpc("rpc.agent.improve.v1", ImproveRequest, ImproveReply, queue=QUEUE, safe=False)

METHODS: tuple[Method, ...] = (PROVIDERS, SUGGEST, IMPROVE)
