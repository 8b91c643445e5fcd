"""/v1/responses that are not kept (the caller's own tools, forms of the text, store: false), and a whole history."""

import asyncio
import json
from typing import Any, cast

import openai
import pytest
from openai import AsyncOpenAI

from contracts.completion_rpc import CompletionCall, CompletionEnd
from contracts.events.chat import Action, ActionState, Sampling, Usage
from gateway.testing.doors import AnsweringAgent
from gateway.testing.http import Http
from gateway.testing.services import CompletionsStandIn

WEATHER: Any = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}


async def test_unkept_the_callers_own_tools_are_theirs_to_run(
    client: AsyncOpenAI, completions: CompletionsStandIn, http: Http
) -> None:
    completions.texts = []
    call = CompletionCall(id="c1", name="get_weather", arguments='{"city":"Lima"}')
    usage = Usage(prompt_tokens=7, completion_tokens=2)
    completions.end = CompletionEnd(finish_reason="tool_calls", model="scripted", usage=usage, calls=[call])
    asked: Any = {"model": "nexus", "input": "weather?", "tools": [WEATHER], "instructions": "Brief."}
    async with cast("Any", client.responses.stream)(**asked) as stream:
        events = [event.type async for event in stream]
        made = await stream.get_final_response()
    assert "response.function_call_arguments.delta" in events
    (called,) = made.output
    assert called.type == "function_call"
    assert (called.call_id, called.arguments) == ("c1", '{"city":"Lima"}')
    history: list[Any] = [{"role": "user", "content": "weather?"}, called.to_dict()]
    history.append({"type": "function_call_output", "call_id": "c1", "output": "sunny"})
    completions.texts, completions.end = ["Sunny."], CompletionEnd(finish_reason="stop", model="scripted", usage=usage)
    done = await client.responses.create(model="nexus", input=history, tools=[WEATHER])
    assert (done.output_text, done.status, cast("Any", done).store) == ("Sunny.", "completed", False)
    said = completions.asked[-1].messages
    assert [(m.role, m.call_id, len(m.calls)) for m in said] == [
        ("user", None, 0),
        ("assistant", None, 1),
        ("tool", "c1", 0),
    ]
    first = completions.asked[0].messages[0]
    assert (first.role, first.content) == ("system", "Brief.")
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(done.id)


async def test_unkept_a_choice_among_the_callers_tools_offers_no_other(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    tools: list[Any] = [WEATHER, {**WEATHER, "name": "get_time"}]
    choice: Any = {"type": "allowed_tools", "tools": [{"type": "function", "name": "get_time"}]}
    for wanted, mode in (({}, "auto"), ({"mode": "required"}, "required")):
        asking: Any = {**choice, **wanted}
        made = await client.responses.create(model="nexus", input="hi", tools=tools, tool_choice=asking)
        assert made.to_dict()["tool_choice"] == {**choice, "mode": mode}
        asked = completions.asked[-1]
        assert ([tool.name for tool in asked.tools], asked.tool_choice) == (["get_time"], mode)


async def test_a_form_of_the_text_is_checked_and_asked_for_once_more(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form: Any = {"format": {"type": "json_schema", "name": "n", "schema": schema}}
    completions.texts = ["{", '"n": 1}']
    made = await client.responses.create(model="nexus", input="a number", text=form)
    assert json.loads(made.output_text) == {"n": 1}
    completions.texts, completions.asked = ["not that"], []
    with pytest.raises(openai.BadRequestError):
        await client.responses.create(model="nexus", input="a number", text=form)
    assert len(completions.asked) == 2
    assert "That does not fit" in completions.asked[1].messages[-1].content


async def test_nothing_is_fetched_for_a_form_of_the_text(client: AsyncOpenAI) -> None:
    asked: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    async with server:
        inside = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/secret"
        for reference in (inside, "file:///etc/hostname"):
            form: Any = {"format": {"type": "json_schema", "name": "n", "schema": {"$ref": reference}}}
            with pytest.raises(openai.BadRequestError, match="it refers to"):
                await client.responses.create(model="nexus", input="a number", text=form)
    assert asked == []


async def test_store_false_goes_on_behind_what_was_kept_and_keeps_nothing(
    client: AsyncOpenAI, agent: AnsweringAgent, completions: CompletionsStandIn
) -> None:
    first = await client.responses.create(model="nexus", input="I am Ana")
    made = await client.responses.create(
        model="nexus",
        input="who?",
        previous_response_id=first.id,
        store=False,
        top_p=0.5,
        parallel_tool_calls=False,
    )
    assert made.output_text == "One two."
    assert (completions.asked[0].sampling, completions.asked[0].parallel_calls) == (Sampling(top_p=0.5), False)
    assert [(m.role, m.content) for m in completions.asked[0].messages] == [
        ("user", "I am Ana"),
        ("assistant", "One two."),
        ("user", "who?"),
    ]
    assert [text for _, text in agent.received_messages] == ["I am Ana"]


@pytest.mark.parametrize("summary", ["Buy 1 AAPL", "Comprar 1 AAPL a mercado (simulado)"])
async def test_an_answer_in_words_is_heard_though_the_client_sends_the_whole_history(
    client: AsyncOpenAI, agent: AnsweringAgent, summary: str
) -> None:
    """`to_input_list` and the sessions of OpenAI's Agents SDK send all items again, and no `previous_response_id`."""
    agent.actions = [Action(id="a1", kind="paper_order", state=ActionState.PENDING, summary=summary, details={})]
    agents = client.with_options(default_headers={"User-Agent": "Agents/Python 0.24.0"})
    made = await agents.responses.create(model="nexus", input="buy")
    history: Any = [{"role": "user", "content": "buy"}, *(item.to_dict() for item in made.output)]
    yes = await agents.responses.create(model="nexus", input=[*history, {"role": "user", "content": "yes"}])
    assert yes.previous_response_id == made.id
    assert [text for _, text in agent.received_messages] == ["buy", "yes"]
    assert len({conversation for conversation, _ in agent.received_messages}) == 1
