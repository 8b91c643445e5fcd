"""Answers from lists of rules, from tables whose columns are the plans, and from several timetables at once."""

from typing import Any

import pytest

from agent.domain.offline.answers import is_unknown
from agent.testing.passages import answered, passage

RULES = (
    "- Es obligatorio el uso de gafas en la pista cubierta.\n"
    "- Los menores de 12 años deben ir acompañados de un adulto.\n"
    "- Está prohibida la entrada de animales, salvo perros guía."
)
RINK = [
    passage("Normas de la pista", RULES, "es", heading=["Normas de la pista"]),
    passage("Pista cubierta", "| Día | Apertura | Cierre |\n| --- | --- | --- |\n| Lunes a viernes | 10:00 | 21:00 |\n"
            "| Domingos | 11:00 | 14:00 |", "es", heading=["Horarios", "Pista cubierta"], url="https://x.test/h"),
    passage("Sala de juegos", "De lunes a viernes de 16:00 a 20:00. Domingos cerrada.", "es",
            heading=["Horarios", "Sala de juegos"], url="https://x.test/h"),
    passage("Bonos", "El bono incluye la pista cubierta y la sala de juegos. No incluye las clases.", "es",
            heading=["Bonos"]),
    passage("Bonificaciones", "- Familia numerosa: 20 %\n- Personas con discapacidad: 50 %", "es",
            heading=["Bonificaciones"]),
    passage("Clases", "Cada curso cuesta 90 €; los socios tienen un 15 % de descuento.", "es", heading=["Clases"]),
]  # fmt: skip
PLANS = (
    "|  | Solo | Crew | Fleet |\n| --- | --- | --- | --- |\n| Monthly price | £9 | £29 | £79 |\n"
    "| Price per month, billed annually | £7 | £24 | £66 |\n| Boats | 1 | 5 | Unlimited |"
)
LOGBOOK = [
    passage("Pricing", PLANS, heading=["Pricing"]),
    passage("Trial", "Try Crew free for 21 days.", heading=["Free trial"]),
    passage("Discounts", "Clubs younger than two years get 50% off Solo for the first year.", heading=["Discounts"]),
    passage("Integrations", "- Garmin\n- Navionics", heading=["Integrations", "Charts"]),
    passage("Leaving", "Monthly plans can be cancelled in Settings › Billing. Annual plans run to the end of the year.",
            heading=["How do I cancel?"]),
]  # fmt: skip


def asked(passages: list[Any], language: Any, *questions: str) -> str:
    messages: list[dict[str, str]] = []
    for question in questions:
        answer = answered(question, passages, language, *messages)
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return messages[-1]["content"]


@pytest.mark.parametrize(
    ("questions", "answer"),
    [
        # "Hay que llevar …" names the thing; "¿qué hay que llevar?" asks for it.
        (["¿hay que llevar gafas?"], "Es obligatorio el uso de gafas en la pista cubierta. [1]"),
        (["¿puedo llevar a mi perro?"], "Está prohibida la entrada de animales, salvo perros guía. [1]"),
        (["¿mi hijo de 10 años puede ir solo?"], "Los menores de 12 años deben ir acompañados de un adulto. [1]"),
        (["tengo una discapacidad, ¿qué descuento tengo?"], "Personas con discapacidad: 50 %"),
        # What goes on from a quotation stays there, although another section is called so.
        (["¿el bono incluye las clases?", "¿y la sala de juegos?"],
         "El bono incluye la pista cubierta y la sala de juegos. No incluye las clases. [4]"),
    ],
)  # fmt: skip
def test_a_rule_is_told_by_its_thing(questions: list[str], answer: str) -> None:
    assert answer in asked(RINK, "es", *questions)


def test_hours_of_today_are_those_of_each_section() -> None:
    answer = asked(RINK, "es", "¿qué horario tenéis hoy?")
    assert not is_unknown(answer)
    assert "Pista cubierta" in answer
    assert "Sala de juegos" in answer


def test_a_day_after_several_timetables_is_asked_of_each() -> None:
    answer = asked(RINK, "es", "¿qué horario tenéis?", "¿y los domingos?")
    assert "Apertura 11:00, Cierre 14:00" in answer
    assert "Domingos cerrada" in answer
    assert "Apertura 10:00" not in answer


@pytest.mark.parametrize(
    ("questions", "answer"),
    [
        (["how much is crew?"], "Monthly price: Crew £29. Price per month, billed annually: Crew £24. [1]"),
        (["how much is crew?", "and fleet?"],
         "Monthly price: Fleet £79. Price per month, billed annually: Fleet £66. [1]"),
        (["how much is crew?", "and fleet?", "per year?"], "Price per month, billed annually: Fleet £66. [1]"),
        (["how much is crew?", "how many boats does it include?"], "Boats: Crew 5. [1]"),
        (["do you integrate with Garmin?"], "Charts: Garmin. Navionics. [4]"),
        (["how do I cancel my annual plan?"],
         "Monthly plans can be cancelled in Settings › Billing. Annual plans run to the end of the year. [5]"),
        (["can I try before I buy?"], "Try Crew free for 21 days. [2]"),
    ],
)  # fmt: skip
def test_plans_that_are_columns_are_told_as_rows_are(questions: list[str], answer: str) -> None:
    assert answer in asked(LOGBOOK, "en", *questions)
    assert not is_unknown(asked(LOGBOOK, "en", *questions))


def test_a_column_without_prices_is_not_told_as_a_price() -> None:
    assert is_unknown(asked(LOGBOOK, "en", "how much is an extra boat?"))
