"""Tool calls that a model wrote into its text instead of asking for them."""

import json

import pytest

from agent.domain.turn.journal import ModelAnswer
from agent.domain.written_calls import with_written_calls
from agent.errors import BadToolCallError

OFFERED = {"look", "get_price"}
WRITTEN = {
    "Hermes and Qwen": '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>',
    "Llama's function": '<function=look>{"at": "x"}</function>',
    "the same, with its bracket forgotten": '<function=look{"at": "x"}</function>',
    "Llama's tag": '<|python_tag|>{"name": "look", "parameters": {"at": "x"}}',
    "Mistral": '[TOOL_CALLS][{"name": "look", "arguments": {"at": "x"}}]',
    "nothing but the object": '{"type": "function", "name": "look", "parameters": {"at": "x"}}',
    "the object in a fence": '```json\n{"name": "look", "arguments": {"at": "x"}}\n```',
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_call_in_the_text_is_a_call(form: str) -> None:
    reply = with_written_calls(ModelAnswer(WRITTEN[form]), OFFERED)
    assert reply.text == ""
    assert [(call.tool, json.loads(call.arguments)) for call in reply.calls] == [("look", {"at": "x"})]


def test_several_calls_and_the_text_before_them() -> None:
    one, two = WRITTEN["Hermes and Qwen"], WRITTEN["Llama's function"].replace("look", "get_price")
    reply = with_written_calls(ModelAnswer(f"Let me see.\n{one}\n{two}"), OFFERED)
    assert (reply.text, [call.tool for call in reply.calls]) == ("Let me see.", ["look", "get_price"])


@pytest.mark.parametrize(
    "text",
    [
        "A whole answer.",
        'Write {"name": "look", "arguments": {}} to look.',
        '{"name": "Ana", "age": 3}',
        '{"name": "other", "arguments": {}}',
        "{not JSON",
        "",
    ],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    reply = ModelAnswer(text)
    assert with_written_calls(reply, OFFERED) is reply


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "look", "arguments": {"at": </tool_call>',
        '<tool_call>{"name": "other", "arguments": {}}</tool_call>',
        "<tool_call>look</tool_call>",
        "<function=look>",
        "<function=>{}",
        '<|python_tag|>["look"]',
        "[TOOL_CALLS]" + "[" * 100_000,
    ],
)
def test_a_call_that_cannot_be_read_is_no_answer_either(text: str) -> None:
    with pytest.raises(BadToolCallError):
        with_written_calls(ModelAnswer(text), OFFERED)


def test_without_tools_a_text_may_be_about_calls_but_not_be_one() -> None:
    about = ModelAnswer(f"Qwen writes {WRITTEN['Hermes and Qwen']}, for example.")
    assert with_written_calls(about, ()) is about
    with pytest.raises(BadToolCallError):
        with_written_calls(ModelAnswer(WRITTEN["Hermes and Qwen"]), ())
