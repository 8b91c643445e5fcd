"""The cost of model calls: the estimate before, the price afterwards, and the texts for a spent budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from agent.domain.turn.journal import TokenCount
from agent.texts import TEXTS
from contracts.company import Budget
from contracts.languages import Language
from contracts.memory_rpc import Tier

MESSAGE_TOKENS = 8
"""Upper bound for the tokens of the marks around a message."""
BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 per token. English and Spanish have four or more, so estimates are rarely too low."""
Purpose = Literal["turn", "suggest", "improve"]
Degrading = Literal["text", "handoff"]


@dataclass(frozen=True, slots=True)
class SpendingAccount:
    """The account that a model call is charged to. `payer`: the visitor or user, or their conversation; None: only the
    company."""

    company: str
    conversation: str | None = None
    payer: str | None = None
    user: str | None = None
    turn_id: str | None = None
    purpose: Purpose | None = "turn"
    door: str | None = None


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """A price in `currency` for a million tokens, as of a day."""

    prompt: float
    completion: float
    currency: str
    as_of: date

    def cost(self, usage: TokenCount) -> float:
        """The cost of these tokens."""
        return (usage.prompt * self.prompt + usage.completion * self.completion) / 1_000_000


Prices = Mapping[tuple[str, str], ModelPrice]
"""The price for each provider and model."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Tokens reserved before a model call. `at`: when they were granted, in seconds since the epoch; `further`: the
    reservation of the next call, in case this one requests tools."""

    call: str
    company: str
    payer: str | None
    tokens: int
    seconds: float
    tier: Tier
    at: int
    further: "Reservation | None" = None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The use of one model call, priced by `price` or the price list. It settles its reservation, unless that is
    settled already, and releases that of a `further` call that will not be made. `requested_tools`: it requested tools,
    so the same model is likely to be called again soon."""

    account: SpendingAccount
    provider: str
    model: str
    usage: TokenCount
    estimated: bool = False
    reservation: Reservation | None = None
    requested_tools: bool = False
    further: Reservation | None = None
    price: ModelPrice | None = None


def estimated_tokens(text_bytes: int, messages: int = 1) -> int:
    """Estimates the tokens of a prompt from its bytes, too high rather than too low."""
    return -(-text_bytes // BYTES_PER_TOKEN) + messages * MESSAGE_TOKENS


def prompt_bytes(messages: list[Mapping[str, Any]]) -> int:
    """The bytes of the messages' contents and tool calls."""
    total = 0
    for message in messages:
        total += len(str(message.get("content") or "").encode())
        for call in message.get("tool_calls") or ():
            total += len(call["function"]["name"]) + len(call["function"]["arguments"].encode())
    return total


def spent_fallback(budget: Budget) -> Degrading:
    """What happens if not even a cheaper model may be called: a fixed text, or a hand-over to a person."""
    if budget.when_spent == "text" or (budget.when_spent == "cheaper_model" and budget.fallback_text):
        return "text"
    return "handoff"


def spent_text(fallback: str, budget: Budget, language: Language) -> str:
    """The text that the people in the conversation read; `fallback` is the journal's detail."""
    if fallback == "text":
        return budget.fallback_text or TEXTS["budget.spent.text"].in_language(language)
    return TEXTS["budget.spent.handoff"].in_language(language)
