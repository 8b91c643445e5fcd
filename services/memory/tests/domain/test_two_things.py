"""A change or an end of one thing takes nothing from a fact about another thing of the same sort."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.remembered import Remembered, current_facts
from memory.domain.statements import with_statements

DAY = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("My car insurance is 600 a year", "my house insurance went up to 450 a year"),
        ("my budget for food is 400", "my budget for clothes is now 100"),
        ("mi presupuesto de comida es 400", "ahora mi presupuesto de ropa es 100"),
        ("meto 200 al mes en VOO", "he subido a 300 al mes lo que meto en QQQ"),
        ("I save 100 for the car and 50 for the trip", "I raised the trip to 80"),
        ("I have a house in Spain", "I sold my house in Italy"),
        ("tengo una casa en Soria", "vendí la casa de Huelva"),
        ("I'm a member of a tennis club", "I left the chess club"),
        ("I have a degree in physics", "I dropped out of my degree in law"),
        ("I'm scared of options", "I'm not scared of futures any more"),
        ("me dan miedo las opciones", "ya no me dan miedo los futuros"),
        ("I pay 900 rent", "my tenant's rent went up to 700"),
        ("pago 900 de alquiler", "a mi inquilino le subí el alquiler a 700"),
        ("cobro 1200 de alquiler del piso", "ahora pago 700 de alquiler"),
        ("I'm on a diet", "my dog isn't on a diet any more"),
        ("my brother is a doctor", "my brother-in-law is no longer a doctor"),
        ("I have two kids from my first marriage", "I have no kids with my new wife"),
        ("tengo un gato y dos perros", "se murió uno de los perros"),
    ],
)
def test_what_is_said_of_another_thing_ends_nothing(fact: str, later: str) -> None:
    state = with_statements(Remembered(), fact, DAY)
    state = with_statements(state, later, DAY + timedelta(days=3))
    assert fact in current_facts(state.memory)
    assert state.memory.superseded == []


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("I only trade US stocks", "I've started trading European stocks as well"),
        ("solo invierto en España", "ahora invierto también fuera de España"),
        ("My pension is with Aviva", "I transferred my pension across to Nest"),
        ("I don't use leverage, ever", "I've begun using a bit of leverage"),
        ("my wife is on maternity leave", "my wife went back to work last week"),
        ("estoy de baja por la espalda", "me dieron el alta, ya estoy trabajando otra vez"),
        ("I don't have any debt", "I'm in debt now"),
    ],
)
def test_what_is_said_of_the_same_thing_ends_it(fact: str, later: str) -> None:
    state = with_statements(Remembered(), fact, DAY)
    state = with_statements(state, later, DAY + timedelta(days=3))
    assert fact not in current_facts(state.memory)
    assert [past.value for past in state.memory.superseded] == [fact]


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("I only trade on Fridays", "I trade options too now"),
        ("I only trade US stocks", "my wife has started trading European stocks as well"),
        ("my brother is on sick leave", "I went back to work"),
    ],
)
def test_a_limit_or_a_leave_of_another_kind_or_person_goes_on(fact: str, later: str) -> None:
    state = with_statements(Remembered(), fact, DAY)
    state = with_statements(state, later, DAY + timedelta(days=3))
    assert fact in current_facts(state.memory)


def test_what_is_only_imagined_teaches_nothing() -> None:
    assert current_facts(with_statements(Remembered(), "pon que tengo 60 años y estoy jubilado", DAY).memory) == []


@pytest.mark.parametrize("fact", ["I don't have any debt", "i can put aside roughly 150 a month"])
def test_an_absence_and_an_amount_per_month_are_facts(fact: str) -> None:
    assert current_facts(with_statements(Remembered(), fact, DAY).memory) == [fact]
