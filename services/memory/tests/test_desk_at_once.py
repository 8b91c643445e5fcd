"""Human agents who change the same conversation at the same moment, at replicas of their own."""

import asyncio

import pytest

from contracts.conversation_rpc import ConversationRef, ConversationReply
from contracts.desk_rpc import CONVERSATION_UPDATE, NOTES, ConversationUpdate
from contracts.events.desk import MAX_LABELS
from contracts.ids import uuid7
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.errors import RpcError


async def update(on: Replica, conversation: str, by: str, **fields: object) -> ConversationReply:
    request = {"companyId": "acme", "conversationId": conversation, "updateId": uuid7(), "by": by}
    return await on.rpc.call(CONVERSATION_UPDATE, ConversationUpdate.model_validate({**request, **fields}))


async def test_of_two_changes_at_once_each_is_made_with_the_other_in_view(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        for conversation in ("c1", "c2", "c3"):
            await Writer(one.client, "acme", conversation).visitor("hello")
            # Labels of both are kept, what is removed stays removed, and of two who take it one is refused.
            await update(one, conversation, "eva", labels=["old"])
            await asyncio.gather(
                update(one, conversation, "ana", addLabels=["vip"], removeLabels=["old"]),
                update(two, conversation, "ben", addLabels=["billing"]),
                update(one, conversation, "eva", topic="Prices"),
            )
            takers = ("ana", "ben", "eva", "ida")
            taken = await asyncio.gather(
                *(
                    update(on, conversation, who, assignee=who, expectedAssignee="")
                    for on, who in zip((one, two, one, two), takers, strict=True)
                ),
                return_exceptions=True,
            )
            refused = [error for error in taken if isinstance(error, RpcError)]
            assert [error.code for error in refused] == ["CONFLICT"] * 3, taken
            owner = next(who for who, found in zip(takers, taken, strict=True) if not isinstance(found, BaseException))
            assert all(owner in error.message for error in refused)
            reply = await update(two, conversation, "eva", topic="Prices")
            found = reply.conversation
            assert found is not None
            assert (sorted(found.labels or []), found.topic, found.assignee) == (["billing", "vip"], "Prices", owner)
            # The thread tells of what has happened, once each, and of nothing that was refused.
            told = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id=conversation))
            assert [change.assignee for change in told.changes if change.assignee is not None] == [owner]
            assert len(told.changes) == 6

        with pytest.raises(RpcError) as full:
            await update(one, "c1", "ana", addLabels=[str(number) for number in range(MAX_LABELS - 1)])
        assert full.value.code == "BAD_FIELD"
