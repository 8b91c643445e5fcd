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


CABINS = passage(
    "Cabins",
    "# Our cabins\n\nIn August the shortest stay is five nights.\n\n"
    "| | Elm | Birch | Larch |\n| --- | --- | --- | --- |\n| Sleeps | 2 | 4 | 6 |\n| Size | 18 m² | 28 m² | 40 m² |\n"
    "| Low season | 48 € | 69 € | 95 € |\n| Heating | yes | yes | yes |\n| Oven | no | no | yes |",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "what's the difference between Elm and Larch?",
            "- Sleeps: Elm 2, Larch 6 [1]\n- Size: Elm 18 m², Larch 40 m² [1]\n- Low season: Elm 48 €, Larch 95 € [1]\n"
            "- Oven: Elm no, Larch yes [1]",
        ),
        ("which cabin is the biggest?", "Sleeps: Larch 6. [1]"),
        ("which is the cheapest cabin?", "Low season: Elm 48 €. [1]"),
        ("how many does Birch sleep?", "Sleeps: Elm 2, Birch 4, Larch 6. [1]"),
    ],
)
def test_columns_are_things_where_a_table_does_not_say_what_its_rows_are(question: str, answer: str) -> None:
    assert answered(question, [CABINS], "en") == answer


def test_a_price_is_told_by_what_shows_one_and_not_by_what_stands_beside_it() -> None:
    prices = passage(
        "Prices",
        "# Prices\n\n| Item | Low season | High season |\n| --- | --- | --- |\n| Tent | 10 € | 14 € |\n"
        "| Dog | 2 € | |\n\n"
        "High season is July and August. In high season there is no discount.",
    )
    assert (
        answered("how much is a tent in high season?", [prices], "en") == "Tent: Low season 10 €, High season 14 €. [1]"
    )
    # An empty cell is left out.
    assert answered("how much for a dog?", [prices], "en") == "Dog: Low season 2 €. [1]"


def test_what_follows_a_question_for_a_price_asks_for_one_of_something_else() -> None:
    prices = passage(
        "Prices",
        "# Prices\n\n| Who | Night |\n| --- | --- |\n| Adult | 7 € |\n| Child (3 to 11) | 5 € |\n| Under 3 | free |",
    )
    baths = passage("Services", "# Services\n\nThe north block has baths for babies.")
    before = (
        {"role": "user", "content": "how much is it for an adult?"},
        {"role": "assistant", "content": "Adult: Night 7 €. [1]"},
    )
    said = answered("and for babies?", [baths, prices], "en", *before)
    assert "Under 3: Night free" in said
    assert "Child (3 to 11)" not in said


def test_the_price_of_a_column_that_was_told_of_is_in_its_row_of_prices() -> None:
    packs = passage("Packs", "| | Blue | Red |\n| --- | --- | --- |\n| Lessons | 5 | 20 |\n| Price | 140 € | 480 € |")
    before = (
        {"role": "user", "content": "how many lessons does Red have?"},
        {"role": "assistant", "content": "Lessons: Blue 5, Red 20. [1]"},
    )
    assert answered("and what does it cost?", [packs], "en", *before) == "Price: Blue 140 €, Red 480 €. [1]"
