"""Two human agents at one conversation: the second is told of the first."""

import uuid

import pytest
from nats.aio.client import Client

from contracts.streams import CHAT
from gateway.testing.harness import ChatClient, GatewayUnderTest
from gateway.testing.http import Http
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


async def test_over_http_too_a_colleague_who_was_faster_keeps_the_conversation(
    gateway: GatewayUnderTest, http: Http, tokens: TokenMaker
) -> None:
    ana, ben = (tokens.user(name.lower(), "commercial", name=name) for name in ("Ana", "Ben"))
    async with ChatClient(gateway.url) as visitor:
        path = f"/v2/conversations/{(await visitor.hello(tokens.visitor('v1')))['conversationId']}"
        await visitor.say("is anybody there?")
        assert (await http("POST", f"{path}/owner", token=ana, json={"owner": "human", "seenSeq": 0}))[0] == 200
        taken = await visitor.until("owner.changed")
        words = {"clientMessageId": str(uuid.uuid4()), "text": "I am Ben"}
        for place, body in (("owner", {"owner": "human"}), ("messages", words)):
            status, refused, _ = await http("POST", f"{path}/{place}", token=ben, json={**body, "seenSeq": 0})
            assert (status, refused["code"]) == (409, "CONFLICT")
            assert refused["detail"] == "Ana took the conversation a moment ago"
        # Whoever has seen it may write all the same, and so may who says nothing of it.
        for seen in ({"seenSeq": taken["seq"]}, {}):
            sent = words | {"clientMessageId": str(uuid.uuid4())} | seen
            assert (await http("POST", f"{path}/messages", token=ben, json=sent))[0] == 201


async def test_nobody_writes_in_a_conversation_that_has_been_deleted_under_their_eyes(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async with ChatClient(gateway.url) as visitor, ChatClient(gateway.url) as ana:
        conversation = (await visitor.hello(tokens.visitor("v1")))["conversationId"]
        await visitor.say("is anybody there?")
        await ana.hello(tokens.user("ana", "commercial"), conversationId=conversation)
        await nats_client.request(f"$JS.API.STREAM.PURGE.{CHAT.name}", timeout=10)
        words = {"conversationId": conversation, "clientMessageId": str(uuid.uuid4()), "text": "I am Ana"}
        for frame, body in (("owner.take", {"conversationId": conversation}), ("message.send", words)):
            await ana.send(frame, **body)
            assert (await ana.until("error"))["code"] == "NOT_FOUND"
        # The visitor themselves may go on writing.
        await visitor.say("hello again")
        await ana.send("message.send", **words)
        await ana.until("message.ack")
