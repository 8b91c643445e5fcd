"""What is quoted is said once, and a bare yes or no with its question."""

from agent.domain.offline.excerpts import sentences_of
from agent.domain.offline.repeats import without_repeats
from agent.testing.passages import answered, passage

TWICE = passage(
    "Home",
    "## Try it\n\nThe trial is free for 21 days.\n\n"
    "## Prices\n\nPay by card or by invoice. The free trial lasts 21 days.",
)
FAQ = passage("FAQ", "## Can two people edit an invoice?\n\nYes, on Studio. The last to save is asked first.")


def test_the_same_thing_in_two_wordings_is_said_once_and_another_figure_or_name_is_another_thing() -> None:
    quoted = without_repeats(sentences_of(TWICE.text, "", "u", "t"))
    assert [one.text for one in quoted] == ["The trial is free for 21 days.", "Pay by card or by invoice."]
    for others in (
        "Wifi on the Xaloc costs 3 €. Wifi on the Garbí costs 3 €. Wifi on the Garbí costs 4 €.",
        "Up to 48 hours before, half is refunded; up to 9 days, all. 48 hours before, half is refunded. "
        "48 hours before, half is not refunded.",
    ):
        assert len(without_repeats(sentences_of(others, "", "u", "t"))) == 3


def test_a_yes_or_a_no_is_told_with_the_question_that_it_answers_unless_that_was_asked() -> None:
    assert answered("can two people edit an invoice?", [FAQ], "en").startswith("Yes, on Studio.")
    told = answered("do you invoice people on Studio?", [FAQ], "en")
    assert told.startswith("Can two people edit an invoice? Yes, on")
