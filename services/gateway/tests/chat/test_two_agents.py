"""Two human agents at one conversation: the second is told of the first."""

import uuid

import pytest

from gateway.testing.harness import ChatClient, GatewayUnderTest
from gateway.testing.tokens import TokenMaker

pytestmark = pytest.mark.usefixtures("memory")


async def test_who_has_not_seen_that_a_colleague_took_the_conversation_neither_takes_it_nor_writes_in_it(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with (
        ChatClient(gateway.url) as visitor,
        ChatClient(gateway.url) as ana,
        ChatClient(gateway.url) as ben,
    ):
        mine = await visitor.hello(tokens.visitor("v1"))
        conversation = mine["conversationId"]
        await visitor.say("is anybody there?")
        for agent, name in ((ana, "Ana"), (ben, "Ben")):
            await agent.hello(tokens.user(name.lower(), "commercial", name=name))
        await ana.send("owner.take", conversationId=conversation, seenSeq=0)
        taken = await ana.until("owner.changed")
        await ben.send("owner.take", conversationId=conversation, seenSeq=0)
        assert (await ben.until("error"))["code"] == "CONFLICT"
        words = {"conversationId": conversation, "clientMessageId": str(uuid.uuid4()), "text": "I am Ben"}
        await ben.send("message.send", **words, seenSeq=0)
        refused = await ben.until("error")
        assert (refused["code"], refused["ref"]) == ("CONFLICT", words["clientMessageId"])
        assert refused["message"] == "Ana took the conversation a moment ago"
        # Whoever knows it may say something all the same, and whoever has it always.
        await ben.send("message.send", **words, seenSeq=taken["seq"])
        await ben.until("message.ack")
        await ana.send("message.send", **words | {"clientMessageId": str(uuid.uuid4()), "text": "I am Ana"}, seenSeq=0)
        await ana.until("message.ack")
