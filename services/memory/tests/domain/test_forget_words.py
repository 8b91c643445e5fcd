"""Words that ask to forget something teach nothing, least of all that very thing."""

from datetime import UTC, datetime

import pytest

from memory.domain.fact_changes import all_forgotten, remember, with_forgotten_words
from memory.domain.forgotten import is_forgotten
from memory.domain.keys import LogPosition
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.remembered import Remembered, with_patch

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["forget that I do swing trading", "olvida que hago swing", "Please forget AAPL", "what do you remember about me?",
     "¿Qué sabes de mí?", "deja de recordar que prefiero bonos", "Erase the vegan thing", "Borra que soy vegano",
     "I don't want you to know about my ulcer", "No quiero que sepas lo de mi úlcera", "Remove that I am vegan",
     "Wipe my tattoo from your memory"],
)  # fmt: skip
def test_a_request_about_the_memory_is_no_lesson(text: str) -> None:
    after = with_lesson(Remembered(), FinishedTurn("t1", NOW, (text,), frozenset(["AAPL"])))
    assert after.memory == Remembered().memory
    assert not after.symbol_counts


def test_what_else_is_said_is_learned() -> None:
    after = with_lesson(
        Remembered(), FinishedTurn("t1", NOW, ("I moved to swing trading, do not forget it",), frozenset())
    )
    assert after.memory.trading_style == "swing"


def test_what_is_forgotten_leaves_questions_and_what_strategies_are_described_by() -> None:
    said = "I write covered calls on my Kappa account. Is my Kappa account safe?"
    state = with_lesson(Remembered(), FinishedTurn("t1", NOW, (said,), frozenset()))
    assert state.memory.recent_strategies[0].description == said
    words = with_forgotten_words(state, ("Kappa account",), NOW).memory
    assert [(strategy.name, strategy.description) for strategy in words.recent_strategies] == [("covered calls", "")]
    assert words.frequent_questions == []
    taken_out = with_patch(state, {"userNotes": []}, NOW).memory
    assert [strategy.description for strategy in taken_out.recent_strategies] == ["Is my Kappa account safe?"]
    assert taken_out.frequent_questions == state.memory.frequent_questions


def test_after_everything_is_forgotten_none_of_it_is_found_in_what_was_said() -> None:
    state = with_lesson(Remembered(), FinishedTurn("t1", NOW, ("I keep bees in Segovia. I live in Lima",), frozenset()))
    state = with_forgotten_words(state, ("I keep bees in Segovia",), NOW)
    after = all_forgotten(state, LogPosition(1, 7), NOW)
    assert after.memory == Remembered().memory
    assert after.forgotten_up_to == LogPosition(1, 7)
    for said in ("Forget that I keep bees in Segovia", "I live in Lima, you know"):
        assert is_forgotten(said, after.forgotten_facts, NOW)
    assert not is_forgotten("What does the plan cost?", after.forgotten_facts, NOW)


def test_what_newer_notes_displace_is_not_forgotten_since_nobody_asked_for_that() -> None:
    notes, older = [f"my box {n} is blue" for n in range(50)], [f"my crate {n} is red" for n in range(200)]
    full = with_patch(Remembered(), {"userNotes": notes, "olderNotes": older}, NOW)
    patch = {"userNotes": ["my kettle is new", *notes[:49]], "olderNotes": [notes[49], *older[:199]]}
    assert with_patch(full, patch, NOW).forgotten_facts == ()
    edited = with_patch(full, {"olderNotes": [*older[:199], "my kettle is new"]}, NOW)
    assert is_forgotten(older[199], edited.forgotten_facts)
    remembered = remember(full, "my kettle is new", NOW)
    assert remembered.ended == ()
    assert remembered.state.memory.older_notes == [notes[49], *older[:199]]
