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
