"""A company with two branches: each answers, unless the question names one."""

import pytest

from agent.testing.passages import answered, passage

SHOPS = passage(
    "Find us",
    "## Whitby\n6 Station Yard, Whitby YO21 1DH. Phone 01947 555 210.\n\n"
    "| Day | Opens | Closes |\n| --- | --- | --- |\n"
    "| Monday to Friday | 9:00 | 17:30 |\n| Saturday | 8:30 | 18:00 |\n| Sunday | 9:30 | 16:00 |\n\n"
    "## Scarborough\n41 Westborough Lane, Scarborough YO11 1TS. Phone 01723 555 834. There is a lift.\n\n"
    "| Day | Opens | Closes |\n| --- | --- | --- |\n"
    "| Monday to Friday | 10:00 | 17:00 |\n| Saturday and Sunday | 9:00 | 17:00 |",
)


def turns(*said: str) -> list[dict[str, str]]:
    """The earlier messages of a conversation: questions, each with its answer."""
    messages: list[dict[str, str]] = []
    for text in said:
        answer = answered(text, [SHOPS], "en", *messages)
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
    return messages


@pytest.mark.parametrize(
    ("question", "of_whitby", "of_scarborough"),
    [
        ("what time do you close on sundays?", "16:00", "17:00"),
        ("what are your opening hours?", "8:30", "10:00"),
        ("where are you?", "Station Yard", "Westborough Lane"),
    ],
)
def test_a_question_without_a_branch_is_answered_for_each(question: str, of_whitby: str, of_scarborough: str) -> None:
    whitby, scarborough = answered(question, [SHOPS], "en").splitlines()
    assert whitby.startswith("- Whitby: ")
    assert of_whitby in whitby
    assert scarborough.startswith("- Scarborough: ")
    assert of_scarborough in scarborough


def test_a_question_with_a_branch_is_answered_for_that_one() -> None:
    answer = answered("what time do you close on sundays in Whitby?", [SHOPS], "en")
    assert "16:00" in answer
    assert "Scarborough" not in answer


def test_what_only_one_branch_tells_is_told_with_its_name() -> None:
    assert answered("is there a lift?", [SHOPS], "en").startswith("Scarborough: ")


@pytest.mark.parametrize(("branch", "hour"), [("and Scarborough?", "17:00"), ("and in Whitby?", "16:00")])
def test_a_branch_alone_is_asked_what_was_asked_before(branch: str, hour: str) -> None:
    messages = turns("what time do you close on sundays in Whitby?", "and Scarborough?")
    for earlier in (messages[:2], messages):
        assert hour in answered(branch, [SHOPS], "en", *earlier)


def test_rows_of_days_are_all_told_if_no_day_is_asked_for() -> None:
    answer = answered("what are the hours in Whitby?", [SHOPS], "en")
    assert all(hour in answer for hour in ("17:30", "18:00", "16:00"))
