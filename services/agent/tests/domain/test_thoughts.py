"""What a reasoning model thinks aloud is not for people, however its text is cut into pieces."""

import pytest

from agent.domain.thoughts import OpeningThoughts

TEXTS = {
    "": "",
    "An answer.": "An answer.",
    "  An answer.": "  An answer.",
    "<think>They want a price.</think>\n\nIt costs 49 €.": "It costs 49 €.",
    "\n<think>\n</think>\n\nYes.": "Yes.",
    "<think>a < b </thin </think><think>again</think>No.": "No.",
    "<think>without an end": "",
    "<th": "<th",
    "<thing> is a tag.": "<thing> is a tag.",
    "Write <think> here.": "Write <think> here.",
    "<tool_call>{}</tool_call>": "<tool_call>{}</tool_call>",
    "<tool box": "<tool box",
    "<think>x</think>Then <think>y</think>": "Then <think>y</think>",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
def test_thoughts_at_the_beginning_are_taken_off(text: str, size: int) -> None:
    thoughts = OpeningThoughts()
    heard = [thoughts.heard(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(heard) + thoughts.rest() == TEXTS[text]


def test_a_call_that_is_written_as_text_is_kept_back_until_the_end() -> None:
    thoughts = OpeningThoughts()
    written = "<think>x</think>\n<function=look>{}</function>"
    assert [thoughts.heard(letter) for letter in written] == [""] * len(written)
    assert thoughts.rest() == "<function=look>{}</function>"
