"""Spending limits and their accounts."""

from dataclasses import dataclass
from typing import Literal

Payer = Literal["company", "visitor"]

PREFIX = "nexus:budget:"
"""Prefix of all accounts' names in Redis."""


@dataclass(frozen=True, slots=True)
class BudgetAccount:
    """The account of one limit. `limit` in tokens; None: no limit, usage is only counted.

    `keep`: seconds after its last use that it must exist, so that late settlements find it.
    """

    payer: Payer
    name: str
    limit: int | None
    keep: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """The settlement of one call, and the accounts that pay for it."""

    company: str
    call: str
    reserved: int
    used: int
    accounts: list[BudgetAccount]
