"""Rows that are asked for by their names, and words that look like common ones."""

import pytest

from agent.testing.passages import answered, passage

WORKSHOP = passage(
    "Workshop",
    "# Workshop\n| Service | Price | Ready in |\n| --- | --- | --- |\n| Puncture repair | £14 | an hour |\n"
    "| Basic service | £45 | 1 day |\n| Full service | £95 | 3 days |",
)


@pytest.mark.parametrize(("question", "price"), [("how much is a full service", "£95"), ("basic service price", "£45")])
def test_a_row_is_found_by_its_name_although_its_words_are_common(question: str, price: str) -> None:
    answer = answered(question, [WORKSHOP], "en")
    assert price in answer
    assert "Puncture" not in answer


def test_a_verb_that_only_shares_a_stem_with_a_common_one_is_not_left_out() -> None:
    plans = passage(
        "Tarifas",
        "# Tarifas\n| Plan | Para quién | Cuota al mes |\n"
        "| --- | --- | --- |\n| Sociedad | SL sin empleados | 165 € |\n"
        "| Básico | Autónomos | 45 € |",
        "es",
    )
    assert "Cuota al mes: 165 €. [1]" not in answered("¿Cuánto cuesta crear una SL?", [plans], "es")
    assert "165 €" in answered("¿cuánto creéis que cuesta el plan Sociedad?", [plans], "es")


def test_cancelling_one_thing_is_no_certain_answer_for_what_another_page_is_about() -> None:
    stay = passage(
        "Boarding", "# Boarding\n## Cancelling a stay\nCancel a week before at no charge. Later it costs one night."
    )
    plan = passage("Pet health plan", "# Pet health plan\nIt renews unless you cancel a month before the end.")
    assert "I am not sure" in answered("how do I cancel the plan?", [stay, plan], "en")
    assert answered("how do I cancel a stay?", [stay, plan], "en").startswith("Cancel a week before")
