"""Which answers are told as certain, which with a doubt, and what is said of words that no page has."""

from typing import Any

import pytest

from agent.domain.offline.answers import is_empty_answer, is_unknown, offers_person
from agent.domain.text_features import stem
from agent.testing.passages import answered, passage

RATES = (
    "| Boat | 2 hours | 1 day |\n| --- | --- | --- |\n| Canoe | 9 € | 30 € |\n| Rowing boat | 12 € | 41 € |\n"
    "| Pedal boat | 14 € | 45 € |"
)
WORKSHOP = "| Work | Price |\n| --- | --- |\n| New seat | 25 € |\n| Paint | 90 € |"
HARBOUR = [
    passage("Boat rental and rates", RATES, heading=["Rates"]),
    passage("Deposits", "A rowing boat needs a deposit of 100 €, which we give back in a day.", heading=["Deposit"]),
    passage("Workshop", WORKSHOP, heading=["Prices"]),
    passage("Courses for beginners", "Six evenings on the lake. It costs 80 €.", heading=["Beginners"]),
    passage("Find us", "Tram 5 to Lakeside, then four minutes on foot along the quay.", heading=["Getting here"]),
    passage("Around the lake", "The tram runs all night, and bicycles may be taken on it.", heading=["Good to know"]),
    passage("Hours", "From April to October 9:00-19:00. In August until 21:00.", heading=["Opening hours"]),
    passage("Child seats", "5 € a day", heading=["Child seat"]),
]


def said(question: str, *before: dict[str, Any]) -> str:
    return answered(question, HARBOUR, "en", *before)


def test_a_row_that_has_all_that_is_asked_is_no_guess() -> None:
    assert said("how much is it to rent a rowing boat for a day?") == "Rowing boat: 1 day 41 €. [1]"


def test_a_title_that_means_something_else_by_the_word_names_no_row() -> None:
    assert "New seat" not in said("how much is the course?")


def test_the_way_is_told_under_a_heading_that_asks_for_it() -> None:
    told = "Tram 5 to Lakeside, then four minutes on foot along the quay. [5]"
    assert [said(one) for one in ("how do I get there?", "how do I get there by tram?")] == [told, told]


def test_another_month_is_no_certain_answer() -> None:
    assert is_unknown(said("what are your opening hours in December?"))
    assert not is_unknown(said("what are your opening hours in August?"))


def test_a_price_alone_is_told_with_what_it_is_of() -> None:
    assert said("what does a child seat cost?") == "Child seat: 5 € a day. [8]"


@pytest.mark.parametrize(
    ("question", "word"), [("do you have a sauna?", "sauna"), ("is there a sandy Beach?", "Beach")]
)
def test_a_word_that_no_page_has_is_named(question: str, word: str) -> None:
    told = said(question)
    assert told.startswith(f"I do not know: I cannot find anything on the site about “{word}”.")
    assert is_empty_answer(told)
    again = said("and a helipad?", {"role": "user", "content": question}, {"role": "assistant", "content": told})
    assert again.startswith("I do not know that either: I cannot find anything on the site about “helipad”.")
    assert again.endswith("Would you like somebody from the team to take over? Say “yes” and I will ask them.")
    assert offers_person(again)


def test_days_are_no_kind_of_things_and_those_of_nothing_named_are_not_told() -> None:
    assert is_unknown(said("on which days are there shows?"))


def test_where_pages_are_in_another_language_no_word_is_said_to_be_nowhere() -> None:
    spanish = [passage("Entradas", "La taquilla abre una hora antes.", "es", heading=["Taquilla"])]
    assert "anything" not in answered("do you have a cloakroom?", spanish, "en")


def test_a_section_that_is_called_by_the_word_stands_before_one_that_mentions_it() -> None:
    boats = [
        passage("Dogs", "Yes, on the dog trailer, for 8 € a day.", heading=["Can I bring a dog?"]),
        passage("Extras", "12 € a day", heading=["Trailer"]),
    ]
    before = {"role": "user", "content": "how much is the canoe?"}, {"role": "assistant", "content": "Canoe: 9 €."}
    told = answered("and with a trailer?", boats, "en", *before)
    assert "12 € a day" in told
    assert is_unknown(told) or "8 €" not in told


def test_what_holds_in_one_month_is_no_certain_answer_to_a_question_for_none() -> None:
    hours = passage("Hours", "In August we are open only in the mornings, 9:00 to 14:00.", heading=["Hours"])
    assert is_unknown(answered("are you open in the mornings?", [hours], "en"))


def test_the_sections_of_a_page_that_begins_with_the_kind_are_its_members() -> None:
    text = "## El lago\n\nTres horas en canoa.\n\n## La isla\n\nCinco horas a vela.\n\n## Si llueve\n\nNo se sale."
    told = answered("¿Qué rutas hacéis?", [passage("Rutas guiadas en barca", text, "es")], "es")
    assert "El lago: Tres horas en canoa." in told
    assert "La isla: Cinco horas a vela." in told


def test_what_pays_is_told_by_what_may_be_paid_with() -> None:
    spanish = [passage("Entradas", "Se puede pagar con tarjeta o en efectivo.", "es", heading=["Taquilla"])]
    assert answered("can I pay by card?", spanish, "en").startswith("Se puede pagar con tarjeta o en efectivo.")


def test_a_courses_plural_is_the_same_word() -> None:
    pairs = (("course", "courses"), ("house", "houses"), ("clase", "clases"), ("autobus", "autobuses"))
    assert all(stem(pair) == stem(several) for pair, several in pairs)
    # The changed vowel of a verb makes no other noun of a word of grammar.
    assert stem("luego") != stem("logo")
    assert stem("bueno") != stem("bono")


def test_a_greeting_before_a_question_is_no_part_of_it() -> None:
    assert said("Good morning, what does a child seat cost?") == said("what does a child seat cost?")


def test_a_certain_sentence_is_quoted_with_its_paragraph_and_an_item_with_its_list_of_cases() -> None:
    booking = "Lessons have to be booked a day ahead. In summer it is a week.\n\nWe have ponies."
    cases = "- More than ten days before: all is refunded.\n- Later: half is refunded.\n- On the day: no refund."
    found = [passage("Lessons", booking, heading=["Lessons"]), passage("Cancelling", cases, heading=["Cancelling"])]
    told = answered("how far ahead do I have to book lessons?", found, "en")
    assert told == "Lessons have to be booked a day ahead. In summer it is a week. [1]"
    told = answered("I cancel in eight days, do I get my money back?", found, "en")
    assert not is_unknown(told)
    assert all(one in told for one in ("More than ten", "Later", "On the day"))


def test_a_list_below_an_uncertain_sentence_is_quoted_with_it() -> None:
    papers = "The tax is due in six months. The papers that are needed:\n\n- Death certificate\n- Bank statement"
    told = answered(
        "which papers for the probate?", [passage("Estates", papers, heading=["Estates"], near=[0.3])], "en"
    )
    assert is_unknown(told)
    assert "Bank statement" in told


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("do you have whatsapp?", "We do not answer on WhatsApp. [1]"),
        ("where are you?", "The school, 14 Place de l'Église, 73480 Saint-Aubin. [2]"),
        ("who pays the costs of the loan?", "The costs of the loan are paid by the bank. [3]"),
    ],
)
def test_another_shape_than_the_one_asked_for_is_no_certain_answer(question: str, answer: str) -> None:
    found = [
        passage("Contact", "Telephone 555 014 322.\n\nWe do not answer on WhatsApp.", heading=["Contact"]),
        passage("Find us", "The school, 14 Place de l'Église, 73480 Saint-Aubin.", heading=["Find us"]),
        passage("Costs", "The buyer pays the costs of Registry.\n\nThe costs of the loan are paid by the bank."),
    ]
    assert answered(question, found, "en") == answer


def test_papers_that_are_needed_are_no_list_of_all_papers() -> None:
    prices = "| Documento | Precio |\n| --- | --- |\n| Poder | 65 € |\n| Acta | 55 € |"
    found = [
        passage("Tarifas", prices, "es", heading=["Tarifas"]),
        passage("Herencias", "Para una herencia hacen falta el DNI y el testamento.", "es", heading=["Herencias"]),
    ]
    assert "el DNI" in answered("que documentos hacen falta para la herencia", found, "es")


def test_how_much_it_is_after_two_quoted_sections_is_of_what_was_asked_before() -> None:
    rows = "".join(
        f"\n| {name} | {price} € |" for price, name in enumerate(("Will", "Deed", "Loan", "Lease", "Sale"), 60)
    )
    prices = f"| Paper | Price |\n| --- | --- |{rows}\n| Signature | 12 € |"
    asking = "Yes, unless only a signature is to be certified."
    found = [passage("Fees", prices, heading=["Fees"]), passage("FAQ", asking, heading=["Is a visit booked?"])]
    said = (
        "I am not sure this answers your question. The site says:\n"
        f"- Is a visit booked?: {asking} [2]\n"
        "- Fees: Will: Price 60 €; Deed: Price 61 €; Loan: Price 62 €; Signature: Price 12 € [1]"
    )
    before = [{"role": "user", "content": "for a signature?"}, {"role": "assistant", "content": said}]
    assert answered("how much is it", found, "en", *before) == "Signature: Price 12 €. [1]"


def test_how_many_there_are_is_told_by_their_number_and_not_by_their_prices() -> None:
    prices = passage("Prices", "| Item | Night |\n| --- | --- |\n| Pitch with power (10 A) | 19 € |\n| Pitch | 14 € |")
    rules = passage("Rules", "# Rules\n\n- A pitch takes six people.\n- Dogs are kept on a lead.")
    lake = passage("Lake", "# By the lake\n\nThe site has 120 pitches near the lake. We open at Easter.")
    said = answered("how many pitches do you have?", [prices, rules, lake], "en")
    assert said.startswith("The site has 120 pitches near the lake.")


def test_a_complete_question_is_of_nothing_that_was_asked_before() -> None:
    site = [
        passage(
            "Rules",
            "# Cancelling\n\nWho cancels three days before gets no money back.\n\n"
            "# Rules\n\nCampfires are never allowed.",
        ),
        passage("Refunds", "# Refunds\n\nMoney is sent back within three days."),
    ]
    before = (
        {"role": "user", "content": "can i get my money back if i cancel 3 days before?"},
        {"role": "assistant", "content": "Who cancels three days before gets no money back. [1]"},
    )
    assert answered("are campfires allowed?", site, "en", *before) == answered("are campfires allowed?", site, "en")


def test_a_price_right_after_what_this_is_is_any_of_the_site() -> None:
    site = [
        passage("a", "# Welcome\n\nWe are a school of weaving, for adults and children."),
        passage("Prices", "# Prices\n\n| Class | Month |\n| --- | --- |\n| Loom | 70 € |\n| Basket | 40 € |"),
    ]
    first = {"role": "user", "content": "Hi! What exactly is this?"}
    told = answered("Hi! What exactly is this?", site, "en")
    assert told == "We are a school of weaving, for adults and children. [1]"
    said = answered("and how much is it?", site, "en", first, {"role": "assistant", "content": told})
    assert said == "Loom: Month 70 €. Basket: Month 40 €. [2]"


def test_what_is_only_mentioned_is_not_sold() -> None:
    site = [passage("Lessons", "# Lessons\n\nDrums start at eight years; piano, guitar and strings at six.")]
    assert is_unknown(answered("do you sell guitar strings?", site, "en"))
    shop = [passage("Shop", "# Shop\n\nGuitar strings cost 9 € a set.")]
    assert answered("do you sell guitar strings?", shop, "en") == "Guitar strings cost 9 € a set. [1]"


def test_how_old_is_carried_to_what_is_asked_next() -> None:
    site = [
        passage("Lessons", "# Lessons\n\nWe teach drums, flute and oboe."),
        passage("Beginners", "# Beginners\n\nDrums start at the age of eight."),
    ]
    before = (
        {"role": "user", "content": "at what age can you start with drums?"},
        {"role": "assistant", "content": "Drums start at the age of eight. [1]"},
    )
    assert is_unknown(answered("and with the oboe?", site, "en", *before))


def test_what_follows_in_a_long_paragraph_is_told_with_what_was_chosen() -> None:
    told = (
        "Cancelling is free of charge up to 10 days before the date. Between 9 and 3 days before, the deposit is lost. "
        "2. Valuables The customer carries money, jewels and documents without our help, and we ask everybody to keep "
        "them apart before the lorry comes. For each day of delay 5 % of the price is taken off, 20 % at most, unless "
        "snow or a strike has closed the road that we have to take."
    )
    answer = answered("can I cancel 5 days before?", [passage("Terms 2026", told)], "en")
    assert "Between 9 and 3 days before, the deposit is lost. 2. Valuables The customer" in answer
    assert "unless snow" not in answer


def test_another_number_of_the_things_asked_for_is_no_certain_answer() -> None:
    costs = [passage("What it costs", "A two-bedroom flat costs 490 € without packing.")]
    assert answered("how much is a two bedroom flat?", costs, "en").startswith("A two-bedroom flat")
    assert is_unknown(answered("how much is a flat with three bedrooms?", costs, "en"))


def test_beside_an_uncertain_answer_stands_the_section_that_names_what_it_lacks() -> None:
    pets = passage("Pets", "Plants yes, without guarantee. Pets do not travel in the lorry.")
    terms = passage("Terms", "The customer carries money, jewels and documents.")
    assert "jewels" in answered("can I put jewels in the lorry?", [pets, terms], "en")


def test_how_long_something_is_for_is_nothing_that_is_missing() -> None:
    store = passage("Storage", "The boxes have an alarm and cameras.")
    assert "“year”" not in answered("do you store things for a year?", [store], "en")


DESKS = [
    passage(
        "Desks",
        "## Open desk\n\nAny free one, on working days. 160 € a month.\n\n"
        "## Fixed desk\n\nYours day and night. 260 € a month.",
    ),
    passage(
        "Questions", "Yes, with a fixed desk, or else for 35 € a month.", heading=["Can our company have the address?"]
    ),
    passage("Weekends", "On Saturday and Sunday we are closed.", heading=["Do you open at weekends?"]),
]


def test_the_section_of_what_is_asked_is_told_for_certain_though_another_mentions_it_with_a_price() -> None:
    assert answered("how much is a fixed desk?", DESKS, "en").startswith("Fixed desk: Yours day and night. 260 €")


def test_which_of_two_that_were_spoken_of_is_cheaper_is_told_by_both() -> None:
    asked = [("how much is a fixed desk?", "Yours day and night. 260 € a month. [1]"),
             ("and the open desk?", "Any free one, on working days. 160 € a month. [1]")]  # fmt: skip
    before = [
        {"role": role, "content": text}
        for pair in asked
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    told = answered("which one is cheaper?", DESKS, "en", *before)
    assert not is_unknown(told)
    assert "260 €" in told
    assert "160 €" in told


def test_that_it_is_closed_at_times_is_no_certain_hour() -> None:
    assert is_unknown(answered("what time do you open?", DESKS, "en"))


@pytest.mark.parametrize(
    ("question", "certain"), [("in July", True), ("in December", False), ("in April", True), ("in November", False)]
)
def test_a_month_between_those_that_are_named_is_told(question: str, certain: bool) -> None:
    assert is_unknown(said(f"what are your opening hours {question}?")) is not certain


def test_months_are_counted_over_the_end_of_the_year() -> None:
    winter = [passage("Horario", "De noviembre a marzo, de 10:00 a 14:00.", "es", heading=["Horario"])]
    assert [is_unknown(answered(f"¿a qué hora abrís en {month}?", winter, "es")) for month in ("enero", "junio")] == [
        False,
        True,
    ]


def test_a_row_with_what_is_asked_for_is_not_overruled_by_a_section_without_it() -> None:
    seats = [
        passage(
            "Guarantee",
            "Ten years, if it is seen to each spring.",
            heading=["What guarantee does a seat have?"],
            near=[0.19],
        ),
        passage("Workshop", WORKSHOP.replace("New seat", "Seat with cover"), heading=["Prices"]),
    ]
    assert answered("how much is a seat", seats, "en") == "Seat with cover: Price 25 €. [2]"


def test_a_day_is_that_day_in_the_other_language() -> None:
    spanish = [
        passage("Horario", "| Día | Horario |\n| --- | --- |\n| Viernes | 9:00 a 15:00 |\n| Sábados | 10:00 a 13:00 |\n"
                "| Domingos | cerrado |", "es", heading=["Horario"])
    ]  # fmt: skip
    assert answered("are you open on Saturdays?", spanish, "en").startswith("Sábados: ")


def test_a_delay_is_told_as_one() -> None:
    late = [
        passage("Terms", "You pay 20 % to book.", heading=["Booking"]),
        passage("Terms", "Each hour of delay costs 5 €.", heading=["Delays"]),
    ]
    assert answered("what if I arrive an hour late?", late, "en").startswith("Each hour of delay costs 5 €.")


def test_what_is_about_something_else_altogether_is_shown_nothing() -> None:
    assert is_empty_answer(told := answered("who won the marathon?", DESKS, "en"))
    assert "[" not in told


def test_what_costs_more_is_told_by_the_rows_of_those_kinds() -> None:
    prices = "| Boat | Price |\n| --- | --- |\n| Wooden canoe | 2,100 € |\n| Rubber raft | 3,400 € |\n| Paddle | 60 € |"
    found = [
        passage("Prices", prices),
        passage("Boats", "We mend each canoe and raft. It takes a year.", heading=["Mending"]),
    ]
    told = answered("what is more expensive, a canoe or a raft?", found, "en")
    assert "3,400 €" in told
    assert "a year" not in told


def test_the_cheapest_is_of_the_table_that_was_spoken_of() -> None:
    bikes = "| Bike | Day |\n| --- | --- |\n| Town | 12 € |\n| Mountain | 20 € |\n| Child | 9 € |"
    found = [passage("Bikes", bikes)]
    before = (
        {"role": "user", "content": "and the mountain one?"},
        {"role": "assistant", "content": "Mountain: Day 20 €. [1]"},
    )
    assert answered("which is the cheapest?", found, "en", *before) == "Child: Day 9 €. [1]"
