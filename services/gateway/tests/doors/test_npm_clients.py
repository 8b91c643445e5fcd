"""AG-UI's, A2A's and OpenAI's clients of npm, unchanged, at one gateway. The AI SDK has test_ui.py."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from contracts.events.chat import Action
from contracts.events.market import ActionDecided
from gateway.testing.doors import AnsweringAgent, in_two_pieces
from gateway.testing.harness import AgentStandIn, GatewayUnderTest
from gateway.testing.npm import npm_clients
from gateway.testing.records import RecordsStandIn, tell
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.clock import SystemClock

Json = dict[str, Any]
Ask = Callable[..., Coroutine[Any, Any, Any]]


@pytest.fixture
async def ask(gateway: GatewayUnderTest, tokens: TokenMaker) -> AsyncIterator[Ask]:
    """Asks one of the clients for something; gives what it has come to."""
    async with npm_clients() as clients:

        async def one(client: str, *, token: str | None = None, **params: Any) -> Any:
            return await clients.ask(client, gateway.url, token or tokens.user("ana", "user"), **params)

        yield one


async def orders(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
    order = {"id": "a1", "kind": "paper_order", "state": "pending", "summary": "Buy 1 AAPL"}
    agent.actions = [Action.model_validate(order)] if text == "buy" else []
    await in_two_pieces(agent, turn, basis, text)


@pytest.mark.usefixtures("memory")
async def test_they_stream_resume_confirm_and_are_refused(
    ask: Ask,
    agent: AnsweringAgent,
    records: RecordsStandIn,
    completions: CompletionsStandIn,
) -> None:
    agent.answering = orders
    records.add_action("acme", "ana", "a1")

    async def openai() -> None:
        told = await ask("openai", path="responses", body={"model": "nexus", "input": "hello", "stream": True})
        assert "".join(one["delta"] for one in told if one["type"] == "response.output_text.delta") == agent.text
        last = told[-1]["response"]
        again = await ask("openai", path="responses", body={"model": "nexus", "input": "more", "top_p": 0.5})
        assert (last["status"], again["output_text"], again["top_p"]) == ("completed", agent.text, 0.5)
        wrong = await ask("openai", path="responses", body={"model": "nexus", "input": "hi", "prompt": {"id": "p"}})
        assert (wrong["status"], wrong["name"]) == (400, "Error")
        messages = [{"role": "user", "content": "hello"}]
        told = await ask("openai", path="chat", body={"model": "nexus", "messages": messages, "stream": True})
        said = "".join(one["choices"][0]["delta"].get("content") or "" for one in told if one["choices"])
        assert said == "".join(completions.texts)
        assert (await ask("openai", token="forged", path="chat", body={"model": "nexus", "messages": messages}))[
            "status"
        ] == 401

    async def agui() -> None:
        asked: Json = {"id": "m1", "role": "user", "content": "hello"}
        told: Json = {}
        for _ in range(2):  # the same run again shows the same answer
            told = await ask("agui", threadId="t", messages=[asked])
            assert [one["role"] for one in told["messages"] if one.get("content")][:1] == ["user"]
            assert agent.text in [one.get("content") for one in told["messages"]]
        told = await ask("agui", threadId="t", messages=[*told["messages"], {**asked, "id": "m2", "content": "buy"}])
        (question,) = told["interrupts"]
        resume = [{"interruptId": question["id"], "status": "resolved", "payload": {"approved": True}}]
        await ask("agui", threadId="t", messages=told["messages"], resume=resume)
        assert records.actions["a1"][1].state.value == "confirmed"

    async def a2a() -> None:
        def message(text: str, **fields: str) -> Json:
            return {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": text}], **fields}

        told = await ask("a2a", message=message("hello"))
        pieces = [one["artifactUpdate"]["artifact"]["parts"][0]["text"] for one in told if "artifactUpdate" in one]
        assert ("task" in told[0], "".join(pieces)) == (True, agent.text)
        assert told[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
        context = told[0]["task"]["contextId"]
        records.add_action("acme", "ana", "a1")
        told = await ask("a2a", message=message("buy", contextId=context))
        assert told[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        task = told[0]["task"]["id"]
        following = asyncio.create_task(ask("a2a", task=task))
        (ended,) = await ask("a2a", message=message("Yes.", taskId=task))
        assert ended["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        action = records.actions["a1"][1]
        at = SystemClock().now()
        decided = ActionDecided(company_id="acme", user_id="ana", conversation_id=context, action=action, decided_at=at)
        await tell(records.client, "action.decided.v1", "ana", decided)
        told = await following
        # It may have subscribed when all was over: then it is told so.
        over = "task is TASK_STATE_COMPLETED" in str(told)
        assert over or told[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert "no such task" in str(await ask("a2a", token=None, task=f"{context}-999"))

    await openai()
    await agui()
    await a2a()


@pytest.mark.usefixtures("memory")
async def test_clients_that_keep_their_own_history_name_what_is_kept_by_its_items(
    ask: Ask, agent: AnsweringAgent, records: RecordsStandIn, completions: CompletionsStandIn
) -> None:
    """The AI SDK's provider for OpenAI refers to earlier items, OpenAI's Agents SDK sends them again; neither names the
    previous response."""
    agent.answering = orders
    for stream in (False, True):
        records.add_action("acme", "ana", "a1")
        told = await ask("aisdk", said=["hello", "buy", "more"], stream=stream)
        assert told == [agent.text, agent.text, "Buy 1 AAPL: confirmed", agent.text]
        assert records.actions["a1"][1].state.value == "confirmed"
        kept, agent.received_messages = agent.received_messages, []
        assert [text for _, text in kept] == ["hello", "buy", "more"]
        assert len({conversation for conversation, _ in kept}) == 1

        records.add_action("acme", "ana", "a1")
        told = await ask("agents", said=["buy", "more"], stream=stream)
        # With a whole history it is not kept.
        assert told == ["Buy 1 AAPL: confirmed", "".join(completions.texts)]
        assert records.actions["a1"][1].state.value == "confirmed"
        assert [message.content for message in completions.asked[-1].messages if message.role == "user"] == [
            "buy",
            "more",
        ]
        agent.received_messages = []
