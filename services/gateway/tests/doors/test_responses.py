"""/v1/responses with OpenAI's own client, kept over a real log."""

import asyncio
import json
from typing import Any, cast

import openai
import pytest
from nats.aio.client import Client
from openai import AsyncOpenAI
from openai.types.responses import Response

from contracts import market_rpc
from contracts.channels import ChatKind, LiveTurnKind
from contracts.events.chat import (
    Action,
    ActionState,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
)
from gateway.testing.doors import REQUIRED_OF_A_RESPONSE, AnsweringAgent, no_answer
from gateway.testing.harness import AgentStandIn, GatewayUnderTest, MemoryStandIn
from gateway.testing.openai import openai_client
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually


async def _ended(client: AsyncOpenAI, name: str) -> Response:
    """The response when it has ended, polled as clients poll one in the background."""

    async def ended() -> Response | None:
        found = await client.responses.retrieve(name)
        return found if found.status != "in_progress" else None

    found = await eventually(ended)
    assert found is not None
    return found


async def test_an_answer_whole_and_again_later(client: AsyncOpenAI, agent: AnsweringAgent) -> None:
    made = await client.responses.create(
        model="nexus",
        input="hello",
        instructions="Rhyme.",
        temperature=0.5,
        top_p=0.5,
        parallel_tool_calls=False,
        truncation="auto",
        extra_body={"presence_penalty": 0.1},
    )
    assert (made.status, made.output_text) == ("completed", "One two.")
    assert made.usage is not None
    assert (made.usage.input_tokens, made.usage.total_tokens) == (7, 9)
    assert [item.type for item in made.output] == ["mcp_call", "message"]
    assert agent.wishes == [
        {
            "instructions": "Rhyme.",
            "temperature": 0.5,
            "sampling": {"top_p": 0.5, "presence_penalty": 0.1},
            "parallelCalls": False,
        }
    ]
    assert (made.top_p, made.parallel_tool_calls, made.truncation) == (0.5, False, "auto")
    later = await client.responses.retrieve(made.id)
    assert later.to_dict().keys() >= REQUIRED_OF_A_RESPONSE
    assert (later.id, later.status, later.output_text) == (made.id, "completed", "One two.")
    assert (later.output[0].id, later.created_at) == (made.output[1].id, made.created_at)
    then = await client.responses.create(model="nexus", input="and now?", previous_response_id=made.id)
    assert then.previous_response_id == made.id
    assert [text for _, text in agent.received_messages] == ["hello", "and now?"]
    assert len({conversation for conversation, _ in agent.received_messages}) == 1


async def test_an_answer_as_it_comes(client: AsyncOpenAI, agent: AnsweringAgent) -> None:
    async with client.responses.stream(model="nexus", input="hello") as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "One two."
    assert kinds.count("response.output_text.delta") == 2
    assert {"response.mcp_call.in_progress", "response.mcp_call.completed"} <= set(kinds)
    added = [event for event in events if event.type == "response.output_item.added"]
    assert [(event.output_index, event.item.type) for event in added] == [(0, "mcp_call"), (1, "message")]
    assert [item.type for item in final.output] == ["mcp_call", "message"]
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers))
    assert final.output_text == "One two."
    (conversation, _), *_ = agent.received_messages
    assert final.conversation is not None
    assert final.conversation.id == conversation


async def test_every_place_to_resume_from_gives_exactly_the_rest(client: AsyncOpenAI, agent: AnsweringAgent) -> None:
    del agent
    raw = await client.responses.create(model="nexus", input="hello", stream=True)
    told = [event async for event in raw]
    first = cast("Any", told[0]).response
    for cut in range(len(told) - 1):
        stream = await client.responses.retrieve(first.id, stream=True, starting_after=told[cut].sequence_number)
        rest = [event async for event in stream]
        heard: list[Any] = told[: cut + 1] + rest
        text = "".join(event.delta for event in heard if event.type == "response.output_text.delta")
        assert text == "One two.", told[cut].type
        assert rest[-1].type == "response.completed"
        assert rest[-1].response.output_text == "One two."
        answer = [event for event in heard if getattr(event, "item_id", "").startswith("msg_")]
        added = [event for event in heard if event.type == "response.output_item.added"]
        assert [event.type for event in answer].count("response.content_part.added") == 1, told[cut].type
        assert [event.item.type for event in added].count("message") == 1, told[cut].type
        assert {event.output_index for event in answer} == {len(added) - 1}, told[cut].type


@pytest.mark.parametrize("final", ["Fine.", "It is ready, and it waits.", "I look. It is ready."])
async def test_text_before_a_tool_is_put_right_wherever_the_client_resumes(
    client: AsyncOpenAI, agent: AnsweringAgent, final: str
) -> None:
    async def with_a_tool(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del text
        await turn.delta(0, "I look it up.")
        await turn.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Price")
        await turn.live(LiveTurnKind.TOOL_FINISHED, callId="c1", tool="get_price", success=True, durationMs=1)
        await turn.answer(basis, final)

    agent.answering = with_a_tool
    told: list[Any] = [event async for event in await client.responses.create(model="nexus", input="hi", stream=True)]
    assert told[-1].sequence_number < 2**53
    for cut in range(len(told) - 1):
        number = told[cut].sequence_number
        rest: list[Any] = [
            event
            async for event in await client.responses.retrieve(told[0].response.id, stream=True, starting_after=number)
        ]
        texts: dict[int, str] = {}
        items: dict[int, Any] = {}
        for event in told[: cut + 1] + rest:
            if event.type == "response.output_item.added":
                assert event.output_index == len(items), told[cut].type
            if event.type.startswith("response.output_item."):
                items[event.output_index] = event.item
            if event.type == "response.output_text.delta":
                texts[event.output_index] = texts.get(event.output_index, "") + event.delta
        said = [(item.status, texts[index]) for index, item in items.items() if item.type == "message"]
        assert [text for status, text in said if status != "incomplete"] == [final], told[cut].type
        assert said[-1] == ("completed", final), told[cut].type
        assert [event.sequence_number for event in rest] == sorted({event.sequence_number for event in rest})


async def test_a_run_that_begins_again_is_told_without_a_word_twice(client: AsyncOpenAI, agent: AnsweringAgent) -> None:
    async def again(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del text
        await turn.delta(0, "One ")
        await turn.live(LiveTurnKind.RUN_STARTED)
        await turn.delta(0, "One")
        await turn.delta(1, " two.")
        await turn.answer(basis, "One two.")

    async def otherwise(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        del text
        await turn.delta(0, "Perhaps ")
        await turn.live(LiveTurnKind.RUN_STARTED)
        await turn.delta(0, "One")
        await turn.answer(basis, "One two.")

    agent.answering = again
    async with client.responses.stream(model="nexus", input="hello") as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "One two."
    assert final.output_text == "One two."
    agent.answering = otherwise
    async with client.responses.stream(model="nexus", input="and else?") as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    done = [event for event in events if event.type == "response.output_text.done"]
    assert [event.text for event in done] == ["Perhaps ", "One two."]
    assert final.output_text == "One two."


async def test_the_same_request_twice_is_one_message(
    client: AsyncOpenAI, agent: AnsweringAgent, gateway: GatewayUnderTest
) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await client.responses.create(model="nexus", input="hello", extra_headers=key)
    again = await client.responses.create(model="nexus", input="hello", extra_headers=key)
    assert (again.id, again.output_text) == (first.id, "One two.")
    with pytest.raises(openai.ConflictError, match="another request"):
        await client.responses.create(model="nexus", input="something else", extra_headers=key)
    # Without a key OpenAI's client repeats the body and counts its tries.
    first = await client.responses.create(model="nexus", input="hello 2")
    retry = {"x-stainless-retry-count": "1"}
    again = await client.responses.create(model="nexus", input="hello 2", extra_headers=retry)
    assert again.id == first.id
    other = await client.responses.create(model="nexus", input="hello 2")
    assert other.id != first.id
    # Behind a response the same words are the same message.
    third = await client.responses.create(model="nexus", input="go on", previous_response_id=first.id)
    again = await client.responses.create(model="nexus", input="go on", previous_response_id=first.id)
    assert again.id == third.id
    assert [text for _, text in agent.received_messages] == ["hello", "hello 2", "hello 2", "go on"]


async def test_nobody_reaches_anothers_response(
    client: AsyncOpenAI, agent: AnsweringAgent, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    del agent
    memory.add_company("globex", aiAutoResponseEnabled=True)
    mine = await client.responses.create(model="nexus", input="hello", extra_headers={"Idempotency-Key": "k"})
    refers: Any = {"type": "item_reference", "id": mine.output[0].id}
    keys = [tokens.user("bob", "user"), tokens.user("ana", "user", company="globex")]
    for key in keys:
        async with openai_client(gateway.url, key) as stranger:
            for call in (
                stranger.responses.retrieve(mine.id),
                stranger.responses.retrieve(mine.id, stream=True),
                stranger.responses.cancel(mine.id),
                stranger.responses.delete(mine.id),
                stranger.responses.create(model="nexus", input="hi", previous_response_id=mine.id),
                stranger.responses.create(model="nexus", input="hi", previous_response_id=mine.id, store=False),
                stranger.responses.create(model="nexus", input=[refers, {"role": "user", "content": "hi"}]),
                stranger.responses.retrieve("resp_made-up.1"),
                stranger.responses.retrieve("nothing"),
            ):
                with pytest.raises(openai.NotFoundError, match="there is no such response"):
                    await call
            same = {"Idempotency-Key": "k"}
            theirs = await stranger.responses.create(model="nexus", input="hello", extra_headers=same)
            assert theirs.id != mine.id
    for nothing in ("resp_" + mine.id.removeprefix("resp_").split(".")[0] + ".999", mine.id + ".x"):
        with pytest.raises((openai.NotFoundError, openai.APIStatusError)):
            await client.responses.retrieve(nothing)


async def test_in_the_background_it_is_asked_for_later_and_can_be_stopped(
    client: AsyncOpenAI, agent: AnsweringAgent, memory: MemoryStandIn
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def waiting(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        started.set()
        await go_on.wait()
        await turn.answer(basis, f"to {text}")

    agent.answering = waiting
    made = await client.responses.create(model="nexus", input="one", background=True)
    assert (made.status, made.background) == ("in_progress", True)
    assert (await client.responses.retrieve(made.id)).status == "in_progress"
    go_on.set()
    later = await _ended(client, made.id)
    assert (later.status, later.output_text) == ("completed", "to one")
    go_on.clear()
    made = await client.responses.create(model="nexus", input="two", background=True)
    await memory.stop()
    stopped = await client.responses.cancel(made.id)
    assert stopped.status == "cancelled"
    await memory.start()
    assert (await client.responses.retrieve(made.id)).status == "cancelled"
    assert (await client.responses.cancel(later.id)).status == "completed"


async def test_a_deleted_response_is_gone_for_its_client_and_the_conversation_stays(
    client: AsyncOpenAI, agent: AnsweringAgent
) -> None:
    made = await client.responses.create(model="nexus", input="one")
    then = await client.responses.create(model="nexus", input="two", previous_response_id=made.id)
    told = await client.responses.with_raw_response.delete(made.id)
    assert json.loads(told.http_response.content) == {"id": made.id, "object": "response.deleted", "deleted": True}
    for call in (
        client.responses.retrieve(made.id),
        client.responses.retrieve(made.id, stream=True),
        client.responses.cancel(made.id),
        client.responses.delete(made.id),
        client.responses.delete("resp_made-up.1"),
        client.responses.delete(made.id.rpartition(".")[0] + ".999"),
        client.responses.create(model="nexus", input="three", previous_response_id=made.id),
        client.responses.create(model="nexus", input="three", previous_response_id=made.id, store=False),
    ):
        with pytest.raises(openai.NotFoundError):
            await call
    assert (await client.responses.retrieve(then.id)).output_text == "One two."
    newest = await client.responses.create(model="nexus", input="three", previous_response_id=then.id)
    await client.responses.delete(newest.id)
    with pytest.raises(openai.NotFoundError):
        await client.responses.create(model="nexus", input="four", previous_response_id=newest.id)
    assert [text for _, text in agent.received_messages] == ["one", "two", "three"]
    assert len({conversation for conversation, _ in agent.received_messages}) == 1


async def test_a_response_that_is_deleted_in_mid_answer_is_stopped(
    client: AsyncOpenAI, agent: AnsweringAgent, nats_client: Client
) -> None:
    agent.answering = no_answer
    made = await client.responses.create(model="nexus", input="one", background=True)
    await client.responses.delete(made.id)
    conversation = made.id.removeprefix("resp_").rpartition(".")[0]
    found = await ConversationLog(nats_client).snapshot("acme", conversation)
    assert [kind for kind in (ChatKind.VISITOR, ChatKind.CANCEL) if kind in found.last] == list(found.last)
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(made.id)


async def test_an_order_is_confirmed_by_the_protocols_own_items(
    client: AsyncOpenAI, agent: AnsweringAgent, nats_client: Client
) -> None:
    asked: list[tuple[str, str, str]] = []
    waiting = Action(id="a1", kind="paper_order", state=ActionState.PENDING, summary="Buy 1 AAPL", details={"qty": 1})
    decided = waiting.model_copy(update={"state": ActionState.CONFIRMED})

    async def decide(request: market_rpc.ActionDecideRequest) -> market_rpc.ActionReply:
        asked.append((request.user_id, request.action_id, request.decision))
        return market_rpc.ActionReply(action=decided)

    async def known(_: market_rpc.ActionsRequest) -> market_rpc.ActionsReply:
        return market_rpc.ActionsReply(actions=[decided])

    await RpcServer(nats_client).serve(market_rpc.ACTION_DECIDE, decide)
    await RpcServer(nats_client).serve(market_rpc.ACTIONS_GET, known)
    await nats_client.flush()
    agent.actions = [waiting]
    made = await client.responses.create(model="nexus", input="buy")
    request = next(item for item in made.output if item.type == "mcp_approval_request")
    assert (request.name, json.loads(request.arguments)["summary"]) == ("paper_order", "Buy 1 AAPL")
    answer: Any = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": True}
    done = await client.responses.create(model="nexus", input=[answer], previous_response_id=made.id)
    assert asked == [("ana", "a1", "confirm")]
    assert done.output_text == "Buy 1 AAPL: confirmed"
    again = await client.responses.create(
        model="nexus", input=[answer], previous_response_id=made.id, extra_headers={"Accept-Language": "es"}
    )
    assert again.output_text == "Buy 1 AAPL: confirmada"
    # Also as events, and where the question alone says what it is the answer to.
    alone = await client.responses.create(model="nexus", input=[answer], stream=True)
    events = [one async for one in alone]
    assert cast("Any", events[-1]).response.output_text == done.output_text == "Buy 1 AAPL: confirmed"
    read_on = await client.responses.retrieve(done.id, stream=True, starting_after=events[-2].sequence_number)
    assert [one.type async for one in read_on] == ["response.completed"]
    then = await client.responses.create(model="nexus", input="and?", previous_response_id=done.id)
    assert len({conversation for conversation, _ in agent.received_messages}) == 1
    assert then.status == "completed"


async def test_who_ends_at_an_unannounced_approval_is_asked_in_words(
    client: AsyncOpenAI, agent: AnsweringAgent
) -> None:
    """OpenAI's Agents SDK fails at an `mcp_approval_request` of a server that is not among the run's tools."""
    agent.actions = [Action(id="a1", kind="paper_order", state=ActionState.PENDING, summary="Buy 1 AAPL", details={})]
    agents = client.with_options(default_headers={"User-Agent": "Agents/Python 0.24.0"})
    made = await agents.responses.create(model="nexus", input="buy")
    assert ([item.type for item in made.output], made.output_text) == (
        ["mcp_call", "message"],
        "One two.\n\nBuy 1 AAPL\nDo you confirm?",
    )
    agent.actions = [agent.actions[0].model_copy(update={"summary": "Comprar 1 AAPL a mercado (simulado)"})]
    made = await agents.responses.create(model="nexus", input="compra")
    assert made.output_text.endswith("\n\nComprar 1 AAPL a mercado (simulado)\n¿Lo confirmas?")
    ours: Any = {"type": "mcp", "server_label": "nexus", "server_url": "https://nexus.example"}
    made = await agents.responses.create(model="nexus", input="buy", tools=[ours])
    assert (made.output[-1].type, made.output_text) == ("mcp_approval_request", "One two.")
    assert await client.responses.retrieve(made.id), "it is kept"
    ours["server_label"] = "another"
    with pytest.raises(openai.BadRequestError, match=r"tools\[0\].type"):
        await agents.responses.create(model="nexus", input="buy", tools=[ours])


async def test_a_person_who_takes_over_is_heard_and_no_answer_is_invented(
    client: AsyncOpenAI, agent: AnsweringAgent, nats_client: Client
) -> None:
    first = await client.responses.create(model="nexus", input="hello")
    (conversation, _), *_ = agent.received_messages
    person = AgentStandIn(nats_client, "acme", conversation)
    olga = Owner(kind=OwnerKind.HUMAN, operator_id="olga")
    await person.append(ChatKind.OWNER, OwnerChanged(owner=olga, by="olga"), "take")

    agent.answering = no_answer
    made = await client.responses.create(model="nexus", input="are you there?", previous_response_id=first.id)
    assert (made.status, made.output) == ("incomplete", [])
    assert made.incomplete_details is not None
    assert cast("Any", made.incomplete_details).reason == "handed_off_to_human"
    for name, text in (("p1", "I am Olga."), ("p2", "How can I help?")):
        said = OperatorMessage(message_id=name, client_message_id=name, text=text, operator_id="olga")
        await person.append(ChatKind.OPERATOR, said, name)
    later = await client.responses.retrieve(made.id)
    assert (later.status, later.output_text) == ("completed", "I am Olga.How can I help?")
