"""What a quotation must tell for the kind of question that it answers, es and en, and lists of a kind in every form in
which pages show them."""

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText
from agent.testing.offered import SCHEMAS
from agent.testing.passages import answered, passage
from contracts.languages import Language


def said(question: str, *pages: tuple[str, str], language: Language = "en") -> str:
    """The answer over pages, each with its title and its text."""
    found = [passage(title, text, language, id=f"p{at}", score=0.5) for at, (title, text) in enumerate(pages)]
    return answered(question, found, language, documents=len(found))


LAB = ("Photo lab", "## Scans\n\nScans are kept for 90 days. Scanning a film takes two days.")
LOAN = ("Library loans", "## Renewals\n\nA loan is renewed once.\n\n## Late books\n\nA late book costs 0,20 € a day.")
TOUR = ("Cave tours", "## Price\n\nThe cave tour costs 15 €.")
GROUP = ("Cave tours", "## Price\n\nThe cave tour costs 15 €, for groups of 10 people or more 12 € each.")


@pytest.mark.parametrize(
    ("question", "page", "language"),
    [
        ("how do I delete my scans?", LAB, "en"),
        ("how can I renew my loan", LOAN, "en"),
        ("why is a loan renewed only once?", LOAN, "en"),
        ("what does the cave tour cost for 12 people?", TOUR, "en"),
        ("we are 12, how much is the cave tour", TOUR, "en"),
        ("como renuevo un prestamo", ("Biblioteca", "## Préstamos\n\nEl préstamo se renueva una vez."), "es"),
    ],
)
def test_what_tells_another_thing_than_a_question_of_its_kind_asks_for_is_no_answer(
    question: str, page: tuple[str, str], language: Language
) -> None:
    assert is_unknown(said(question, page, language=language))


@pytest.mark.parametrize(
    ("question", "page", "language", "words"),
    [
        (
            "how do I renew my loan?",
            ("Loans", "## Renewals\n\nRenew a loan under My books, or call us."),
            "en",
            "My books",
        ),
        ("what does the cave tour cost for 12 people?", GROUP, "en", "12 €"),
        (
            "como renuevo un prestamo",
            ("Biblioteca", "## Préstamos\n\nPara renovar un préstamo entra en la web o llama por teléfono."),
            "es",
            "entra en la web",
        ),
        (
            "how do I order a scan?",
            (
                "Photo lab",
                "## Order a scan\n\n- Print a label.\n- Pack the films.\n- Bring it to a post office.\n- Wait.",
            ),
            "en",
            "Pack the films",
        ),
    ],
)
def test_what_tells_it_is_quoted(question: str, page: tuple[str, str], language: Language, words: str) -> None:
    assert words in said(question, page, language=language)


@pytest.mark.parametrize(
    ("question", "page", "words"),
    [
        (
            "what tours do you have?",
            ("See", "## Tower tour\n\nOne hour.\n\n## Garden tour\n\nTwo hours."),
            ("Tower", "Garden"),
        ),
        (
            "which teas do you have",
            ("Shop", "## Our teas\n\n- Green\n- Black\n- White\n- Rooibos"),
            ("Green", "Rooibos"),
        ),
        (
            "what papers are there?",
            ("Printing", "We print on matt, glossy and recycled papers. It takes a day."),
            ("matt",),
        ),
        ("what workshops do you offer", ("Workshops – Loft", "## Felt\n\n20 €.\n\n## Lino\n\n30 €."), ("Felt", "Lino")),
    ],
)
def test_a_kind_is_listed_from_headings_items_sections_and_sentences(
    question: str, page: tuple[str, str], words: tuple[str, ...]
) -> None:
    told = said(question, page)
    assert all(word in told for word in words), told


@pytest.mark.parametrize(
    ("before", "text", "symbols"),
    [
        ("how's nvidia doing today?", "is that more than IBM?", ["NVDA", "IBM"]),
        ("precio de AAPL", "¿es más que MSFT?", ["AAPL", "MSFT"]),
    ],
)
def test_a_ticker_is_compared_with_the_one_that_was_spoken_of(before: str, text: str, symbols: list[str]) -> None:
    calls = wish_in(text, SCHEMAS, (before,)).calls
    assert [arguments.get("symbol") for _, arguments in calls] == symbols


FILMS = ("Photo lab", "## Films\n\nFilms are scanned. We keep films in a cellar in Lyon.")
BATH = ("Photo lab", "## Film bath\n\nThe bath is warm. The bath is changed every week.")
BORROW = ("Borrow books", "## Bring with you\n\n- Your pass\n- A deposit\n\n## Books\n\nWe lend books.")
CAVE = ("Cave tours", "## Cave tour\n\nThe cave tour is for ages 12 and over. It is cold.")
MILL = ("Mill", "## Hours\n\nThe mill is open from 10:00 to 16:00, April to October.")


@pytest.mark.parametrize("tools", [(), ("fetch_page",)])
@pytest.mark.parametrize("language", ["en", "es"])
def test_whoever_cannot_look_does_not_say_that_the_site_is_silent(tools: tuple[str, ...], language: Language) -> None:
    question = [{"role": "user", "content": "do you sell kites?" if language == "en" else "¿vendéis cometas?"}]
    response = respond(question, tools, language, introduced=True, knowledge=None, last=True)
    assert isinstance(response, SayText)
    assert ("right now" if language == "en" else "Ahora mismo") in response.text
    assert not is_unknown(response.text)


def test_a_term_after_one_that_was_explained_is_explained() -> None:
    calls = wish_in("y el ratio de sharpe?", SCHEMAS, ("qué es el drawdown", "y la volatilidad?")).calls
    assert calls == (("explain_concept", {"concept": "ratio de sharpe"}),)


@pytest.mark.parametrize(
    ("question", "page", "words"),
    [
        ("where do you keep the films?", FILMS, "Lyon"),
        ("how often is the film bath changed", BATH, "every week"),
        ("what do I need to borrow books?", BORROW, "Your pass"),
        ("my son is 9, can he come on the cave tour?", CAVE, "ages 12"),
        ("is the mill open in february?", MILL, "October"),
    ],
)
def test_a_place_a_rate_what_to_bring_an_age_and_a_month_are_told_by_what_names_them(
    question: str, page: tuple[str, str], words: str
) -> None:
    assert words in said(question, page)
