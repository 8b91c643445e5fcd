"""A user's own keys in Redis, deleted: records of calls, results kept for them alone, what counts against their limits.

Nothing lists a user's keys, so all keys of the executor are looked through, a thousand at a time: deletions are rare.
"""

from typing import cast

from contracts.errors import ErrorCode
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from runtime.errors import RpcError
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.ports import StoreAway

_AT_A_TIME = 1_000


class UserKeys:
    """Answers rpc.tools.user.forget.v1."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def forget(self, asked: UserRef) -> ForgottenReply:
        """Deletes them; raises RpcError UNAVAILABLE."""
        owner = f"{asked.company_id}:{asked.user_id}"
        deleted = 0
        try:
            # The word in the keys of what is kept goes first: what is being computed now is stored under no live key.
            for pattern in (f"tool:*:{owner}", f"tool:*:{owner}:*"):
                deleted += await self._delete(pattern, owner)
        except StoreAway as away:
            raise RpcError(ErrorCode.UNAVAILABLE, f"{away}: try again", retryable=True) from away
        return ForgottenReply(deleted=deleted)

    async def _delete(self, pattern: str, owner: str) -> int:
        cursor, deleted = "0", 0
        while True:
            answer = await self._store.command("SCAN", cursor, "MATCH", pattern, "COUNT", _AT_A_TIME)
            following, found = cast("tuple[bytes | int, list[bytes]]", answer)
            mine = [key for key in found if is_of(key.decode(errors="replace"), owner)]
            if mine:
                deleted += int(await self._store.command("UNLINK", *mine))
            cursor = following.decode() if isinstance(following, bytes) else str(following)
            if cursor == "0":
                return deleted


def is_of(key: str, owner: str) -> bool:
    """Whether the key is the owner's: `tool:<kind>:<owner>…`, or kept for `user:<owner>` alone.

    Companies and users have no colon in them, and what a call's id or a tool's name may hold stands behind the owner.
    """
    parts = key.split(":")
    match parts[:2]:
        case ["tool", "call" | "limit" | "generation" | "action"]:
            return ":".join(parts[2:4]) == owner
        case ["tool", "cache" | "lead"]:
            # tool:cache:<name>:<version>:user:<company>:<user>:<language>:<fingerprint>:<generation>
            return parts[4:5] == ["user"] and ":".join(parts[5:7]) == owner
        case _:
            return False
