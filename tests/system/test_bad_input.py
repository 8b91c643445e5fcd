"""Bad input at the door: the documented error or close code each, and the service unharmed."""

import asyncio
import json

import pytest

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

CLIENT_ID = "018f7e2a-7c0d-7b5e-8a9b-0c1d2e3f4a5b"


async def closed_after(stack: RunningStack, *frames: str | bytes, token: str = "") -> int | None:
    """The close code after these raw frames on a new socket."""
    async with ChatClient(stack.url, token) as client:
        for frame in frames:
            await client.send_raw(frame)
        return await client.wait_closed()


async def test_a_frame_before_hello_closes_4502(stack: RunningStack) -> None:
    assert await closed_after(stack, json.dumps({"v": 1, "type": "ping"})) == 4502


@pytest.mark.parametrize("token", ["", "nonsense", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."])
async def test_a_bad_token_closes_4500(stack: RunningStack, token: str) -> None:
    assert await closed_after(stack, json.dumps({"v": 1, "type": "hello", "token": token})) == 4500


@pytest.mark.parametrize(
    "frame", [b"\x00\x01", "{not json", "[1,2]", '"text"', "x" * 140_000], ids=lambda f: repr(f[:8])
)
async def test_a_frame_that_is_no_json_text_or_too_big_closes_4501(stack: RunningStack, frame: str | bytes) -> None:
    async with stack.visit() as client:
        await client.send_raw(frame)
        assert await client.wait_closed() == 4501


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "message.send", "clientMessageId": CLIENT_ID, "text": "x" * 9000}, "TEXT_TOO_LONG"),
        ({"type": "message.send", "clientMessageId": CLIENT_ID, "text": ""}, "EMPTY_TEXT"),
        ({"type": "message.send", "clientMessageId": CLIENT_ID, "text": "   \n"}, "EMPTY_TEXT"),
        ({"type": "message.send", "clientMessageId": "not a uuid", "text": "hi"}, "BAD_FIELD"),
        ({"type": "message.send", "clientMessageId": CLIENT_ID, "text": 7}, "BAD_FIELD"),
        ({"type": "message.send", "text": "hi"}, "BAD_FIELD"),
        ({"type": "no.such.type"}, "UNKNOWN_TYPE"),
        ({"v": 1}, "UNKNOWN_TYPE"),
        ({"type": "run.cancel", "turnId": "a.b"}, "BAD_FIELD"),
        ({"type": "receipt", "upToSeq": -1}, "BAD_FIELD"),
        ({"type": "owner.take"}, "FORBIDDEN"),
        ({"type": "conversation.watch", "conversationId": "abc"}, "FORBIDDEN"),
        ({"type": "action.confirm", "actionId": "nothing"}, "NOT_FOUND"),
    ],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value)[:60],
)
async def test_a_bad_frame_gets_its_error_and_the_socket_stays_open(
    visitor: ChatClient, fields: dict[str, object], code: str
) -> None:
    await visitor.send_raw(json.dumps({"v": 1, **fields}))
    error = await visitor.wait_for("error")
    assert error["code"] == code
    assert error["conversationId"] == fields.get("conversationId", visitor.conversation)
    await visitor.send_frame("ping")
    await visitor.wait_for("pong")


@pytest.mark.parametrize("conversation", ["a.b", "a b", "*", ">", "chat.>", "x" * 65, "", "nobody-knows-this-one"])
async def test_a_hello_for_no_conversation_of_mine_is_not_found_and_may_be_tried_again(
    stack: RunningStack, conversation: str
) -> None:
    token, _ = await stack.visitor()
    async with ChatClient(stack.url, token) as client:
        await client.send_frame("hello", token=token, conversationId=conversation)
        error = await client.wait_for("error")
        assert error["code"] in {"NOT_FOUND", "BAD_FIELD"}
        await client.hello()


async def test_a_conversation_of_another_visitor_or_company_is_not_found(
    stack: RunningStack, visitor: ChatClient
) -> None:
    await visitor.ask("what is IBM trading at?")
    stranger, _ = await stack.visitor()
    await stack.create_company("other")
    elsewhere = stack.mint("commercial", "ana", company="other")
    async with ChatClient(stack.url, stranger) as client:
        await client.send_frame("hello", token=stranger, conversationId=visitor.conversation)
        assert (await client.wait_for("error"))["code"] == "NOT_FOUND"
    async with stack.chat(elsewhere) as agent:
        await agent.send_frame("conversation.watch", conversationId=visitor.conversation)
        assert (await agent.wait_for("error"))["code"] == "NOT_FOUND"


async def test_after_all_of_this_the_service_still_answers(stack: RunningStack) -> None:
    async with stack.visit(locale="en") as client:
        async with asyncio.timeout(30):
            assert (await client.ask("what does the Pro plan cost?"))["role"] == "assistant"
