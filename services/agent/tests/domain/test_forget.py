"""What of a memory a user's words are about."""

import pytest

from agent.domain.shortcuts.forget import forgetting
from agent.domain.shortcuts.memory_words import MemoryWish, memory_wish
from contracts.memory_rpc import LongTermMemory

NOTES = ["no quiero arriesgar más del 1% por operación", "vivo en Lima"]


@pytest.mark.parametrize(
    ("about", "gone"),
    [("lo del riesgo", NOTES[:1]), ("que vivo en Lima", NOTES[1:]), ("lo de Quito", [])],
)
def test_a_word_inside_another_is_meant_too(about: str, gone: list[str]) -> None:
    assert list(forgetting(LongTermMemory(user_notes=NOTES), about).texts) == gone


def test_who_wants_to_be_told_what_they_said_has_nothing_noted() -> None:
    assert memory_wish("Recuérdame qué te dije que prefería") is None
    assert memory_wish("recuerdame que te dije de mi riesgo") is None
    assert memory_wish("Recuerda que prefiero ETF") == MemoryWish("remember", "prefiero ETF")


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("Forget my allergy", "I'm allergic to shellfish"),
        ("Olvida mi alergia", "Soy alérgico al marisco"),
        ("Forget where I work", "I work as a locksmith"),
        ("Stop remembering where I bank", "I bank with Citi"),
        ("Please forget my wife's name", "My wife is called Joan"),
        ("don't remember my epilepsy any more", "I was diagnosed with epilepsy"),
        ("Forget my salary, please", "My salary is 70k"),
        ("Forget my phone number", "My phone is 555-0182"),
    ],
)
def test_a_fact_is_meant_by_its_one_telling_word_in_any_form(said: str, gone: str) -> None:
    wish = memory_wish(said)
    assert wish is not None
    kept = ["I have two cats", "Odio las acciones de centavo"]
    assert forgetting(LongTermMemory(user_notes=[*kept, gone]), wish.about).texts == (gone,)


def test_of_two_facts_that_may_be_meant_none_is_forgotten() -> None:
    notes = ["My wife is called Joan", "My wife is a nurse"]
    assert forgetting(LongTermMemory(user_notes=notes), "my wife's name").texts == ()
    assert forgetting(LongTermMemory(user_notes=["I trade options"]), "that trade").texts == ()
    assert memory_wish("Forget AAPL, let us look at MSFT") is None
