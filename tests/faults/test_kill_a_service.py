"""kill -9 of any service in mid-turn: every accepted message still has exactly one final answer."""

import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from nexus_cli.drill.log_reader import FINAL, read_log
from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
PRICE = ScriptedReply(tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": "AAPL"})])
SLOW = ScriptedReply(text="AAPL closed at 430.47 on the last day.", first_token_ms=1500)
LONG = 60.0


async def one_final_answer(stack: RunningStack, client: ChatClient, accepted: list[int]) -> None:
    """The log holds exactly one final answer for what was accepted, and the client saw it once."""
    assert client.conversation is not None
    facts = await read_log(stack.facts()["urls"]["nats"], "acme", client.conversation)
    assert [f.seq for f in facts if f.kind == "visitor"] == accepted
    finals = [f for f in facts if f.kind in FINAL]
    assert [f.kind for f in finals] == ["assistant"], finals
    assert finals[0].data["basis"] == accepted[-1]
    assert [m["id"] for m in client.messages("assistant")] == [finals[0].data["messageId"]]


@pytest.mark.parametrize("victim", ["agent", "memory", "tool-executor", "market-adapter"])
async def test_killed_while_the_model_thinks(
    stack: RunningStack, model: ScriptedModel, customer: str, victim: str
) -> None:
    model.say(
        Rule(match=None, replies=[PRICE, SLOW]), default=ScriptedReply(text="AAPL closed at 430.47 on the last day.")
    )
    async with stack.chat(customer, locale="en") as client:
        ack = await client.say("what is AAPL trading at?")
        await eventually(lambda: len(model.asked) == 2, LONG)
        stack.kill(victim)
        answer = await client.answer_after(ack["seq"], LONG)
        assert "430.47" in answer["text"]
        await one_final_answer(stack, client, [ack["seq"]])
    first_steps = [seen for seen in model.asked if not any(m["role"] == "tool" for m in seen["messages"])]
    assert len(first_steps) == 1, "a journalled step was paid twice"


async def test_the_executor_is_killed_with_a_call_on_its_way(
    stack: RunningStack, model: ScriptedModel, customer: str
) -> None:
    calls = PRICE.model_copy(update={"first_token_ms": 1000})
    model.say(Rule(match=None, replies=[calls]), default=ScriptedReply(text="AAPL closed at 430.47."))
    async with stack.chat(customer, locale="en") as client:
        ack = await client.say("what is AAPL trading at?")
        await eventually(lambda: len(model.asked) == 1, LONG)
        dead = stack.kill("tool-executor")
        await client.wait_for("tool.started", deadline=LONG)
        await stack.back("tool-executor", dead)
        finished = await client.wait_for("tool.finished", deadline=LONG)
        assert finished["success"] is True
        await client.answer_after(ack["seq"], LONG)
        await one_final_answer(stack, client, [ack["seq"]])


async def test_the_gateway_is_killed_and_the_client_comes_back(
    stack: RunningStack, model: ScriptedModel, customer: str
) -> None:
    model.say(default=ScriptedReply(text="Here I am again.", first_token_ms=2000))
    async with stack.chat(customer, locale="en") as client:
        ack = await client.say("are you there?")
        await client.wait_for("run.started", deadline=LONG)
        dead = stack.kill("gateway")
        await client.wait_closed()
        await stack.back("gateway", dead)
        await client.resume()
        await client.answer_after(ack["seq"], LONG)
        await one_final_answer(stack, client, [ack["seq"]])


@pytest.mark.parametrize("server", ["nats", "redis", "mongodb"])
async def test_a_server_is_killed_while_the_model_thinks(
    stack: RunningStack, model: ScriptedModel, customer: str, server: str
) -> None:
    model.say(default=ScriptedReply(text="Still here.", first_token_ms=1500))
    async with stack.chat(customer, locale="en") as client:
        ack = await client.say("are you there?")
        await eventually(lambda: len(model.asked) == 1, LONG)
        stack.kill(server)
        await client.answer_after(ack["seq"], LONG)
        await one_final_answer(stack, client, [ack["seq"]])


async def test_a_human_who_takes_over_while_the_model_thinks_is_not_spoken_over(
    stack: RunningStack, model: ScriptedModel, customer: str
) -> None:
    model.say(default=ScriptedReply(text="too late", first_token_ms=3000))
    token = stack.mint("commercial", "ana", "acme")
    async with ChatClient(stack.url, customer) as client, ChatClient(stack.url, token) as ana:
        await client.hello(locale="en")
        await ana.hello()
        await client.say("are you there?")
        await eventually(lambda: len(model.asked) == 1, LONG)
        await ana.send_frame("conversation.watch", conversationId=client.conversation)
        await ana.wait_for("snapshot", lambda f: f["conversationId"] == client.conversation)
        await ana.send_frame("owner.take", conversationId=client.conversation)
        stopped = await client.wait_for("run.cancelled", deadline=LONG)
        assert stopped["reason"] == "taken_over"
        await eventually(lambda: model.asked[0]["cancelled"], LONG)
        await ana.send_frame(
            "message.send",
            conversationId=client.conversation,
            clientMessageId="018f7e2a-7c0d-7b5e-8a9b-0c1d2e3f4a5d",
            text="This is Ana.",
        )
        await client.wait_for("message.created", lambda f: f["message"]["role"] == "operator")
        assert client.conversation is not None
        facts = await read_log(stack.facts()["urls"]["nats"], "acme", client.conversation)
        assert [f.kind for f in facts] == ["visitor", "owner", "operator"]
