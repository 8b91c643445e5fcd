"""An event in the log that fits no contract: no socket shows it, and none chokes on it."""

import pytest

from gateway.testing.harness import ChatClient, GatewayUnderTest
from gateway.testing.tokens import TokenMaker
from runtime.bus.publisher import Publisher
from runtime.conversation import fact_of

pytestmark = pytest.mark.usefixtures("memory")
MISFITS = (
    b"",
    b"[1]",
    b'{"data":{"messageId":"m","text":"no envelope"}}',
    b'{"id":"x","source":"s","type":"chat.message.visitor.v1","data":{"messageId":"m","clientMessageId":"c","text":7}}',
    b'{"id":"x","source":"s","type":"chat.message.visitor.v1","data":{"text":"\xff"}}',
)


async def test_what_fits_no_contract_is_not_shown_and_the_conversation_goes_on(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url) as client:
        mine = await client.hello(tokens.visitor("v1"))
        subject = f"chat.acme.{mine['conversationId']}.message.visitor.v1"
        for number, body in enumerate(MISFITS):
            assert fact_of(subject, number, body, genuine=True) is None
            stored = Publisher(gateway.client)
            await stored.append(subject, body, stream="CHAT", msg_id=f"misfit-{number}")
        said = await client.say("hello")
        await client.fact(said["seq"])
        assert [frame["message"]["text"] for frame in client.seen if frame["type"] == "message.created"] == ["hello"]
    async with ChatClient(gateway.url) as client:
        again = await client.hello(tokens.visitor("v1"), conversationId=mine["conversationId"])
        assert again["seq"] == said["seq"]
