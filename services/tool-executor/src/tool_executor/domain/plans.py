"""The plans of the trading platform, and the caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, cast

from contracts.company import TRADING_CATEGORIES, ToolConfig


class Plan(IntEnum):
    """The plans, in order: a plan has every tool of the plans below it."""

    FREE = 0
    PRO = 1
    PREMIUM = 2

    @property
    def word(self) -> str:
        """The plan's name in tokens, declarations and errors: free, pro, premium."""
        return self.name.lower()


_BY_WORD = {plan.word: plan for plan in Plan}


def plan_named(word: str) -> Plan | None:
    """Returns the plan of a declaration; None if there is no such plan."""
    return _BY_WORD.get(word)


def plan_of(word: str | None) -> Plan:
    """Returns the plan of a caller; an unknown or missing one counts as free."""
    return _BY_WORD.get((word or "").lower(), Plan.FREE)


VISITOR = "visitor"


@dataclass(frozen=True, slots=True)
class VerifiedCaller:
    """The caller, from a verified principal. Nothing in it comes from the model. Only `prompt` (first and last sequence
    of the messages in the prompt) and `user_texts` (the user's texts, if no conversation stores them) are from unsigned
    fields."""

    company: str
    user: str
    role: str
    plan: Plan = Plan.FREE
    language: str = "es"
    conversation: str | None = None
    prompt: tuple[int, int] | None = None
    user_texts: tuple[str, ...] | None = None

    @property
    def is_visitor(self) -> bool:
        """Visitors get fetch_page and what their company lists; everybody else gets every tool of their plan."""
        return self.role == VISITOR

    @property
    def effective_plan(self) -> Plan:
        """The plan whose tools the caller may call; a visitor's is free."""
        return Plan.FREE if self.is_visitor else self.plan


@dataclass(frozen=True, slots=True)
class CompanyTools:
    """A company's settings about tools. `trades`: whether its product is a trading platform; only such companies have
    the tools for trading."""

    config: ToolConfig = field(default_factory=ToolConfig)
    trades: bool = True

    def switched(self, category: str, caller: VerifiedCaller) -> bool | None:
        """Whether the settings give this caller the category's tools; None if they do not say."""
        if category in TRADING_CATEGORIES and not self.trades:
            return False
        categories = self.config.categories
        switches = categories.visitors if caller.is_visitor else categories.customers
        return cast("Mapping[str, bool]", switches).get(category)


Arguments = Mapping[str, Any]
"""A call's arguments as JSON values, by their snake_case names."""
