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
"""The most tokens of the marks around a message."""
BYTES_PER_TOKEN = 3
"""Of UTF-8 text: English and Spanish have four and more, so that an estimate by this is rarely too low."""
Purpose = Literal["turn", "suggest", "improve"]
Degrading = Literal["text", "handoff"]


@dataclass(frozen=True, slots=True)
class SpendingAccount:
    """Whom a model call is for. `payer`: the visitor or user, or their conversation; None: the company alone."""

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
        """The cost of so many tokens."""
        return (usage.prompt * self.prompt + usage.completion * self.completion) / 1_000_000


Prices = Mapping[tuple[str, str], ModelPrice]
"""The price for each provider and model."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Tokens asked for before a model call. `at`: when it was granted, in seconds since the epoch; `further`: that of
    the call which follows if this one asks for tools."""

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
    """One model call and what it used, by `price` or the price list's. It settles its reservation, if it had one and
    nobody has, and with nothing that of a `further` call that will not be made. `goes_on`: it asks for tools, so the
    same model is likely to be asked again in a moment."""

    account: SpendingAccount
    provider: str
    model: str
    usage: TokenCount
    estimated: bool = False
    reservation: Reservation | None = None
    goes_on: bool = False
    further: Reservation | None = None
    price: ModelPrice | None = None


def estimated_tokens(text_bytes: int, messages: int = 1) -> int:
    """About how many tokens a prompt of so many bytes has, rather too many than too few."""
    return -(-text_bytes // BYTES_PER_TOKEN) + messages * MESSAGE_TOKENS


def prompt_bytes(messages: list[Mapping[str, Any]]) -> int:
    """The bytes of all that the messages say, tool calls included."""
    total = 0
    for message in messages:
        total += len(str(message.get("content") or "").encode())
        for call in message.get("tool_calls") or ():
            total += len(call["function"]["name"]) + len(call["function"]["arguments"].encode())
    return total


def spent_fallback(budget: Budget) -> Degrading:
    """What happens if not even a cheaper model may be called: a fixed text, or handing over to a person."""
    if budget.when_spent == "text" or (budget.when_spent == "cheaper_model" and budget.fallback_text):
        return "text"
    return "handoff"


def spent_text(how: str, budget: Budget, language: Language) -> str:
    """The text that the people in the conversation read; `how` is the journal's detail."""
    if how == "text":
        return budget.fallback_text or TEXTS["budget.spent.text"].in_language(language)
    return TEXTS["budget.spent.handoff"].in_language(language)
