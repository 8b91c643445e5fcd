"""Deletes the keys of a user or a company in Redis: records of calls and cached results. Counters of limits expire
within a day by themselves; they stay so that a user cannot reset their limits by deleting their data.

There is no list of a user's keys, so all keys of the executor are scanned, a thousand at a time: deletions are rare.
"""

from collections.abc import Callable, Sequence

from contracts.company_rpc import CompanyRequest
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from tool_executor.adapters.redis_store import RedisStore, unavailable_errors


class UserKeys:
    """Answers rpc.tools.user.forget.v1 and rpc.tools.company.forget.v1."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def forget(self, user_ref: UserRef) -> ForgottenReply:
        """Deletes a user's keys; raises RpcError (UNAVAILABLE)."""
        owner = f"{user_ref.company_id}:{user_ref.user_id}"
        # The generation is deleted first, so that results being computed now are stored under a dead key.
        patterns = (f"tool:*:{owner}", f"tool:*:{owner}:*")
        return await self._delete(patterns, lambda key: is_key_of_user(key, owner))

    async def forget_company(self, request: CompanyRequest) -> ForgottenReply:
        """Deletes a company's keys, including the counters of limits; raises RpcError (UNAVAILABLE)."""
        company = request.company_id
        return await self._delete((f"tool:*:{company}:*",), lambda key: is_key_of_company(key, company))

    async def _delete(self, patterns: Sequence[str], is_to_delete: Callable[[str], bool]) -> ForgottenReply:
        deleted = 0
        with unavailable_errors():
            for pattern in patterns:
                deleted += await self._store.delete(pattern, is_to_delete)
        return ForgottenReply(deleted=deleted)


def is_key_of_user(key: str, owner: str) -> bool:
    """Whether the key belongs to the owner and is to be deleted: `tool:<kind>:<owner>…`, or scoped to `user:<owner>`.

    Names of companies and users contain no colon; ids of calls and names of tools come after the owner.
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


def is_key_of_company(key: str, company: str) -> bool:
    """Whether the key belongs to the company: as above, or its limits, or pages of its site."""
    parts = key.split(":")
    match parts[:2]:
        case ["tool", "call" | "generation" | "action" | "limit"]:
            return parts[2:3] == [company]
        case ["tool", "cache" | "lead"]:
            return parts[4:5] in (["user"], ["site"]) and parts[5:6] == [company]
        case _:
            return False
