"""Ranking passages: words in either language, typos, synonyms, the question of a pair, recency for ties alone."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.knowledge import Block
from memory.knowledge.index import CompanyIndex, passage
from memory.knowledge.passages import passages
from memory.knowledge.question import Synonyms, parsed_question
from memory.knowledge.texts import StemmedDocument, stemmed_passage

AT = datetime(2026, 1, 1, tzinfo=UTC)
SITE = {
    "en/refunds": ("en", "Refunds", "We refund every order within 30 days, no questions asked."),
    "en/shipping": ("en", "Shipping", "Parcels reach Madrid in two days and the islands in five."),
    "en/hours": ("en", "Opening hours", "The shop opens on weekdays from 9 to 18, on Saturdays from 10 to 14."),
    "es/horario": ("es", "Horario", "La tienda abre de lunes a viernes de 9 a 18 y los sábados de 10 a 14."),
    "es/envios": ("es", "Envíos", "Los paquetes llegan a Madrid en dos días y a las islas en cinco."),
    "es/devoluciones": ("es", "Devoluciones", "Devolvemos el dinero de cada pedido durante 30 días."),
}


def add(
    index: CompanyIndex,
    name: str,
    language: str,
    title: str,
    text: str,
    *,
    at: datetime = AT,
    asked: tuple[str, ...] = (),
) -> None:
    document = StemmedDocument(
        name, "answer" if asked else "site", title, f"https://a.example/{name}", language, "h", at, asked
    )
    index.put(document, [stemmed_passage(cut, title) for cut in passages([Block(text=text)])])


@pytest.fixture
def index() -> CompanyIndex:
    made = CompanyIndex()
    for name, (language, title, text) in SITE.items():
        add(made, name, language, title, text)
    return made


def found(
    index: CompanyIndex, text: str, *, synonyms: Synonyms | None = None, earlier: tuple[str, ...] = ()
) -> list[str]:
    return [hit.document.id for hit in index.search(parsed_question(text, earlier, None, synonyms), text, 5)]


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Do you refund my order?", "en/refunds"),
        ("when will the parcel reach madrid", "en/shipping"),
        ("¿a qué hora abren los sábados?", "es/horario"),
        ("a que hora abren los sabados", "es/horario"),
        ("cuándo llegan los paquetes a las islas", "es/envios"),
        ("shiping to madird", "en/shipping"),
        ("devolucines del dinero", "es/devoluciones"),
    ],
)
def test_the_page_that_tells_is_first_in_the_questions_language(index: CompanyIndex, question: str, page: str) -> None:
    assert found(index, question)[0] == page


def test_a_companys_synonym_finds_what_it_stands_for(index: CompanyIndex) -> None:
    assert "en/shipping" not in found(index, "courier")
    synonyms = Synonyms([["courier", "parcels", "delivery service"]])
    assert found(index, "courier", synonyms=synonyms)[0] == "en/shipping"
    assert found(index, "delivery service", synonyms=synonyms)[0] == "en/shipping"


def test_a_follow_up_is_understood_by_what_was_said_before(index: CompanyIndex) -> None:
    assert found(index, "and on Saturdays?", earlier=("when does the shop open?",))[0] == "en/hours"
    assert found(index, "¿y cuánto tarda?", earlier=("¿enviáis paquetes a Madrid?",))[0] == "es/envios"


def test_the_heading_of_a_passage_is_that_of_the_section_that_tells_most_of_the_question() -> None:
    told = {
        "How do I close my account?": "Write to us, and we close the account that you name within a week.",
        "How do I get a deposit back?": "It is paid back within five days.",
        "May I sublet?": "Only to somebody whom we know.",
    }
    index = CompanyIndex()
    blocks = [Block(headings=[name], anchor=f"q{n}", text=text) for n, (name, text) in enumerate(told.items())]
    index.put(
        StemmedDocument("faq", "site", "Questions", "https://a.example/faq", "en", "h", AT),
        [stemmed_passage(cut, "Questions") for cut in passages(blocks)],
    )
    for number in range(20):
        add(index, f"account-{number}", "en", "Accounts", f"How you write to us about account number {number}.")
    asked = "do you write to my account number about a deposit"
    (hit,) = [one for one in index.search(parsed_question(asked), asked, 30) if one.document.id == "faq"]
    assert hit.section.anchor == "q1"
    shown = passage(hit)
    assert (shown.url, shown.heading) == ("https://a.example/faq#q1", ["How do I get a deposit back?"])
    assert [one.url for one in shown.sections or ()] == [f"https://a.example/faq#q{n}" for n in range(3)]
    starts = [shown.text[one.start :].partition("\n")[0] for one in shown.sections or ()]
    assert starts == [f"## {name}" for name in told]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("where are you located?", "es/visita#0"),
        ("what is your address", "es/visita#0"),
        ("how do I get there?", "es/visita#1"),
        ("when can I come?", "es/visita#2"),
        ("¿dónde estáis?", "en/visit#0"),
        ("¿cuál es la dirección?", "en/visit#0"),
        ("¿cómo llego?", "en/visit#1"),
        ("¿cuándo puedo ir?", "en/visit#2"),
        ("¿quiénes sois?", "en/visit#3"),
        ("how do I sign up?", "es/visita#4"),
        ("¿cómo me apunto?", "en/visit#4"),
        ("¿y si no puedo ir?", "en/visit#5"),
        ("what if I cannot come?", "es/visita#5"),
        ("how much is it?", "es/visita#6"),
        ("¿cuánto vale?", "en/visit#6"),
    ],
)
def test_what_asks_for_a_place_or_a_time_finds_it_on_pages_in_the_other_language(question: str, place: str) -> None:
    """Those headings are all of words that tell nothing in a text."""
    texts = {
        "es": {
            "Dónde estamos": "Plaza Mayor 3.",
            "Cómo llegar": "Línea 4.",
            "Cuándo": "De 9 a 14.",
            "Quiénes": "Ana.",
            "Apuntarse": "Rellena el formulario.",
            "Cancelar": "Sin gastos.",
            "Tarifas": "20 euros.",
        },
        "en": {
            "Where we are": "3 Main Square.",
            "On foot": "From the station.",
            "When": "9 to 5.",
            "Who": "Ann.",
            "How to join": "Fill in the form.",
            "Cancelling": "Free of charge.",
            "Fees": "20 euros.",
        },
    }
    language = place[:2]
    index = CompanyIndex()
    add(index, "other", language, "Other", "Vasos. Cups.")
    page = place.partition("#")[0]
    blocks = [
        Block(headings=[name], anchor=str(n), text=text) for n, (name, text) in enumerate(texts[language].items())
    ]
    for block in blocks:
        about = StemmedDocument(f"{page}#{block.anchor}", "site", "x", None, language, "h", AT)
        index.put(about, [stemmed_passage(cut, "x") for cut in passages([block])])
    assert found(index, question)[0] == place


def test_the_score_says_how_much_of_the_question_is_there(index: CompanyIndex) -> None:
    def best(text: str) -> float:
        hits = index.search(parsed_question(text), text, 1)
        return hits[0].score if hits else 0.0

    assert best("refund order within 30 days") > 0.9
    assert best("do you sell unicorn saddles in Madrid") < 0.5
    assert best("xyzzy plugh") == 0.0


def test_of_two_alike_the_newer_one_comes_first_and_age_does_nothing_else() -> None:
    index = CompanyIndex()
    add(index, "old", "en", "Notice", "The lift is out of order.", at=AT)
    add(index, "new", "en", "Notice", "The lift is out of order!", at=AT + timedelta(days=1))
    add(index, "newest", "en", "Notice", "The lift was painted and looks rather nice now.", at=AT + timedelta(days=900))
    assert found(index, "is the lift out of order") == ["new", "old", "newest"]


def test_the_question_of_a_pair_is_answered_by_it_and_another_question_is_not(index: CompanyIndex) -> None:
    asked = ("Can I pay by bank transfer?", "Do you take wire transfers?")
    add(index, "pair", "en", asked[0], "Yes, to the account on the invoice.", asked=asked)
    for question in ("can i pay by bank transfer", "Do you take wire transfers??"):
        first = index.search(parsed_question(question), question, 3)[0]
        assert (first.exact, first.text) == (True, "Yes, to the account on the invoice.")
    for question in ("can I pay 2 invoices by bank transfer 3 times", "what is a bank?", "can i pay"):
        assert not any(hit.exact for hit in index.search(parsed_question(question), question, 3))


def test_what_was_replaced_or_taken_out_is_found_no_more(index: CompanyIndex) -> None:
    add(index, "en/refunds", "en", "Refunds", "We give vouchers.")
    index.drop("en/shipping")
    assert "en/refunds" not in found(index, "order within 30 days no questions asked")
    assert found(index, "vouchers")[0] == "en/refunds"
    assert "en/shipping" not in found(index, "parcels reach the islands")
    assert index.documents == len(SITE) - 1


def test_a_question_that_says_little_also_finds_how_the_first_page_begins(index: CompanyIndex) -> None:
    add(index, "es/index.html", "es", "Inicio", "Vendemos cestas de mimbre.")
    add(index, "en/index.html", "en", "Home", "We sell wicker baskets.")
    assert found(index, "so what do you do?")[-1] == "en/index.html"
    assert found(index, "¿a qué os dedicáis?")[-1] == "es/index.html"
    assert "en/index.html" not in found(index, "when will the parcel reach madrid")


def test_the_one_best_passage_is_what_was_found_and_not_how_the_first_page_begins(index: CompanyIndex) -> None:
    add(index, "en/index.html", "en", "Home", "We sell wicker baskets.")
    add(index, "en/zithers", "en", "Zithers", "A zither costs 90 €.")
    assert [hit.document.id for hit in index.search(parsed_question("zither"), "zither", 1)] == ["en/zithers"]


@pytest.mark.parametrize("question", ["¿a qué hora almorzamos?", "¿duermen dos?", "¿hay que recostarse?"])
def test_a_spanish_verb_is_found_in_its_forms_with_another_vowel(index: CompanyIndex, question: str) -> None:
    add(
        index,
        "es/cama",
        "es",
        "Camas",
        "En cada cama puede dormir una persona. Se almuerza a las dos. Uno se recuesta.",
    )
    assert found(index, question)[0] == "es/cama"
