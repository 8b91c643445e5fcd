"""A message of 2,000 characters costs a search no more than a question does: it runs beside everything else."""

import sys
from types import FrameType

import pytest

from contracts.knowledge import MAX_QUERY, Block
from memory.knowledge.index import MAX_WORDS, CompanyIndex
from memory.knowledge.passages import passages
from memory.knowledge.question import parsed_question
from memory.knowledge.texts import StemmedDocument, stemmed_passage
from runtime.clock import SystemClock


def word(number: int, ending: str = "") -> str:
    """An invented word that no other number has."""
    return "".join(chr(97 + int(digit)) for digit in f"{number:05}") + "mok" + ending


@pytest.fixture(scope="module")
def index() -> CompanyIndex:
    made = CompanyIndex()
    for number in range(200):
        said = " ".join(word(number * 10 + at) for at in range(10))
        cuts = passages([Block(headings=[word(number * 10)], text=said)])
        document = StemmedDocument(f"d{number}", "site", "page", None, "en", "h", SystemClock().now())
        made.put(document, [stemmed_passage(cut, "page") for cut in cuts])
    return made


def calls_of_search(index: CompanyIndex, question: str) -> int:
    """The functions that a search calls."""
    parsed, calls = parsed_question(question), 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        index.search(parsed, question, 12)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("ending", ["", "zu"], ids=["words of the passages", "words of none"])
def test_a_long_message_costs_as_much_as_its_rarest_words(index: CompanyIndex, ending: str) -> None:
    some = " ".join(word(number * 7, ending) for number in range(MAX_WORDS))
    many = " ".join(word(number * 7, ending) for number in range(MAX_QUERY // 9))
    # Only its words are stemmed and counted.
    assert calls_of_search(index, many) < 3 * calls_of_search(index, some) + 20 * MAX_QUERY // 9


def test_the_rarest_words_of_a_long_message_find_the_passage() -> None:
    made, now = CompanyIndex(), SystemClock().now()
    texts = dict.fromkeys(("one", "two", "three"), "we repair bikes and we hire bikes") | {"four": "warranty of forks"}
    for name, text in texts.items():
        document = StemmedDocument(name, "site", "page", None, "en", "h", now)
        made.put(document, [stemmed_passage(cut, "page") for cut in passages([Block(text=text)])])
    message = "repair hire bikes " + " ".join(word(number) for number in range(100)) + " warranty"
    hits = made.search(parsed_question(message), message, 3)
    assert hits[0].document.id == "four"
