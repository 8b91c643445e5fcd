"""The assistant without a model and the company's knowledge: the sentence or row that answers, cited, or that it is not
told."""

import json
from typing import Any

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.assistant import MAX_COMPARED_CHARACTERS, respond
from agent.domain.offline.step_results import SayText, UseTools
from agent.testing.passages import answered, passage
from contracts.knowledge import KnowledgeFound, Passage

SHED = (
    "The {name} shed is made of larch.\n\n"
    "| Fact | Value |\n| --- | --- |\n| Price | {price} € |\n| Weight | {weight} kg |"
)


SHEDS = [
    passage("Shed S-20", SHED.format(name="S-20", price=310, weight=90)),
    passage("Shed S-30", SHED.format(name="S-30", price=420, weight=120)),
    passage("Caseta S-30", "La caseta S-30 cuesta 420 € y es de alerce.", "es"),
    passage("Opening", "We close in August.\n\n## Hours\n\n| Day | Opens |\n| --- | --- |\n| Monday | 9:00 |"),
    passage("Returns", "You may return a shed within 14 days, unassembled.", heading=["Returns"]),
]


def said(question: str, language: Any = "en", found: list[Passage] | None = None, *before: dict[str, Any]) -> str:
    return answered(question, SHEDS if found is None else found, language, *before)


def test_the_same_page_at_two_addresses_is_read_once() -> None:
    home, index = (passage("Sheds", "Our sheds stand snow.", url=f"https://x.test/{at}") for at in ("", "index.html"))
    once = [home, passage("Roofs", "Roofs stand wind.")]
    asked = "are roofs of sheds safe?"
    assert said(asked, "en", [*once, index]) == said(asked, "en", once)


@pytest.mark.parametrize(
    ("question", "language", "answer"),
    [
        ("How much is the S-30?", "en", "Price: Value 420 €. [2]"),
        ("weight of shed s-20", "en", "Weight: Value 90 kg. [1]"),
        ("¿cuánto cuesta la caseta S-30?", "es", "La caseta S-30 cuesta 420 € y es de alerce. [3]"),
        ("what time do you open on Monday?", "en", "Monday: Opens 9:00. [4]"),
        ("can I return my shed?", "en", "You may return a shed within 14 days, unassembled. [5]"),
        ("until when may I retrun a shed", "en", "You may return a shed within 14 days, unassembled. [5]"),
    ],
)
def test_the_sentence_or_row_that_answers_is_cited_by_its_number(question: str, language: str, answer: str) -> None:
    assert said(question, language) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("¿cuánto cuesta cortar las uñas?", "Cortar las uñas cuesta 8 € y no hace falta cita. [2]"),
        ("cuanto cuesta cortar las unas", "Cortar las uñas cuesta 8 € y no hace falta cita. [2]"),
        ("cortais unas?", "Cortar las uñas cuesta 8 € y no hace falta cita. [2]"),
        ("¿tenéis té?", "El té con leche cuesta 2 €. [3]"),
        ("cuanto cuesta el te", "El té con leche cuesta 2 €. [3]"),
    ],
)
def test_a_noun_that_is_no_word_of_grammar_but_for_its_accent_is_found(question: str, answer: str) -> None:
    dogs = "| Tamaño | Baño y corte |\n| --- | --- |\n| Mini | 30 € |\n| Grande | 55 € |"
    found = [
        passage("Perros", dogs, "es", heading=["Perros"]),
        passage("Nails", "Cortar las uñas cuesta 8 € y no hace falta cita.", "es", heading=["Uñas"]),
        passage("Tea", "El té con leche cuesta 2 €.", "es", heading=["Té"]),
    ]
    assert said(question, "es", found) == answer


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("how much is the S-90?", "en"),
        ("what colour is the S-30?", "en"),
        ("do you sell greenhouses?", "en"),
        ("¿vendéis piscinas?", "es"),
        ("who is the manager?", "en"),
    ],
)
def test_what_no_passage_tells_is_not_told(question: str, language: str) -> None:
    assert is_unknown(said(question, language))


def test_where_nothing_answers_what_comes_nearest_is_quoted_as_no_more_than_that() -> None:
    told = said("what colour is the S-20?", "en", SHEDS)
    assert is_unknown(told)
    assert "I am not sure" in told
    assert "Under “Shed S-20” the site says: The S-20 shed is made of larch. [1]" in told
    again = {"role": "assistant", "content": told}
    second = said("what colour is the S-20?", "en", SHEDS, {"role": "user", "content": "what colour is it?"}, again)
    assert "Would you like somebody from the team to take over?" in second


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("what colour is the kayak?", ()),
        ("do you sell kayaks?", ("how much is the S-20?",)),
    ],
)
def test_nothing_is_quoted_to_a_question_of_which_no_word_stands_anywhere(
    question: str, before: tuple[str, ...]
) -> None:
    told = said(question, "en", SHEDS, *({"role": "user", "content": one} for one in before))
    assert told.startswith("I do not know")
    assert "[" not in told


def test_what_goes_on_from_a_question_is_answered_where_that_one_is() -> None:
    diets = passage("Diets", "Tell us about allergies to gluten a week before.", heading=["Diets"])
    asked = {"role": "user", "content": "do you have something without gluten?"}
    assert "Tell us about allergies" in said("what about nuts?", "en", [diets, *SHEDS], asked)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("tiene cocina el bungalo?", "Los bungalows tienen cocina. [6]"),
        ("se dejan las llaves en recep?", "Las llaves se dejan en recepción. [7]"),
    ],
)
def test_a_word_that_is_misspelt_or_cut_short_at_its_end_is_found(question: str, answer: str) -> None:
    lodging = passage("Alojamiento", "Los bungalows tienen cocina.", "es")
    keys = passage("Salida", "Las llaves se dejan en recepción.", "es")
    assert said(question, "es", [*SHEDS, lodging, keys]) == answer


def test_a_section_is_also_found_by_the_headings_above_its_own() -> None:
    text = "## Pool\n\nOpen from 11:00 to 20:00.\n\n## Restaurant\n\n### Dinner\n\nfrom 20:30 to 23:00"
    sheds = [passage("Services", text), *SHEDS]
    assert said("when does the restaurant open?", "en", sheds) == "Dinner: from 20:30 to 23:00. [1]"


@pytest.mark.parametrize("question", ["what if i cant come in the end", "and when we can't make it?"])
def test_who_cannot_come_is_told_how_to_cancel(question: str) -> None:
    cancelling = passage("Terms", "If you cancel 30 days ahead, we refund everything.", heading=["Cancelling"])
    assert "we refund everything" in said(question, "en", [*SHEDS, cancelling])


def test_somebodys_age_is_asked_of_what_was_spoken_of() -> None:
    surfing = passage("Surf", "Una clase cuesta 35 €. A partir de 7 años.", "es", heading=["Surf"])
    prices = passage("Tarifas", "| Concepto | Precio |\n| --- | --- |\n| Niño (3-11 años) | 4 € |", "es")
    before = said("¿cuánto cuesta el surf?", "es", [surfing, prices])
    history = ({"role": "user", "content": "¿cuánto cuesta el surf?"}, {"role": "assistant", "content": before})
    assert "A partir de 7 años." in said("mi hija tiene 6 años puede?", "es", [surfing, prices], *history)


TUNING = [
    passage("Prices", "| Job | Price |\n| --- | --- |\n| Tuning | 80 € |"),
    passage("Care", "## How often does a piano need tuning?\n\nTwice a year."),
    passage("Moving", "## Upright pianos\n\nWe move a piano for 200 €.\n\n## Grand pianos\n\nWe move it for 400 €."),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how much is the tuning?", "Tuning: Price 80 €. [1]"),
        ("do you move pianos?", "We move a piano for 200 €. [3]"),
        ("do you move the first piano for free?", "I am not sure"),
        ("how much is the tuning of a 1934?", "I am not sure this answers your question. Under “Prices” the"),
        (
            "how much is the tuning in Oslo?",
            "I do not know for certain: I cannot find a clear answer on the site. This comes closest: Prices: ",
        ),
    ],
)
def test_an_answer_is_for_certain_where_it_has_every_word_and_no_other_section_tells_as_much(
    question: str, answer: str
) -> None:
    assert said(question, "en", TUNING).startswith(answer)


def test_an_item_stands_with_the_short_heading_that_says_what_its_list_is_of() -> None:
    rules = passage("Rules", "## Not allowed\n\n- Petrol and paint\n- Candles")
    assert said("can I bring paint?", "en", [rules, *SHEDS]) == "Not allowed: Petrol and paint. [1]"
    assert said("can I bring my pet?", "en", [rules, *SHEDS]).startswith("I do not know: ")


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("how much is it for my son, he is 6?", "Child 4–15: Fee 5 €. [1]"),
        ("my mother is 70 years old, what does she pay?", "Over 65: Fee 7 €. [1]"),
    ],
)
def test_a_row_for_another_age_is_no_answer(question: str, row: str) -> None:
    table = "| Who | Fee |\n| --- | --- |\n| Child 4–15 | 5 € |\n| Over 65 | 7 € |\n| Under 4 | 0 € |"
    assert row in said(question, "en", [passage("Fees", table), *SHEDS])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("can the tuner of harps varnish or polish a violin?", "I am not sure this answers your question."),
        ("do you have a tuner of harps for polished varnished violins?", "I do not know for certain: "),
    ],
)
def test_what_is_done_is_told_in_other_words_and_what_is_not_named_is_not_there(question: str, answer: str) -> None:
    assert said(question, "en", [passage("Paying", "The tuner of harps comes within a week."), *SHEDS]).startswith(
        answer
    )


def test_the_second_miss_offers_a_person_by_itself_and_a_yes_is_for_them() -> None:
    first = said("do you sell greenhouses?")
    before = [{"role": "user", "content": "do you sell greenhouses?"}, {"role": "assistant", "content": first}]
    second = said("and swimming pools?", "en", None, *before)
    assert "Would you like somebody from the team to take over?" in second
    more = [*before, {"role": "user", "content": "and swimming pools?"}, {"role": "assistant", "content": second}]
    assert "Talk to a person" in said("yes", "en", None, *more)


def test_what_comes_nearest_to_a_question_for_a_price_shows_one() -> None:
    school = passage("Join the pottery school", "A pottery school with six teachers and much clay.", "en")
    voucher = passage("Vouchers", "Ten afternoons of pottery for 90 €.", "en")
    answer = said("how much does joining your pottery school cost?", "en", [school, voucher])
    assert "90 €" in answer
    assert "clay" not in answer


def test_of_a_long_message_no_more_is_compared_with_the_pages_than_of_another() -> None:
    asked = "What does the Pro plan cost? ".ljust(MAX_COMPARED_CHARACTERS)
    assert said(f"{asked} Do you sell submarines, hats, lamps, chairs and pianos?") == said(asked)


def test_a_pair_is_used_word_by_word() -> None:
    pair = passage("Greenhouses", "No. But our sister company *does*!", source="answer", url=None, exact=True)
    assert said("do you sell greenhouses?", "en", [*SHEDS, pair]) == "No. But our sister company *does*! [6]"


def test_a_page_in_another_language_answers_where_there_is_none_in_the_questions_own() -> None:
    assert said("¿cuánto es el precio de la S-20?", "es", SHEDS[:1]) == "Price: Value 310 €. [1]"
    assert is_unknown(said("¿quién fundó esto?", "es", [passage("Funds", "We trade funds.")])), "alike by chance"


def test_a_follow_up_is_about_what_was_asked_before() -> None:
    before = {"role": "user", "content": "do you have the shed S-20?"}
    answer = {"role": "assistant", "content": "The S-20 shed is made of larch. [1]"}
    assert said("and how much is it?", "en", SHEDS[:2], before, answer).startswith("Price: Value 310 €.")


def test_what_a_visitor_may_not_do_is_answered_where_the_site_tells_of_it() -> None:
    told = passage("Guide", "An alert fires once, when its condition becomes true.")
    assert said("how do alerts work: does my alert fire once?", "en", [told]).startswith("An alert fires once")


def test_a_company_whose_knowledge_is_empty_is_answered_from_its_pages() -> None:
    empty = KnowledgeFound()
    response = respond([{"role": "user", "content": "sheds?"}], ("fetch_page",), "en", knowledge=empty)
    assert isinstance(response, UseTools)


def test_what_says_it_itself_goes_before_what_only_stands_under_its_name() -> None:
    plans = "Change from any plan to Free whenever you like.\n\n## Pro\n\n- Everything in Free"
    assert "says: Change from any plan" in said("can I change from Pro to Free?", "en", [passage("Plans", plans)])


MEMBERS = passage(
    "Membership", "## Friend\n\n- 20 EUR a year\n\n## Member\n\n- Everything in Friend\n- A rack for your own boat"
)
SOCIOS = passage("Socios", "## Amigo\n\n- 20 EUR al año\n\n## Socio\n\n- Todo lo de Amigo\n- 150 EUR al año", "es")
CHANGES = passage("Rules", "You may switch cabins before noon. You may change your booking.")
LESSONS = passage("Cursos", "## Iniciación\n\n- Dos mañanas, sábado y domingo", "es")
OPEN = "Abrimos de martes a viernes de 10:00 a 18:00 y los fines de semana de 9:00 a 20:00."


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("can I switch from Member to Friend?", "en", [MEMBERS]),
        ("can I switch from Member to Friend?", "en", [MEMBERS, CHANGES]),
        ("may we change from Member to Friend later on?", "en", [MEMBERS, CHANGES]),
        ("¿puedo pasar de Socio a Amigo?", "es", [SOCIOS]),
        ("what's the phone number?", "en", [passage("Home", "- Rental\n- Contact\n- FAQ")]),
        ("what's the phone number?", "en", [passage("Home", "Brasa, Viana. Tax number PT 509 000 111.")]),
        ("¿a qué hora cerráis el sábado?", "es", [LESSONS]),
        ("what time is the rolling lesson?", "en", [passage("Rolling", "The rolling lesson is on Friday.")]),
    ],
)
def test_what_shares_words_with_a_question_and_does_not_tell_what_it_asks_is_no_answer(
    question: str, language: str, found: list[Passage]
) -> None:
    assert is_unknown(said(question, language, found))


@pytest.mark.parametrize(
    ("question", "language", "found", "answer"),
    [
        ("¿a qué hora cerráis el sábado?", "es", [LESSONS, passage("Horario", OPEN, "es")], f"{OPEN} [2]"),
        ("what time is the rolling lesson?", "en", [passage("R", "The rolling lesson is at 7 pm.")], "The rolling"),
        ("what's the phone number?", "en", [passage("Contact", "Write, or ring +351 258 555 014.")], "Write, or ring"),
        ("are you shut on Mondays?", "en", [passage("Hours", "We are closed on Mondays.")], "We are closed"),
        (
            "are you open in March?",
            "en",
            [passage("H", "Open in May."), passage("S", "We open on 27 March.")],
            "We open",
        ),
        (
            "are you open on Sundays?",
            "en",
            [passage("H", "| Day | Open |\n| --- | --- |\n| Friday | 9:00–12:00 |\n| Monday | 8:00–9:00 |")],
            "Friday: Open 9:00–12:00. Monday",
        ),
        ("¿cuánto es la cuota de socio?", "es", [SOCIOS], "150 EUR al año"),
        ("¿me das el número de teléfono?", "es", [passage("C", "Llama al +351 258 555 014.", "es")], "Llama al"),
        (
            "are you open on Mondays?",
            "en",
            [passage("H", "| Day | Opens | Closes |\n| --- | --- | --- |\n| Monday | closed | closed |")],
            "Monday: closed. [1]",
        ),
        ("can I pay with a credit card?", "en", [passage("Desk", "We accept every credit card.")], "We accept every"),
    ],
)
def test_a_question_is_answered_by_what_it_asks_for(
    question: str, language: str, found: list[Passage], answer: str
) -> None:
    assert said(question, language, found).startswith(answer)


def test_how_long_of_what_was_asked_before() -> None:
    jobs = passage("Taller", "| Trabajo | Plazo |\n| --- | --- |\n| Hebilla | 3 días |\n| Tacón | 1 día |", "es")
    before = [{"role": "user", "content": "¿cambiáis la hebilla?"}, {"role": "assistant", "content": "Sí"}]
    assert said("¿cuánto tardáis?", "es", [jobs], *before) == "Hebilla: Plazo 3 días. [1]"


def test_what_looks_like_a_button_is_no_answer() -> None:
    home = passage("Northlight", "Northlight Studio\n\nNorthlight is a pottery school.\n\nSee dates")
    assert said("what is northlight?", "en", [home]) == "Northlight is a pottery school. [1]"


def test_a_manual_in_a_language_is_no_translation_of_the_first_page() -> None:
    links = [{"path": "/manual", "text": "Manual", "language": "en"}]
    home = {"url": "https://x.test/", "title": "Home", "text": "We make sheds by hand.", "links": links}
    call = {"id": "c", "function": {"name": "fetch_page", "arguments": json.dumps({"path": "/"})}}
    messages = [
        {"role": "user", "content": "What is this?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(home)},
    ]
    response = respond(messages, ("fetch_page",), "en", introduced=True)
    assert response == SayText("We make sheds by hand. (Source: Home, https://x.test/)")


def test_a_long_message_costs_little_to_understand() -> None:
    text = "what about " + "the marvellous antelope quickly sitting " * 200
    assert is_unknown(said(text))
