"""Plain words: a yes, a no, a choice, a request about the memory; and everything that is for the model instead."""

import json

import pytest

from agent.domain.shortcuts.answers import own_answer
from agent.domain.shortcuts.asked import ShownAction, asked_in
from agent.domain.shortcuts.forget import forgetting
from agent.domain.shortcuts.memory_words import memory_wish
from agent.domain.shortcuts.steps import DECIDE, FORGET
from agent.domain.shortcuts.words import about_an_order, decision_in, verdict_in
from agent.domain.turn.journal import TurnCall
from contracts.languages import Language
from contracts.memory_rpc import LongTermMemory

AAPL, MSFT = ShownAction("a", "buy 5 AAPL", "h1", "AAPL"), ShownAction("b", "buy 2 MSFT", "h2", "MSFT")


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes!", "YES", "sí", "si", "Sí, por favor.", "dale", "ok", "OK, dale", "vale", "confirm", "I confirm",
     "confirmo la orden", "go ahead", "do it", "claro que sí", "👍", "yes\nplease", "sí sí", "adelante, gracias"],
)  # fmt: skip
def test_a_plain_yes(text: str) -> None:
    assert decision_in(text) == "confirm"


@pytest.mark.parametrize(
    "text",
    ["no", "No.", "no, thanks", "no gracias", "nope", "cancel", "cancel it", "cancelar", "Cancela la orden", "mejor no",
     "don't", "don't do it", "rechazar", "ok, cancela", "olvídalo", "never mind", "❌"],
)  # fmt: skip
def test_a_plain_no(text: str) -> None:
    assert decision_in(text) == "reject"


@pytest.mark.parametrize(
    "text",
    ["yes, but make it 5", "sí pero a 200", "yes no", "ok?", "sí?", "maybe", "yes if it drops", "sí, y MSFT",
     "no, 10 instead", "", "please", "gracias", "what is AAPL at?", "yes buy 5", "no sé", "ya veremos", "yes " * 40],
)  # fmt: skip
def test_more_than_a_plain_answer_is_for_the_model(text: str) -> None:
    assert decision_in(text) is None
    assert verdict_in(text, [AAPL]) is None


@pytest.mark.parametrize(
    ("text", "decision", "chosen"),
    [
        ("yes", "confirm", ()),
        ("no", "reject", ()),
        ("yes to the first", "confirm", (AAPL,)),
        ("sí a la segunda", "confirm", (MSFT,)),
        ("no a la 2", "reject", (MSFT,)),
        ("yes AAPL", "confirm", (AAPL,)),
        ("sí a la de MSFT", "confirm", (MSFT,)),
        ("confirm number 2", "confirm", (MSFT,)),
        ("yes to all", "confirm", (AAPL, MSFT)),
        ("sí a todas", "confirm", (AAPL, MSFT)),
        ("no to both", "reject", (AAPL, MSFT)),
    ],
)
def test_of_several_a_yes_must_say_which(text: str, decision: str, chosen: tuple[ShownAction, ...]) -> None:
    verdict = verdict_in(text, [AAPL, MSFT])
    assert verdict is not None
    assert (verdict.decision, verdict.chosen) == (decision, chosen)


@pytest.mark.parametrize("text", ["yes TSLA", "yes to 3", "AAPL", "1", "yes to the first but cheaper"])
def test_a_choice_that_is_none_is_for_the_model(text: str) -> None:
    assert verdict_in(text, [AAPL, MSFT]) is None


def test_without_a_question_before_it_a_yes_decides_nothing() -> None:
    assert verdict_in("yes", []) is None
    assert about_an_order("yes") is None
    assert about_an_order("confirma la orden") == "confirm"


def test_what_was_asked_is_read_from_the_message_whatever_else_is_in_it() -> None:
    action = {"id": "a", "kind": "paper_order", "state": "pending", "summary": "s", "details": {"contentHash": "h"}}
    message = {"actions": [action, {**action, "id": "b", "state": "confirmed"}, 7, {"state": "pending"}]}
    assert asked_in(message) == (ShownAction("a", "s", "h"),)
    assert asked_in({"actions": "x"}) == asked_in({}) == ()


@pytest.mark.parametrize(
    ("text", "kind", "about"),
    [
        ("what do you remember about me?", "read", ""),
        ("¿Qué sabes de mí?", "read", ""),
        ("dime qué recuerdas", "read", ""),
        ("Forget that I prefer dividend stocks.", "forget", "I prefer dividend stocks"),
        ("olvida que me gustan los dividendos", "forget", "me gustan los dividendos"),
        ("please forget AAPL", "forget", "AAPL"),
        ("ya no recuerdes mi estilo", "forget", "mi estilo"),
        ("forget everything you know about me", "forget_all", ""),
        ("Olvida todo lo que sabes de mí", "forget_all", ""),
        ("Forget everything!", "forget_all", ""),
        ("por favor, olvida todo", "forget_all", ""),
        ("Olvídate de todo.", "forget_all", ""),
        ("remember that I have two kids", "remember", "I have two kids"),
        ("Recuerda que mi meta es una casa", "remember", "mi meta es una casa"),
        ("anota: comprar en abril", "remember", "comprar en abril"),
    ],
)
def test_requests_about_the_memory(text: str, kind: str, about: str) -> None:
    wish = memory_wish(text)
    assert wish is not None
    assert (wish.kind, wish.about) == (kind, about)


@pytest.mark.parametrize(
    "text",
    ["forget it", "olvídalo", "delete everything", "borra todo", "Forget AAPL, let us look at MSFT", "what about AAPL?",
     "I remember that day", "do you remember that AAPL fell?", "remember when AAPL fell", "Forget AAPL. Buy IBM.", ""],
)  # fmt: skip
def test_other_words_are_for_the_model(text: str) -> None:
    assert memory_wish(text) is None


def test_forgetting_takes_out_what_is_meant_and_nothing_else() -> None:
    memory = LongTermMemory(
        favorite_symbols=["AAPL", "IBM"],
        trading_style="swing",
        user_notes=["my goal is a house", "my broker is Acme"],
        preferences=["I prefer dividend stocks", "I like short answers"],
        risk_profile="moderate",
    )
    assert forgetting(memory, "I prefer dividend stocks").patch == {"preferences": ["I like short answers"]}
    assert forgetting(memory, "AAPL").patch == {"favoriteSymbols": ["IBM"]}
    assert forgetting(memory, "my goal of a house").patch == {"userNotes": ["my broker is Acme"]}
    assert forgetting(memory, "my trading style").patch == {"tradingStyle": None}
    assert forgetting(memory, "que hago swing").patch == {"tradingStyle": None}
    assert forgetting(memory, "mi perfil de riesgo").patch == {"riskProfile": None}
    assert forgetting(memory, "my notes").patch == {"userNotes": None}
    assert forgetting(memory, "bananas").patch == {}
    assert forgetting(memory, "I prefer dividend stocks").texts == ("I prefer dividend stocks",)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "Done, I have forgotten: “long term”, “my bicycle”."),
        ("es", "Hecho, lo he olvidado: «largo plazo», «my bicycle»."),
    ],
)
def test_what_was_forgotten_is_told_in_words_not_in_codes(language: Language, told: str) -> None:
    result = '{"success": true, "data": {"forgotten": ["long_term", "my bicycle"]}}'
    assert own_answer([TurnCall("c", FORGET, "{}", result=result)], language) == told


@pytest.mark.parametrize(("code", "said"), [("UNAVAILABLE", "still waits"), ("TIMEOUT", "do not know yet"),
                                            ("INTERNAL", "do not know yet")])  # fmt: skip
def test_a_yes_that_nobody_answered_is_not_said_to_have_done_nothing(code: str, said: str) -> None:
    result = json.dumps({"success": False, "error": {"code": code, "message": "-"}})
    told = own_answer([TurnCall("a", DECIDE, '{"decision":"confirm"}', "", result)], "en")
    assert told is not None
    assert said in told
