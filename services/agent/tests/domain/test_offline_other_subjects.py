"""What is said of something else is no answer: the price in another table, what is brought, how it is booked."""

import pytest

from agent.domain.offline.constraints import gives_count
from agent.domain.offline.excerpts import sentences_of
from agent.domain.offline.lexicon import keys_of
from agent.domain.offline.sections import compared_passages
from agent.testing.passages import answered, passage
from contracts.knowledge import Passage

TOURS = passage(
    "Tours",
    "| Tour | Length | Price per person |\n| --- | --- | --- |\n"
    "| Castle walk | 5 km | £20 |\n| Harbour ride | 9 km | £30 |",
)
EXTRAS = passage("Extras", "| Extra | Per day |\n| --- | --- |\n| Seat for children | £5 |\n| Lock | £2 |")
FAQ = passage("Bringing pets", "Yes, we rent a dog trailer for £12 per day.", heading=["Can I bring my dog?"])
BOOKING = passage("Booking", "Choose a day in the booking form and pay 20 % online.", heading=["How do I book?"])
PRICES = passage(
    "Precios",
    "## Operaciones\n\n| Operación | Precio |\n| --- | --- |\n"
    "| Castración de gato | 95 € |\n| Esterilización de gata | 160 € |",
    "es",
)
NIGHTS = passage("Residencia", "| Animal | Por noche |\n| --- | --- |\n| Perro | 18 € |\n| Gato | 14 € |", "es")
DOUBTS = ("I am not sure", "I do not know", "No estoy seguro", "No lo sé")


def turn(question: str, answer: str) -> tuple[dict[str, str], dict[str, str]]:
    return {"role": "user", "content": question}, {"role": "assistant", "content": answer}


def test_a_follow_up_is_not_surely_answered_by_the_price_of_something_else() -> None:
    first = "how much is the castle walk?"
    before = turn(first, answered(first, [TOURS, EXTRAS], "en"))
    assert "£20" in before[1]["content"]
    assert answered("and for children?", [TOURS, EXTRAS], "en", *before).startswith(DOUBTS)
    assert answered("and the harbour ride?", [TOURS, EXTRAS], "en", *before).startswith("Harbour ride")


def test_prices_of_a_table_without_what_is_compared_do_not_compare_it() -> None:
    excerpts = [
        excerpt
        for number, found in enumerate((NIGHTS, PRICES, TOURS), start=1)
        for excerpt in sentences_of(found.text, "", found.id, found.title, number, ())
    ]
    assert compared_passages("¿qué es más barato, castrar un gato o una gata?", "", excerpts) == []
    assert len(compared_passages("which is cheaper, the castle walk or the harbour ride?", "", excerpts)) == 2


@pytest.mark.parametrize(("question", "found"), [("what do I need to rent?", FAQ), ("do I have to book?", BOOKING)])
def test_what_is_asked_otherwise_under_the_heading_is_no_sure_answer(question: str, found: Passage) -> None:
    assert answered(question, [found], "en").startswith(DOUBTS)


def test_a_number_does_not_count_what_comes_after_the_comma() -> None:
    (accounts,) = sentences_of("Solo has 2 users, Practice up to 25, Firm any number.", "", "a", "Accounts", 1, ())
    assert gives_count(accounts, keys_of("users"))
    assert not gives_count(accounts, keys_of("firms"))


def test_for_how_many_is_the_price_of_one_once_more() -> None:
    for question in ("¿y si son tres?", "y si llevo dos"):
        first = "¿cuánto cuesta una noche para un gato?"
        before = turn(first, answered(first, [NIGHTS], "es"))
        assert answered(question, [NIGHTS], "es", *before).startswith("Gato: ")
