"""What a newcomer sees in the first minute."""

import asyncio
import uuid

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def test_the_price_of_a_plan_is_read_from_the_site_and_cited(visitor: ChatClient, stack: RunningStack) -> None:
    answer = await visitor.ask("What does the Pro plan cost?")
    assert answer["role"] == "assistant"
    assert "29" in answer["text"]
    assert [c["url"].partition("#")[0] for c in answer["citations"]] == [f"{stack.url}/pricing"]
    # The page is read in the turn only as long as the site has not been taken in.
    assert {f["tool"] for f in visitor.of_type("tool.started")} <= {"fetch_page"}
    assert all(f["success"] for f in visitor.of_type("tool.finished"))


async def test_the_answer_streams_before_it_is_final(visitor: ChatClient) -> None:
    answer = await visitor.ask("What does the Pro plan cost?")
    deltas = [f for f in visitor.of_type("message.delta") if f["messageId"] == answer["id"]]
    assert [f["deltaSeq"] for f in deltas] == list(range(len(deltas)))
    assert "".join(f["delta"] for f in deltas) == answer["text"]
    await visitor.wait_for("run.finished")
    kinds = [f["type"] for f in visitor.frames]
    assert kinds.index("run.started") < kinds.index("message.delta") < kinds.index("run.finished")


async def test_a_price_comes_with_its_date_and_source(visitor: ChatClient) -> None:
    answer = await visitor.ask("what is AAPL trading at?")
    assert answer["role"] == "assistant"
    assert "AAPL" in answer["text"]
    assert "sample" in answer["text"]
    assert any(year in answer["text"] for year in ("2012", "2013"))


async def test_a_question_in_spanish_gets_a_spanish_answer(stack: RunningStack) -> None:
    async with stack.visit(locale="es") as client:
        answer = await client.ask("¿Cuánto cuesta el plan Pro?")
        assert "29" in answer["text"]
        assert any(word in answer["text"].lower() for word in ("plan", "mes", "cuesta"))


async def test_a_burst_of_five_messages_gets_one_answer(visitor: ChatClient) -> None:
    lines = ["hello", "I have a question", "about your plans", "the Pro one", "what does the Pro plan cost?"]
    identities = [str(uuid.uuid4()) for _ in lines]
    # In one go: what comes a second later is no burst.
    for identity, line in zip(identities, lines, strict=True):
        await visitor.send_frame("message.send", clientMessageId=identity, text=line)
    acks = [
        await visitor.wait_for("message.ack", lambda f, one=identity: f["clientMessageId"] == one)
        for identity in identities
    ]
    answer = await visitor.answer_after(acks[-1]["seq"])
    assert "29" in answer["text"]
    later = await visitor.ask("what is AAPL trading at?")
    between = [m for m in visitor.messages("assistant") if acks[0]["seq"] < m["seq"] < later["seq"]]
    assert [m["id"] for m in between] == [answer["id"]]


async def test_every_socket_of_a_conversation_sees_the_same_log(stack: RunningStack) -> None:
    token, _ = await stack.visitor(locale="en")
    async with ChatClient(stack.url, token) as one, ChatClient(stack.url, token) as other:
        await one.hello(locale="en")
        await other.hello(conversationId=one.conversation, locale="en")
        answer = await one.ask("what is MSFT trading at?")
        await other.wait_for("message.created", lambda f: f["message"]["id"] == answer["id"])
        await asyncio.wait_for(one.wait_for("run.finished"), 40)
        assert [m["id"] for m in one.messages()] == [m["id"] for m in other.messages()]


async def test_a_conversation_is_there_again_after_a_reload(stack: RunningStack) -> None:
    token, _ = await stack.visitor(locale="en")
    async with stack.chat(token, locale="en") as client:
        answer = await client.ask("what does the Pro plan cost?")
    async with ChatClient(stack.url, token) as reloaded:
        welcome = await reloaded.hello(conversationId=client.conversation)
        assert welcome["recovered"] is True
        snapshot = await reloaded.wait_for("snapshot")
        assert [m["role"] for m in snapshot["messages"]] == ["visitor", "assistant"]
        assert snapshot["messages"][-1]["text"] == answer["text"]
