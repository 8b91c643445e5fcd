"""Lists of conversations."""

import pytest

from contracts.events.chat import OwnerKind
from contracts.rpc import CONVERSATIONS, LATEST_CONVERSATION, ConversationsRequest, LatestConversationRequest
from memory.testing import Replica, Servers, Writer, replica
from runtime.errors import RpcError


async def listed(on: Replica, **request: object) -> list[str]:
    found = await on.rpc.call(CONVERSATIONS, ConversationsRequest.model_validate({"companyId": "acme"} | request))
    return [item.id for item in found.items]


async def test_conversations_are_listed_by_state_newest_activity_first(servers: Servers) -> None:
    async with replica(servers) as one:
        writers = {
            name: Writer(one.client, "acme", name) for name in ("quiet", "waiting", "taken", "other", "failed", "cured")
        }
        for writer in writers.values():
            await writer.visitor("hola", user=f"visitor-{writer.conversation}")
        await writers["waiting"].owner(OwnerKind.WAITING)
        await writers["taken"].owner(OwnerKind.HUMAN, "op1")
        await writers["other"].owner(OwnerKind.HUMAN, "op2")
        await writers["failed"].system("DEADLINE", 5)
        await writers["cured"].system("DEADLINE", 6)
        await writers["cured"].assistant("here", 6)
        await Writer(one.client, "rival", "theirs").visitor("hello")
        assert await listed(one) == ["cured", "failed", "other", "taken", "waiting", "quiet"]
        assert await listed(one, state="needs_human") == ["waiting"]
        assert await listed(one, state="stuck") == ["failed"]
        assert await listed(one, state="ai") == ["cured", "quiet"]
        assert await listed(one, state="mine", operatorId="op1") == ["taken"]
        assert await listed(one, userId="visitor-quiet") == ["quiet"]


async def test_pages_follow_each_other_without_gap_or_repeat(servers: Servers) -> None:
    async with replica(servers) as one:
        for number in range(7):
            await Writer(one.client, "acme", f"c{number}").visitor("hola")
        seen: list[str] = []
        cursor: str | None = None
        while True:
            request = ConversationsRequest(company_id="acme", limit=3, cursor=cursor)
            page = await one.rpc.call(CONVERSATIONS, request)
            seen += [item.id for item in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert seen == [f"c{number}" for number in reversed(range(7))]


async def test_a_cursor_of_nobodys_is_refused(servers: Servers) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError) as refused:
            await listed(one, cursor="not a cursor!")
        assert refused.value.code == "BAD_FIELD"


async def test_the_latest_conversation_of_a_visitor_is_the_one_written_to_last(servers: Servers) -> None:
    async with replica(servers) as one:
        request = LatestConversationRequest(company_id="acme", user_id="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id is None
        first, second = Writer(one.client, "acme", "first"), Writer(one.client, "acme", "second")
        await first.visitor("hola", user="v1")
        await second.visitor("hola", user="v1")
        await Writer(one.client, "acme", "third").visitor("hola", user="v2")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id == "second"
        await first.visitor("otra vez", user="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id == "first"
        elsewhere = LatestConversationRequest(company_id="rival", user_id="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, elsewhere)).conversation_id is None
