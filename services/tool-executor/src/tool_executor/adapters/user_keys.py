"""Deletes the keys of a user or a company in Redis: records of calls and cached results. Counters of limits expire
within a day by themselves; they stay so that a user cannot reset their limits by deleting their data.

There is no list of a user's keys, so all keys of the executor are scanned, a thousand at a time: deletions are rare.
"""

from collections.abc import Callable, Sequence

from contracts.company_rpc import CompanyRequest
from contracts.errors import ErrorCode
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from runtime.errors import RpcError
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.ports import RedisUnavailableError


class UserKeys:
    """Answers rpc.tools.user.forget.v1 and rpc.tools.company.forget.v1."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def forget(self, asked: UserRef) -> ForgottenReply:
        """Deletes them; raises RpcError UNAVAILABLE."""
        owner = f"{asked.company_id}:{asked.user_id}"
        # The word in the keys of what is kept goes first: what is being computed now is stored under no live key.
        patterns = (f"tool:*:{owner}", f"tool:*:{owner}:*")
        return await self._deleted(patterns, lambda key: is_of(key, owner))

    async def forget_company(self, asked: CompanyRequest) -> ForgottenReply:
        """Deletes a company's keys, what counts against limits too; raises RpcError UNAVAILABLE."""
        company = asked.company_id
        return await self._deleted((f"tool:*:{company}:*",), lambda key: is_of_company(key, company))

    async def _deleted(self, patterns: Sequence[str], mine: Callable[[str], bool]) -> ForgottenReply:
        deleted = 0
        try:
            for pattern in patterns:
                deleted += await self._store.delete(pattern, mine)
        except RedisUnavailableError as away:
            raise RpcError(ErrorCode.UNAVAILABLE, f"{away}: try again", retryable=True) from away
        return ForgottenReply(deleted=deleted)


def is_of(key: str, owner: str) -> bool:
    """Whether the key is the owner's, and to be deleted: `tool:<kind>:<owner>…`, or kept for `user:<owner>` alone.

    Companies and users have no colon in them, and what a call's id or a tool's name may hold stands behind the owner.
    """
    parts = key.split(":")
    match parts[:2]:
        case ["tool", "call" | "generation" | "action"]:
            return ":".join(parts[2:4]) == owner
        case ["tool", "cache" | "lead"]:
            # tool:cache:<name>:<version>:user:<company>:<user>:<language>:<fingerprint>:<generation>
            return parts[4:5] == ["user"] and ":".join(parts[5:7]) == owner
        case _:
            return False


def is_of_company(key: str, company: str) -> bool:
    """Whether the key is of the company: as above, its limits, and pages of its site."""
    parts = key.split(":")
    match parts[:2]:
        case ["tool", "call" | "generation" | "action" | "limit"]:
            return parts[2:3] == [company]
        case ["tool", "cache" | "lead"]:
            return parts[4:5] in (["user"], ["site"]) and parts[5:6] == [company]
        case _:
            return False
