"""The numbers of a running answer are those of the final message."""

import pytest

from agent.domain.knowledge import CitationNumbers, GivenPassage, with_valid_citations
from agent.testing.heard import RecordingSink
from agent.turns.cited_text import CitedText
from contracts.events.chat import Citation

GIVEN = [GivenPassage(Citation(url=f"https://x.test/{name}", title=name), name) for name in ("a", "b", "c")]


ANSWER = "One [3]. Two [1, 3] and [9]; a [link] and [here](https://x.test/2024), x[2].\nEnd [7]"


@pytest.mark.parametrize("size", range(1, 12))
def test_the_same_is_heard_however_the_text_is_cut(size: int) -> None:
    heard = RecordingSink()
    sink = CitedText(heard, CitationNumbers(GIVEN))
    sink.text("Not this [2] ")
    sink.restart()
    for start in range(0, len(ANSWER), size):
        sink.text(ANSWER[start : start + size])
    sink.flush()
    assert heard.said == with_valid_citations(ANSWER, GIVEN)[0]
    assert heard.said.startswith("One [1]. Two [2][1] and; a [link] and [here](https://x.test/2024), x[3].")


def test_what_can_be_no_mark_waits_for_nothing() -> None:
    heard = RecordingSink()
    sink = CitedText(heard, CitationNumbers(GIVEN))
    for piece in ("It is", " here [", "see] now"):
        sink.text(piece)
    assert heard.pieces == ["It is", " here", " [see] now"]


def test_without_passages_the_text_stays_as_it_is() -> None:
    heard = RecordingSink()
    sink = CitedText(heard, None)
    sink.text("a [7]")
    assert heard.pieces == ["a [7]"]
