"""The dependencies of turns: their ports, their limits, and how a company's settings become a policy."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import DEFAULT_WINDOW, TokenWindow
from agent.domain.turn.policy import AnswerPolicy
from agent.errors import UnreachableError
from agent.llm.paid_calls import Spending
from agent.ports import (
    BusClock,
    Catalogue,
    ChatLog,
    Companies,
    Contexts,
    ConversationKey,
    Drivers,
    Failures,
    FileReader,
    Histories,
    Journals,
    KnowledgeReader,
    Live,
    Models,
    OwnCalls,
    Proposals,
    Summaries,
    ToolCalls,
    TurnSnapshot,
)
from agent.record.turn import EndedTurn
from contracts.company import CompanyConfig, CompanySettings
from contracts.conversation import AnswerRules

Record = Callable[[ConversationKey, EndedTurn], None]
"""Stores a turn whose end is in the log, for replays; neither waits nor raises."""


@dataclass(frozen=True)
class Ports:
    """The outside services that turns use."""

    chat: ChatLog
    journals: Journals
    histories: Histories
    companies: Companies
    catalogue: Catalogue
    tools: ToolCalls
    drivers: Drivers
    live: Live
    failures: Failures
    models: Models
    clock: BusClock
    spending: Spending
    record: Record
    contexts: Contexts
    knowledge: KnowledgeReader
    files: FileReader
    encoders: Encodings
    own: OwnCalls
    summaries: Summaries
    proposals: Proposals


@dataclass(frozen=True)
class Limits:
    """Limits of a turn. In seconds: `turn`, one `model` call, one `tool` call. In tokens: `window` for system prompt
    and messages, `model_window` for a model that is not listed. `sees`: whether an unlisted model takes pictures."""

    turn: float = 120.0
    model: float = 60.0
    tool: float = 45.0
    window: TokenWindow = DEFAULT_WINDOW
    model_window: int = 128_000
    sees: bool = False


def policy_of(settings: CompanySettings | None) -> AnswerPolicy:
    """Returns the policy of these settings; None (an unknown company) gives a policy that answers nothing."""
    if settings is None:
        return AnswerPolicy(enabled=False)
    config, rules = settings.config, AnswerRules.of(settings)
    delay, max_rounds = config.response_delay_ms / 1000, config.tool_config.max_iterations
    return AnswerPolicy(rules.enabled, rules.beside_human, delay, max_rounds)


def require_settings(settings: CompanySettings | None, key: ConversationKey) -> CompanySettings:
    """Returns the settings; raises UnreachableError if they are None."""
    if settings is None:
        raise UnreachableError(f"the settings of {key.company} are gone")
    return settings


def for_company(snapshot: TurnSnapshot, company: CompanyConfig) -> TurnSnapshot:
    """Returns the snapshot with a language that the company speaks, and without pending orders if the company has no
    trading."""
    language = company.answer_language(snapshot.requester.language)
    if language != snapshot.requester.language:
        snapshot = replace(snapshot, requester=replace(snapshot.requester, language=language))
    return snapshot if company.trades else replace(snapshot, asked=(), trades=False)
