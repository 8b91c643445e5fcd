"""The dependencies of turns: their ports, their limits, and how a company's settings become a policy."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import DEFAULT_WINDOW, TokenWindow
from agent.domain.turn.policy import AnswerPolicy
from agent.errors import UnreachableError
from agent.llm.paid_calls import Spending
from agent.ports import (
    AskedSnapshot,
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
)
from agent.record.turn import EndedTurn
from contracts.company import CompanyConfig, CompanySettings
from contracts.conversation import AnswerRules

Record = Callable[[ConversationKey, EndedTurn], None]
"""Writes a turn whose end is in the log into the book of turns, for replays; neither waits nor raises."""


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
    """Seconds: of a turn, of one model call, of one tool call. Tokens: of system prompt and messages, and of a model
    whose window nobody knows. `sees`: a model that nobody lists takes pictures.
    """

    turn: float = 120.0
    model: float = 60.0
    tool: float = 45.0
    window: TokenWindow = DEFAULT_WINDOW
    model_window: int = 128_000
    sees: bool = False


def policy_of(settings: CompanySettings | None) -> AnswerPolicy:
    """Returns the policy of these settings; a company without settings is not answered."""
    if settings is None:
        return AnswerPolicy(enabled=False)
    config, rules = settings.config, AnswerRules.of(settings)
    seconds, rounds = config.response_delay_ms / 1000, config.tool_config.max_iterations
    return AnswerPolicy(rules.enabled, rules.beside_human, seconds, rounds)


def require_settings(settings: CompanySettings | None, key: ConversationKey) -> CompanySettings:
    """The settings, if the company has some; else raises UnreachableError."""
    if settings is None:
        raise UnreachableError(f"the settings of {key.company} are gone")
    return settings


def in_company(seen: AskedSnapshot, company: CompanyConfig) -> AskedSnapshot:
    """Returns the view in a language that the company speaks; at a company without trading no order waits for a yes."""
    language = company.answer_language(seen.requester.language)
    if language != seen.requester.language:
        seen = replace(seen, requester=replace(seen.requester, language=language))
    return seen if company.trades else replace(seen, asked=(), trades=False)
