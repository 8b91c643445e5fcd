"""An answer about another case is no certain one; and what the cheapest and the dearest hold."""

from collections.abc import Sequence

import pytest

from agent.domain.offline.answers import is_unknown
from agent.testing.passages import answered, passage
from contracts.knowledge import Passage
from contracts.languages import Language

CLUB = (
    "| Card | Quay | Harbour | Fleet |\n| --- | --- | --- | --- |\n| Price a month | 9 € | 15 € | 31 € |\n"
    "| Winter storage | no | yes | yes |\n| Guests | 0 | 2 | 6 |"
)
TOURS = (
    "| Tour | Price | Crew |\n| --- | --- | --- |\n| Bay | 90 € | 1 sailor |\n| Island | 140 € | 1 sailor |\n"
    "| Night | 180 € | 2 sailors |\n| Two days | 420 € | 3 sailors |\n| Diving boat course | 60 € | 1 sailor |"
)
YARD = [
    passage("Membership", CLUB),
    passage("Tours", TOURS),
    passage("Before the trip", "No fuel within an hour of the trip; drink water.", heading=["Getting ready"]),
    passage("Terms", "Come another day, or we give it back.", heading=["If you cannot sail"]),
    passage("Diving lessons", "Every Monday at 18:00. Four evenings cost 75 €.", heading=["Diving lessons"]),
    passage("Vouchers", "A voucher comes in a box and is valid for a year.", heading=["Vouchers"]),
    passage("Lockers", "Lockers for guests are beside the crane.", heading=["Lockers"]),
]


def said(*questions: str) -> str:
    """The answer to the last of these."""
    before: list[dict[str, str]] = []
    for question in questions[:-1]:
        told = answered(question, YARD, "en", *before)
        before += [{"role": "user", "content": question}, {"role": "assistant", "content": told}]
    return answered(questions[-1], YARD, "en", *before)


@pytest.mark.parametrize(
    "questions",
    [
        ["do you sell fuel?"],
        ["what happens to my fuel if I leave?"],
        ["what happens if I sail late?"],
        ["and the day after?"],
        ["is a voucher valid for a year?", "are those beside the crane?"],
        ["is a voucher valid for a year?", "is it beside the crane?"],
    ],
)
def test_what_is_told_of_another_case_is_doubted(questions: Sequence[str]) -> None:
    assert is_unknown(said(*questions))


def test_whoever_says_the_same_of_it_is_answered() -> None:
    assert not is_unknown(said("what if I cannot sail?"))
    assert not is_unknown(said("are there lockers for guests?"))


def test_a_section_that_is_called_what_is_asked_for_stands_before_a_row_that_means_it() -> None:
    told = said("what do diving lessons cost?")
    assert "75 €" in told
    assert not told.startswith("Diving boat course")


def test_rows_that_tie_are_told_together() -> None:
    assert said("how many sailors are there?").count("sailor") == len(TOURS.splitlines()) - 2


@pytest.mark.parametrize(
    ("questions", "told", "left_out"),
    [
        (["what's in the cheapest card?"], ["Quay 9 €", "Winter storage: Quay no", "Guests: Quay 0"], ["Fleet"]),
        (["whats in the cheap card", "and the expensive one"], ["Fleet 31 €", "Guests: Fleet 6"], ["Quay"]),
        (["what is in the Harbour card?"], ["Winter storage: Harbour yes"], ["Fleet", "Quay"]),
        (["which card is the cheapest?"], ["Price a month: Quay 9 €"], ["Fleet", "storage"]),
    ],
)
def test_the_cheapest_of_a_tables_columns_with_what_it_holds(
    questions: Sequence[str], told: Sequence[str], left_out: Sequence[str]
) -> None:
    answer = said(*questions)
    assert all(one in answer for one in told)
    assert not any(one in answer for one in left_out)


def test_what_the_cheapest_holds_is_its_section() -> None:
    plans = [
        passage("Plans", "The Sail plan costs 4 € a month.\n\n- One boat", heading=["Sail"]),
        passage("Plans", "The Motor plan costs 40 € a month.\n\n- Ten boats", heading=["Motor"], id="Motor"),
    ]
    assert "One boat" in answered("what's included in the cheapest plan?", plans, "en")
    assert "Ten boats" in answered("what do I get with the Motor plan?", plans, "en")


def test_he_of_whom_nothing_was_said_is_no_reason_for_silence() -> None:
    club = [passage("Leaving", "If a member dies, the contract ends at once.", heading=["Leaving the club"])]
    assert "ends at once" in answered("what if he dies?", club, "en")


def test_sunday_is_not_saturday() -> None:
    found = [passage("Market", "On Saturdays there is a market with 40 stalls.", heading=["Market"])]
    assert is_unknown(answered("is there a market on Sunday?", found, "en"))
    assert not is_unknown(answered("is there a market on Saturday?", found, "en"))


def test_what_stands_in_a_condition_alone_is_not_told() -> None:
    dogs = passage("Dogs", "Dogs may come on Fridays, if they are quiet and on a lead.")
    assert is_unknown(answered("is it quiet?", [dogs], "en"))
    assert answered("what if a dog is not on a lead?", [dogs], "en").startswith("Dogs may come")


PLANS = "| Plan | Plan Cachorro | Plan Senior |\n| --- | --- | --- |\n| Cuota | 24 € | 29 € |\n| Edad | 1 año | 8 |"
BOARDING = passage("Residencia", "| Animal | Precio |\n| --- | --- |\n| Gato | 14 € |\n| Perro | 18 € |", "es")
DOGS = passage("Mascotas", "Se admiten perros pequeños por 10 € la noche.", "es")
COVER = passage("Seguro", "El seguro contra pérdida cuesta 60 € al año por audífono.", "es")
INSURANCE = passage("Insurance", "Insurance costs £1 a week for each room.")
MASSAGES = passage("Massage", "| Massage | 30 minutes | 60 minutes |\n| --- | --- | --- |\n| Relaxing | €38 | €65 |")
LESSONS = passage("Lessons", "Private lessons can be moved up to 24 hours before.")
LICENCES = passage("Motorbikes", "| Licence | Minimum age | Fee |\n| --- | --- | --- |\n| A1 | 16 years | 390 € |")
BIKES = passage("Alquiler de bicis en Tarifa", "Alquilamos bicis de ciudad y eléctricas por horas o días.", "es")
FREE = passage("Planes", "Empieza gratis. Cambia de plan cuando quieras.", "es", heading=["Planes y precios"])
OAR = passage("Plan Remo", "Cuesta 9 €.\n\n- Alertas", "es", heading=["Remo"], id="Remo")
CARDS = passage(
    "Cards",
    "## Quay\n\nOne mooring. No electricity, and water only in summer.\n\n"
    "## Fleet\n\nEverything in Quay, plus a locker and daily weather reports.",
    heading=[],
)
BRANCH = passage(
    "Harbour",
    "Rope Street, 8. Closed on Sundays.\n\n"
    "| Days | Hours |\n| --- | --- |\n| Monday to Friday | 8:00 to 22:00 |\n| Saturday | 9:30 to 14:30 |",
    heading=["Harbour"],
)
CAMP = passage("Camp", "Knots and sails. Starts every Monday at 9:00.", heading=["Summer camp"])
BABIES = passage(
    "Cursillos", "| Grupo | Edad | Precio |\n| --- | --- | --- |\n| Bebés | 6 meses a 3 años | 95 € |", "es"
)
MOVING = passage("Moving", "It takes a day. We do it for 20 £.", heading=["Moving a mooring"])
PUERTO = passage(
    "Puerto",
    "Calle Ancla, 8. Cierra los domingos.\n\n"
    "| Días | Horario |\n| --- | --- |\n| Lunes a viernes | 8:00 a 22:00 |\n| Sábado | 9:30 a 14:30 |",
    "es",
    heading=["Puerto"],
)
ROOMS = passage("Rooms", "| Room | People | For whom |\n| --- | --- | --- |\n| Chart Room | 8 | crews |")
CREW = passage("Record", "72 % of our pupils pass at once. The basin is 25 metres long with six lanes.", near=[0.4])


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        # What the dearer one adds is not in the one that it is compared with.
        ("does Quay include a locker?", "en", [CARDS]),
        ("how often do you send weather reports with Quay?", "en", [CARDS]),
        # What a thing has is not what it lacks.
        ("what isn't in the summer camp?", "en", [CAMP]),
        # Its hours are not the day on which it was opened, nor its beginning the end.
        ("when did Harbour open?", "en", [BRANCH]),
        ("¿cuándo abrió Harbour?", "es", [BRANCH]),
        ("when does the summer camp end?", "en", [CAMP]),
        ("when does the exhibition start?", "en", [passage("Sails", "The exhibition can be seen until 18 January.")]),
        ("who gives the knots course?", "en", [passage("Knots course", "For Knots you must have done Basics.")]),
        # A share is no number, an age no duration, a room nobody.
        ("how many pupils do you have?", "en", [CREW]),
        ("¿cuánto dura el cursillo de bebés?", "es", [BABIES]),
        ("who looks after the chart room?", "en", [ROOMS]),
        # A word of grammar in Spanish is a thing in English.
        ("do you have a club van?", "en", [passage("Car", "We have two, £15 a day.", heading=["Club car"])]),
        ("which cards include a mooring?", "en", [MOVING]),
        # Whether something is included is not what is.
        ("¿el plan gratis incluye alertas de precio?", "es", [FREE, OAR]),
        # A common word that a table has in a name.
        ("cuánto cuesta el plan para gatos?", "es", [passage("Planes", PLANS, "es"), BOARDING]),
        # What is said of one animal is not said of another.
        ("admitís gatos?", "es", [DOGS]),
        # A word with a meaning of its own is not a common one misspelt (preparar), nor one of the same stem (care).
        ("cuánto cuesta reparar el audífono?", "es", [COVER]),
        ("do you sell insurance for cars?", "en", [INSURANCE]),
        # Other lengths of time are offered.
        ("how much is a massage of 90 minutes?", "en", [MASSAGES]),
        # Neither a notice nor an age is a duration.
        ("how long is a private lesson?", "en", [LESSONS]),
        ("how long is the A1 licence?", "en", [LICENCES]),
        # A word for prices (tarifa) is no price.
        ("cuánto cuesta alquilar una bici eléctrica?", "es", [BIKES]),
    ],
)
def test_a_certain_answer_has_every_word_and_the_kind_of_value_that_are_asked_for(
    question: str, language: Language, found: list[Passage]
) -> None:
    assert is_unknown(answered(question, found, language))


@pytest.mark.parametrize(
    ("question", "language", "found", "answer"),
    [
        ("cuánto cuesta el plan Senior?", "es", [passage("Planes", PLANS, "es"), BOARDING], "Cuota: Plan Senior 29 €"),
        ("admitís perros?", "es", [DOGS], "Se admiten perros"),
        ("what isn't in Quay?", "en", [CARDS], "Quay: One mooring. No electricity"),
        ("does Fleet include a locker?", "en", [CARDS], "Fleet: Everything in Quay, plus"),
        ("how many lanes has the basin?", "en", [CREW], "72 % of our pupils pass at once. The basin"),
        ("how much is a massage of 60 minutes?", "en", [MASSAGES], "Relaxing: "),
        (
            "can I store food?",
            "en",
            [passage("Rules", "- Food, plants and animals\n- Petrol", heading=["What can't I store?"])],
            "What can't I store?: Food",
        ),
    ],
)
def test_what_has_them_is_certain(question: str, language: Language, found: list[Passage], answer: str) -> None:
    assert answered(question, found, language).startswith(answer)


def test_a_sentence_about_the_day_asked_for_is_shown_with_the_hours_of_the_others() -> None:
    assert "Cierra los domingos" in answered("what time does Puerto open on Sunday?", [PUERTO], "en")


def test_how_long_it_takes_is_shown_beside_the_price_that_was_asked_for_before() -> None:
    jobs = [
        passage(
            "Prices",
            "| Job | Price | Time |\n| --- | --- | --- |\n| Clutch | £420 | 1 day |\n| Battery | £90 | 1 hour |",
        )
    ]
    question = {"role": "user", "content": "price of a clutch?"}
    before = [question, {"role": "assistant", "content": answered("price of a clutch?", jobs, "en")}]
    assert "Time 1 day" in answered("how long would that take?", jobs, "en", *before)


GARAGE = [
    passage("Fleet", "- 14 teachers and 22 cars, none older than three years", heading=["Why us"]),
    passage("Lessons", "We have two automatic cars. With them a lesson costs 36 €.", heading=["Automatic cars"]),
    passage(
        "Licences",
        "| Permit | Price | Length |\n| --- | --- | --- |\n| Moped | 90 € | 60 minutes |\n| Car | 120 € | 45 minutes |",
    ),
    passage("Packs", "| Pack | Price |\n| --- | --- |\n| 10 lessons | 300 € |\n| 20 lessons | 570 € |"),
    passage("Paying", "Pay with Stripe or GoCardless. Stripe charges 1.5 % of a payment.", heading=["Paying"]),
    passage("Questions", "Yes. Up to three dogs can share.", heading=["Can my two dogs share a kennel?"]),
    passage("Coaching", "Coaching costs £40 for one, £55 for two.", heading=["Coaching"]),
    passage("Nights", "Three Tuesday evenings of night driving.", heading=["Night driving"]),
    passage("Classes", "Six Saturdays for puppies from 12 to 20 weeks.", heading=["Puppies"]),
]


@pytest.mark.parametrize(
    "question",
    [
        "how many cars do you have?",
        "how many mopeds do you have?",
        "how much is the pack of 15 lessons?",
        "what does GoCardless charge?",
        "can two cats share?",
        "do you take 10 week old puppies?",
        "which is cheaper, a wash or a polish?",
        "how much is coaching for three?",
        "who teaches night driving?",
    ],
)
def test_an_answer_of_another_member_is_not_certain(question: str) -> None:
    assert is_unknown(answered(question, GARAGE, "en"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many teachers do you have?", "14 teachers and 22 cars"),
        ("how much is the pack of 20 lessons?", "20 lessons: Price 570 €"),
        ("what does Stripe charge?", "Pay with Stripe or GoCardless. Stripe charges 1.5 %"),
        ("can two dogs share?", "Can my two dogs share a kennel? Yes"),
        ("do you take 14 week old puppies?", "Six Saturdays for puppies"),
    ],
)
def test_an_answer_of_the_member_that_is_asked_about_is_certain(question: str, answer: str) -> None:
    assert answered(question, GARAGE, "en").startswith(answer)


def test_what_to_bring_is_asked_for_without_a_word_for_the_occasion() -> None:
    bring = passage("Boarding", "Please bring a blanket and the vaccination card.", heading=["What to bring"])
    assert answered("what do I need to bring?", [bring, *GARAGE], "en").startswith("Please bring a blanket")


GROUPS = passage(
    "Groups",
    "The knots group meets on the first Tuesday at Central, the charts group on the last Thursday. New members of the "
    "knots group go on a waiting list.",
    heading=["Groups"],
)


def test_words_that_stand_in_two_sentences_are_doubted() -> None:
    assert is_unknown(answered("is there a waiting list for the charts group?", [GROUPS], "en"))
    assert not is_unknown(answered("is there a waiting list for the knots group?", [GROUPS], "en"))
