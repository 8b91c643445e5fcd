"""What a question states or asks for in times, figures and places of a list is in what is quoted, or it is not known:
conversations over three companies' pages, es and en."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.assistant import respond
from agent.domain.offline.constraints import states_length, without_length
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText
from agent.testing.offered import SCHEMAS
from contracts.knowledge import KnowledgeFound, Passage
from contracts.languages import Language

FOLDER = Path(__file__).with_name("pages")
LANGUAGES: dict[str, Language] = {"demo-en": "en", "demo-es": "es", "bakery": "en", "clinic": "es"}


def knowledge(company: str) -> KnowledgeFound:
    parts = (FOLDER / f"{company}.txt").read_text("utf-8").split("=== ")[1:]
    found: list[Passage] = []
    for at, part in enumerate(parts):
        path, text = part.split("\n", 1)
        fields: dict[str, Any] = {"id": f"p{at}", "document_id": f"d{at}", "source": "site", "hash": "h", "score": 0.5}
        title = text.split("\n", 1)[0].lstrip("# ")
        read, url = datetime(2026, 3, 1, tzinfo=UTC), f"https://{company}.test{path}"
        spoken = LANGUAGES[company]
        found.append(Passage(title=title, url=url, text=text, language=spoken, read_at=read, **fields))
    return KnowledgeFound(passages=found, documents=len(found))


KNOWN = {company: knowledge(company) for company in LANGUAGES}


def last_answer(company: str, said: tuple[str, ...]) -> str:
    messages: list[dict[str, Any]] = []
    for text in said:
        messages.append({"role": "user", "content": text})
        response = respond(
            messages, ("fetch_page",), LANGUAGES[company], introduced=True, knowledge=KNOWN[company], company=None
        )
        assert isinstance(response, SayText), response
        messages.append({"role": "assistant", "content": response.text})
    return str(messages[-1]["content"])


@pytest.mark.parametrize(
    ("company", "said", "words"),
    [
        # How long something takes is no deadline.
        ("demo-es", ("cuanto tarda el reembolso en llegar",), "cinco días laborables"),
        ("demo-en", ("how long until an upgrade is active",), "takes effect at once"),
        # What follows what may have been the answer.
        ("clinic", ("se puede financiar la ortodoncia?", "en cuantos meses"), "plazos sin intereses en 12 meses"),
        # A length of time, an hour.
        ("demo-es", ("cuanto dura la prueba", "y si cancelo a los dos meses?"), "30 días"),
        ("clinic", ("tengo que pagar si cancelo 12 horas antes?",), "24 horas"),
        ("bakery", ("are you open at 5pm on saturdays?",), "Saturday: Opens 8:00"),
        ("bakery", ("can i order a wedding cake for next week?",), "one month ahead"),
        # What there is of a kind, and the second of it.
        ("demo-es", ("q planes hay",), "Premium: El plan Premium cuesta 99 USD"),
        ("demo-es", ("q planes hay", "y el segundo que trae"), "Órdenes simuladas"),
        ("demo-en", ("what plans do you have?", "how much is the last one?"), "The Premium plan costs 99 USD"),
        ("demo-en", ("how much is the second plan?",), "The Pro plan costs 29 USD"),
        ("bakery", ("what are your prices?", "how much is the second one?"), "Almond cake"),
        ("clinic", ("q tratamientos haceis", "cuanto vale el segundo"), "Empaste: Precio 70"),
        # What is asked of one is asked of the other.
        ("demo-en", ("hey do u guys have a trial", "for the premium too?"), "trial of 14 days"),
        ("demo-en", ("hey do u guys have a trial", "for the premium too?", "3 weeks?"), "trial of 14 days"),
        ("demo-es", ("a que hora puedo hablar con alguien", "los domingos tambien?"), "de lunes a viernes"),
        # A day that is not told, of days that are.
        ("clinic", ("abris los martes?",), "de lunes a jueves"),
        # The first and the third of a kind.
        ("demo-en", ("what's the difference between the first and the third plan",), "Premium: The Premium plan"),
        # What one gets with it, which address, a word with one letter wrong.
        ("demo-en", ("what do i get with free",), "Watchlists and the position size"),
        ("clinic", ("cual es el correo",), "hola@sonrisa.example"),
        ("bakery", ("i need a birthday cake for tomorow",), "three days ahead"),
        ("bakery", ("how much deposit", "do I get it back if i change my mind"), "refunded in full"),
        # Free or not, and which is cheaper.
        ("demo-en", ("is it free or do i have to pay",), "The Free plan costs 0 USD"),
        ("demo-en", ("which of the paid plans is cheaper?",), "The Pro plan costs 29 USD"),
    ],
)
def test_what_a_question_states_is_in_what_is_quoted(company: str, said: tuple[str, ...], words: str) -> None:
    assert words in last_answer(company, said)


@pytest.mark.parametrize(
    ("company", "said"),
    [
        # Of Premium it is told; nothing tells it of Pro.
        ("demo-en", ("how quick do people answer on premium", "and on pro?")),
        # Which one is better is for whoever asks to say.
        ("demo-es", ("q planes hay", "cual me sale mas a cuenta")),
        ("demo-en", ("which plan is better value?",)),
        ("clinic", ("que es mejor, un empaste o una limpieza?",)),
        # What one has and the other has not.
        ("demo-es", ("q planes hay", "que tiene el premium que no tenga el pro")),
        # By which way.
        ("clinic", ("puedo pedir la cita por whatsapp?",)),
        # Its price says nothing of its size.
        ("bakery", ("how much is the almond cake", "how big are the large ones")),
        # A deposit is not the price.
        ("bakery", ("can i order a wedding cake for next week?", "how much would that be")),
        # What follows a question that was not answered.
        ("demo-en", ("do you have an office in Lima?", "and the second one?")),
    ],
)
def test_what_only_reads_alike_is_not_told(company: str, said: tuple[str, ...]) -> None:
    assert is_unknown(last_answer(company, said))


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        (
            ("price of AAPL", "and MSFT?", "which one is up more today?"),
            "get_price",
            {"symbol": "AAPL"},
        ),
        (("how is NVDA doing", "and its rsi?", "what does that mean?"), "explain_concept", {"concept": "rsi"}),
        (("compare AMD and NVDA", "which has the lower p/e"), "get_fundamentals", {"symbol": "AMD"}),
        (("precio de amazon hace una semana",), "market_snapshot", {"tickers": ["AMZN"]}),
        (
            ("is TSLA overbought", "and apple", "buy 3 of the first one"),
            "create_paper_order",
            {"symbol": "TSLA", "side": "buy", "quantity": 3.0, "order_type": "market"},
        ),
        (("whats my biggest position",), "get_portfolio", {}),
        (("que riesgo tengo ahora mismo",), "get_portfolio", {}),
    ],
)
def test_which_of_them_and_what_that_means(said: tuple[str, ...], tool: str, arguments: dict[str, Any]) -> None:
    wish = wish_in(said[-1], SCHEMAS, said[:-1])
    assert wish.calls[0] == (tool, arguments)


@pytest.mark.parametrize("said", ["can i cancel after forty-five days", "y si cancelo a los cuarenta y cinco dias"])
def test_a_length_of_time_is_one_in_whatever_words(said: str) -> None:
    assert states_length(said)
    assert without_length(said).strip() in ("can i cancel after", "y si cancelo a los")
