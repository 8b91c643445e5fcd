"""What people think of an answer."""

import orjson
import pytest
from nats.aio.client import Client
from nats.errors import TimeoutError as NatsTimeoutError

from contracts.events.fact import FeedbackGiven
from gateway.testing.harness import ChatClient, GatewayUnderTest
from gateway.testing.tokens import TokenMaker
from runtime.conversation import ConversationLog

pytestmark = pytest.mark.usefixtures("memory")


async def test_feedback_is_a_fact_of_its_user_outside_the_conversation(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    given = await nats_client.subscribe("feedback.given.v1.acme.v1")  # pyright: ignore[reportUnknownMemberType]
    await nats_client.flush()
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        ack = await visitor.say("hello")
        await visitor.send("feedback", messageId=ack["messageId"], rating="down", reason="wrong price")
        message = await given.next_msg(timeout=20)
    data = FeedbackGiven.model_validate(orjson.loads(message.data)["data"])
    assert (data.conversation_id, data.message_id, data.rating) == (visitor.conversation, ack["messageId"], "down")
    assert (data.user_id, data.reason) == ("v1", "wrong price")
    assert (await ConversationLog(nats_client).snapshot("acme", visitor.conversation)).seq == ack["seq"]


async def test_feedback_on_a_message_that_does_not_exist_is_not_found(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    given = await nats_client.subscribe("feedback.given.>")  # pyright: ignore[reportUnknownMemberType]
    await nats_client.flush()
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor, ChatClient(gateway.url) as other:
        await visitor.say("hello")
        await other.hello(tokens.visitor("v2"))
        theirs = (await other.say("hello"))["messageId"]
        for message in ("m1", theirs):
            await visitor.send("feedback", messageId=message, rating="up")
            error = await visitor.until("error")
            assert (error["code"], error["ref"]) == ("NOT_FOUND", message)
    with pytest.raises(NatsTimeoutError):
        await given.next_msg(timeout=0.05)


async def test_feedback_cannot_be_given_for_a_conversation_that_is_not_open(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    given = await nats_client.subscribe("feedback.given.>")  # pyright: ignore[reportUnknownMemberType]
    await nats_client.flush()
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        await visitor.send("feedback", conversationId="another", messageId="m1", rating="up")
        assert (await visitor.until("error"))["code"] == "NOT_FOUND"
    with pytest.raises(NatsTimeoutError):
        await given.next_msg(timeout=0.05)
