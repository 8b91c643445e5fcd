"""Rows of tables as answers: what follows one, and how its cells are told."""

import pytest

from agent.domain.offline.excerpts import sentences_of
from agent.testing.passages import answered, passage


def test_a_columns_name_that_ends_in_a_figure_is_kept_apart_from_its_cells() -> None:
    table = "| Bed | 90 × 190 | Height 2 |\n| --- | --- | --- |\n| Oak | 249 € | 30 cm |"
    assert [one.text for one in sentences_of(table, "", "u", "t")] == ["Oak: 90 × 190: 249 €, Height 2: 30 cm"]


def test_a_table_behind_another_has_columns_of_its_own() -> None:
    first = "| Course | Week |\n| --- | --- |\n| English | 200 € |"
    second = "| Other courses | Hour |\n| --- | --- |\n| Exam | 60 € |"
    rows = sentences_of(f"{first}\n\n{second}", "", "u", "t")
    assert [(one.column, one.text) for one in rows] == [
        ("Course", "English: Week 200 €"),
        ("Other courses", "Exam: Hour 60 €"),
    ]


def test_a_price_of_the_kind_alone_is_that_of_all_its_rows() -> None:
    table = "| Course | Price |\n| --- | --- |\n| English | 200 € |\n| Evening course | 90 € |"
    fees = [passage("Fees", table)]
    every = "English: Price 200 €. Evening course: Price 90 €. [1]"
    assert answered("whats the cost of a normal course", fees, "en") == every
    assert answered("what does the evening course cost?", fees, "en") == "Evening course: Price 90 €. [1]"


def test_what_something_is_worth_is_its_price_and_no_yes() -> None:
    table = "| Servicio | Importe |\n| --- | --- |\n| Poder | 65 € |\n| Boda | 140 € |"
    fees = [passage("Aranceles", table, "es")]
    assert answered("¿qué vale una boda?", fees, "es") == "Boda: Importe 140 €. [1]"
    asked = {"role": "user", "content": "¿hacéis bodas?"}
    assert "140 €" in answered("y que vale", fees, "es", asked, {"role": "assistant", "content": "Boda"})


MUSIC = [
    passage(
        "Valladolid",
        "| Course | Days | Fee |\n| --- | --- | --- |\n| Lute | Monday | 60 € |\n| Harp | Tuesday | 80 € |",
    ),
    passage("About", "We teach lute, harp and oboe since 1990, on Monday too."),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("and the harp?", "Harp: Days Tuesday, Fee 80 €. [1]"),
        ("how much is it?", "Lute: Days Monday, Fee 60 €. [1]"),
        ("and for 3 weeks?", "Lute: Days Monday, Fee 60 €. [1]"),
        ("what days?", "Lute: Days Monday, Fee 60 €. [1]"),
        ("and the flute?", "I do not know for certain: "),
    ],
)
def test_what_follows_a_row_of_a_table_is_of_that_table(question: str, answer: str) -> None:
    row = {"role": "assistant", "content": "Lute: Days Monday, Fee 60 €. [1]"}
    asked = {"role": "user", "content": "when is the lute lesson?"}
    assert answered(question, MUSIC, "en", asked, row).startswith(answer)


def test_another_day_of_the_weekend_is_no_row_of_it() -> None:
    hours = passage("Hours", "| Day | Open |\n| --- | --- |\n| Friday | 9:00 – 14:00 |\n| Saturday | 10:00 – 12:00 |")
    row = {"role": "assistant", "content": "Saturday: Open 10:00 – 12:00. [1]"}
    asked = {"role": "user", "content": "when do you open on Saturday?"}
    told = answered("and Sunday?", [hours], "en", asked, row)
    assert told.startswith("Friday: Open 9:00 – 14:00. Saturday: Open 10:00 – 12:00. [1]"), "that it is not among them"
