"""How near a section is in meaning to the question, beside the words: what has no word of it is told with a doubt."""

import pytest

from agent.domain.offline.answers import is_empty_answer, is_unknown
from agent.testing.passages import answered, passage

CABINS = "## Bungalows\n\nWooden houses for four, 90 € a night.\n\n## Laundry\n\nA load is 5 €."
PARTED = [{"start": 0, "heading": ["Bungalows"]}, {"start": CABINS.index("## Laundry"), "heading": ["Laundry"]}]


def said(question: str, near: list[float] | None, pool: float = 0.0) -> str:
    """`near`: of the two sections of the first passage; `pool`: of the second passage."""
    found = [
        passage("Stay", CABINS, sections=PARTED, heading=["Bungalows"], near=near),
        passage("Pool", "The pool opens at 10:00.", heading=["Pool hours"], near=None if near is None else [pool]),
    ]
    return answered(question, found, "en")


@pytest.mark.parametrize(
    ("near", "quoted", "may_answer"),
    [(None, False, False), ([0.08, 0.05], False, False), ([0.15, 0.0], True, False), ([0.3, 0.0], True, True)],
)
@pytest.mark.parametrize(("question", "missing"), [("any roof over our heads?", ""), ("do you rent igloos?", "igloos")])
def test_what_has_no_word_of_the_question_is_quoted_where_it_is_near_in_meaning(
    near: list[float] | None, quoted: bool, may_answer: bool, question: str, missing: str
) -> None:
    told = said(question, near)
    assert is_unknown(told)
    assert ("90 €" in told, "5 €." in told) == (quoted, False)
    # What is named and stands nowhere is not there, whatever is near.
    assert is_empty_answer(told) is (bool(missing) or not may_answer)
    assert missing in told


def test_beside_an_uncertain_answer_stands_the_likeliest_other_section() -> None:
    told = said("does the pool close in winter?", [0.0, 0.19], pool=0.1)
    assert is_unknown(told)
    assert "10:00" in told
    assert "5 €." in told
    assert "90 €" not in told


def test_what_words_have_chosen_is_uncertain_where_another_section_is_much_nearer() -> None:
    question = "does the pool open?"
    assert said(question, [0.3, 0.0], pool=0.25) == "The pool opens at 10:00. [2]"
    told = said(question, [0.0, 0.4], pool=0.05)
    assert is_unknown(told)
    assert "10:00" in told


def test_the_rows_of_a_table_that_comes_closest_stand_on_lines_of_their_own() -> None:
    table = "| Garment | Price |\n| --- | --- |\n| Shirt | 4 € |\n| Coat | 9 € |\n| Suit | 15 € |\n| Dress | 12 € |"
    told = answered("any roof over our heads?", [passage("Prices", table, heading=["Prices"], near=[0.15])], "en")
    assert " This comes closest: Prices:\n- Shirt: Price 4 € [1]\n" in told
    assert "[1]\n\nIf that is not what you are looking for" in told


def test_three_sections_are_shown_if_any_might_answer_and_the_likeliest_even_if_it_shows_no_figure() -> None:
    cancelling = "You may leave whenever you like; there is no notice period."
    found = [
        passage("Cancelling", cancelling, heading=["Cancelling"], near=[0.3]),
        passage("Reminders", "We write after three days.", heading=["Reminders"], near=[0.25]),
        passage("Gyms", "A gym of our own.", heading=["Gyms"], near=[0.28]),
    ]
    told = answered("if I cancel, how long is the notice?", found, "en")
    assert is_unknown(told)
    assert "no notice period" in told
    assert "three days" in told
    told = answered("is there a roof over our heads?", found, "en")
    assert all(one in told for one in ("no notice", "three days", "gym of our own"))


def test_a_follow_up_that_names_another_section_with_a_price_is_answered_by_it_however_near_the_first_one_is() -> None:
    bronze = "The Bronze pass costs 20 € a month.\n\nIt opens the pool and the gym."
    silver = "The Silver pass costs 40 € a month.\n\nIt has everything in Bronze, and the sauna."
    passes = [
        passage("Passes", bronze, heading=["Bronze"], near=[0.5]),
        passage("Passes", silver, heading=["Silver"], near=[0.6]),
    ]
    before = [
        {"role": "user", "content": "what does the silver pass cost?"},
        {"role": "assistant", "content": "The Silver pass costs 40 € a month. [2]"},
    ]
    assert answered("and bronze?", passes, "en", *before) == "The Bronze pass costs 20 € a month. [1]"
    assert is_unknown(answered("and gold?", passes, "en", *before))
