"""The plans of the trading platform, and the caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from contracts.company import TRADING_CATEGORIES


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
    of the messages in the prompt) and `said` (the user's texts, if no conversation stores them) are from unsigned
    fields."""

    company: str
    user: str
    role: str
    plan: Plan = Plan.FREE
    language: str = "es"
    conversation: str | None = None
    prompt: tuple[int, int] | None = None
    said: tuple[str, ...] | None = None

    @property
    def is_visitor(self) -> bool:
        """Visitors get fetch_page and what their company lists; everybody else gets every tool of their plan."""
        return self.role == VISITOR


@dataclass(frozen=True, slots=True)
class CompanyTools:
    """A company's settings about tools (contracts.company.ToolConfig)."""

    fetch_page_enabled: bool = False
    allowed_domains: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    cache_enabled: bool = True
    cache_ttl_seconds: int = 3600
    enabled_tools: frozenset[str] = frozenset()
    trades: bool = True
    """Whether its product is a trading platform; only such companies have the tools for trading."""
    visitors: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Categories of tools switched on or off for visitors, and for everybody else below."""
    customers: Mapping[str, bool] = field(default_factory=dict[str, bool])

    def switched(self, category: str, caller: VerifiedCaller) -> bool | None:
        """Whether the settings give this caller the category's tools; None if they do not say."""
        if category in TRADING_CATEGORIES and not self.trades:
            return False
        return (self.visitors if caller.is_visitor else self.customers).get(category)


Arguments = Mapping[str, Any]
"""A call's arguments as JSON values, by their snake_case names."""
