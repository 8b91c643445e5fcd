"""A message of several requests, some of them to memory: each is done or told of."""

import json
from typing import Any

import pytest

from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from agent.domain.shortcuts.answers import rule_calls_answer
from agent.domain.shortcuts.memory_words import MemoryWish, memory_requests
from agent.domain.shortcuts.steps import FORGET, READ, REMEMBER, next_step, rule_step
from agent.domain.turn.journal import TurnCall

OFFERED: dict[str, dict[str, Any]] = {"search_memory": {}}


@pytest.mark.parametrize(
    ("text", "wishes", "rest"),
    [
        ("Forget that I smoke. And where do I live?", [("forget", "I smoke")], "where do I live?"),
        ("Where do I live? And forget that I smoke", [("forget", "I smoke")], "Where do I live?"),
        ("Olvida que fumo. ¿Y dónde vivo?", [("forget", "fumo")], "dónde vivo?"),
        ("Forget my address and tell me the price of IBM", [("forget", "my address")], "tell me the price of IBM"),
        ("Olvida mi broker y dime el precio de IBM", [("forget", "mi broker")], "dime el precio de IBM"),
        (
            "Forget my flat and remember that I live in York",
            [("forget", "my flat"), ("remember", "I live in York")],
            "",
        ),
        ("Remember that I am vegan. Also I live in Rome.", [("remember", "I am vegan")], "I live in Rome."),
    ],
)
def test_each_part_is_read_by_itself(text: str, wishes: list[tuple[str, str]], rest: str) -> None:
    found = memory_requests(text)
    assert found is not None
    assert [(wishe.kind, wishe.about) for wishe in found.wishes] == wishes
    assert found.rest == rest


@pytest.mark.parametrize(
    "text",
    [
        "Forget that I smoke",
        "Forget the order. Sell 3 AAPL",
        "Forget everything. What is the price of IBM?",
        "Forget what I told you about where I live and what I do",
        'He said: "Forget that I smoke." And where do I live?',
        "I live in Rome. What is the price of IBM?",
    ],
)
def test_what_is_one_request_or_none_of_memory_is_not_divided(text: str) -> None:
    assert memory_requests(text) is None


def test_each_fact_of_a_request_to_remember_is_a_call() -> None:
    found = rule_step("Recuerda que soy vegano, que vivo en Lima y que no fumo", ())
    assert found is not None
    notes = [json.loads(call.arguments)["note"] for call in found.calls if call.tool == REMEMBER]
    assert notes == ["soy vegano", "vivo en Lima", "no fumo"]


def test_every_wish_of_a_message_is_a_call_of_one_step() -> None:
    found = rule_step("Forget my flat and remember that I live in York", ())
    assert found is not None
    assert [call.tool for call in found.calls] == [FORGET, REMEMBER]


def test_what_is_remembered_is_read_after_something_was_forgotten() -> None:
    text = "Forget that I smoke. What do you remember about me?"
    first = rule_step(text, ())
    assert first is not None
    assert [call.tool for call in first.calls] == [FORGET]
    done = [TurnCall("c1", FORGET, '{"about": "I smoke"}', result='{"success": true, "data": {"forgotten": []}}')]
    second = next_step(text, done)
    assert second is not None
    assert [call.tool for call in second.calls] == [READ]
    assert next_step(text, [*done, TurnCall("c2", READ, "{}", result="{}")]) is None


def test_everything_is_forgotten_beside_a_question_only_where_it_is_said_of_oneself() -> None:
    found = memory_requests("Forget everything you know about me. What is the price of IBM?")
    assert found is not None
    assert found.wishes == (MemoryWish("forget_all"),)


@pytest.mark.parametrize(
    ("forgotten", "told"),
    [(["I smoke"], "Done, I have forgotten: “I smoke”."), ([], "I remember nothing about “I smoke”.")],
)
def test_without_a_model_what_was_done_is_told_before_what_else_was_asked(forgotten: list[str], told: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": FORGET, "arguments": '{"about": "I smoke"}'}}
    done = json.dumps({"forgotten": forgotten, "several": [], "facts": True})
    messages = [
        {"role": "user", "content": "Forget that I smoke. And where do I live?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": done},
    ]
    found = respond(messages, OFFERED, "en", introduced=True, facts=["I live in York"])
    assert isinstance(found, SayText)
    assert found.text.startswith(told)
    assert found.text.endswith("You told me “I live in York”.")


def test_of_several_things_to_forget_the_one_that_is_not_known_is_told_too() -> None:
    calls = [
        TurnCall("c1", FORGET, '{"about": "I smoke"}', result='{"success": true, "data": {"forgotten": ["I smoke"]}}'),
        TurnCall("c2", FORGET, '{"about": "my boat"}', result='{"success": true, "data": {"forgotten": []}}'),
    ]
    told = rule_calls_answer(calls, "en", is_several=True)
    assert told == "Done, I have forgotten: “I smoke”.\nI remember nothing about “my boat”."
