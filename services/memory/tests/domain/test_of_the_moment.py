"""What a trader says in passing, or gives a calculator to work with, is nothing to remember of them."""

from datetime import UTC, datetime

import pytest

from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.remembered import Remembered, current_facts


def remembered(text: str) -> list[str]:
    turn = FinishedTurn("t1", datetime(2026, 3, 2, tzinfo=UTC), (text,), frozenset())
    return current_facts(with_lesson(Remembered(), turn).memory)


@pytest.mark.parametrize(
    "text",
    [
        "I meant FB",
        "we saw that Google fell",
        "I expected more of IBM",
        "my stops are too wide",
        "mi alerta no sonó",
        "mi límite es de 31",
        "I own 20 shares of GOOG, right?",
        "tengo 8 IBM, ¿no?",
        "we made money today",
        "I'm down 3% on Facebook",
        "voy ganando con Apple",
        "hoy hemos perdido 200 dólares",
        "my account is 40k, risk 2 percent, entry at 31, stop at 29, how many?",
        "Tengo 8000 euros. Entro a 31 con stop en 30, ¿cuántas acciones compro?",
        "remember that please",
    ],
)
def test_what_is_of_the_moment_is_not_remembered(text: str) -> None:
    assert remembered(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I avoid tobacco stocks, remember that please", "I avoid tobacco stocks"),
        ("I risk 1% per trade", "I risk 1% per trade"),
        ("mi horizonte es de 10 años", "mi horizonte es de 10 años"),
        ("I lost my job today", "I lost my job today"),
        ("my stop loss is always 5 percent", "my stop loss is always 5 percent"),
    ],
)
def test_what_lasts_is_remembered(text: str, fact: str) -> None:
    assert remembered(text) == [fact]
