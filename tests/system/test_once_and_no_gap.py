"""Sent twice is stored once; cut off is caught up with."""

import uuid

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def test_a_message_sent_twice_is_stored_once_and_answered_once(visitor: ChatClient) -> None:
    identity = str(uuid.uuid4())
    first = await visitor.say("what does the Pro plan cost?", identity)
    again = await visitor.say("what does the Pro plan cost?", identity, retry=True)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert (first["seq"], first["messageId"]) == (again["seq"], again["messageId"])
    await visitor.answer_after(first["seq"])
    await visitor.ask("what is IBM trading at?")
    assert [m["clientMessageId"] for m in visitor.messages("visitor")].count(identity) == 1
    assert len(visitor.messages("assistant")) == 2


async def test_a_client_cut_off_in_mid_answer_resumes_with_no_gap_and_no_double(stack: RunningStack) -> None:
    async with stack.visit(locale="en") as client:
        ack = await client.say("what does the Pro plan cost?")
        await client.wait_for("run.started")
        await client.cut()
        welcome = await client.resume()
        assert welcome["recovered"] is True
        answer = await client.answer_after(ack["seq"])
        seen = [m["id"] for m in client.messages()]
        assert seen == [ack["messageId"], answer["id"]]


async def test_facts_of_the_time_away_come_once_and_in_order(stack: RunningStack) -> None:
    token, _ = await stack.visitor(locale="en")
    async with ChatClient(stack.url, token) as here, ChatClient(stack.url, token) as away:
        await here.hello(locale="en")
        await away.hello(conversationId=here.conversation, locale="en")
        first = await here.ask("what is IBM trading at?")
        await away.wait_for("message.created", lambda f: f["message"]["id"] == first["id"])
        await away.cut()
        for symbol in ("AAPL", "MSFT", "GOOG"):
            await here.ask(f"what is {symbol} trading at?")
        await away.resume()
        last = here.messages()[-1]
        await away.wait_for("message.created", lambda f: f["message"]["id"] == last["id"])
        assert [m["id"] for m in away.messages()] == [m["id"] for m in here.messages()]
        assert [m["seq"] for m in away.messages()] == sorted(m["seq"] for m in away.messages())


async def test_another_epoch_is_answered_with_a_snapshot_and_no_recovery(stack: RunningStack) -> None:
    async with stack.visit(locale="en") as client:
        await client.ask("what is IBM trading at?")
        await client.cut()
        client.epoch, mark = "another", len(client.frames)
        welcome = await client.resume()
        assert welcome["recovered"] is False
        snapshot = await client.wait_for("snapshot", after=mark)
        assert [m["role"] for m in snapshot["messages"]] == ["visitor", "assistant"]
