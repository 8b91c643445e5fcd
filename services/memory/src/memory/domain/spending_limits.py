"""Limits of what is spent, and who has them."""

from dataclasses import dataclass
from typing import Literal

Payer = Literal["company", "visitor"]

PREFIX = "nexus:budget:"
"""What the names of all purses begin with, in Redis."""


@dataclass(frozen=True, slots=True)
class Purse:
    """One limit's account. `name` is its own; `limit` in tokens, None: there is none, it only counts.

    `keep`: seconds after its last use that it must be there, so that late settlements find it.
    """

    payer: Payer
    name: str
    limit: int | None
    keep: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """One call's, and the accounts that it is paid from."""

    company: str
    call: str
    reserved: int
    used: int
    purses: list[Purse]
