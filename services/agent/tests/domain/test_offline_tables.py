"""Rows of tables as answers: what follows one, and how its cells are told."""

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.excerpts import sentences_of
from agent.testing.passages import answered, passage


def test_a_columns_name_that_ends_in_a_figure_is_kept_apart_from_its_cells() -> None:
    table = "| Bed | 90 × 190 | Height 2 |\n| --- | --- | --- |\n| Oak | 249 € | 30 cm |"
    assert [one.text for one in sentences_of(table, "", "u", "t")] == ["Oak: 90 × 190: 249 €, Height 2: 30 cm"]


def test_a_table_behind_another_has_columns_of_its_own() -> None:
    first = "| Course | Week |\n| --- | --- |\n| English | 200 € |"
    second = "| Other courses | Hour |\n| --- | --- |\n| Exam | 60 € |"
    rows = sentences_of(f"{first}\n\n{second}", "", "u", "t")
    assert [(row.column, row.text) for row in rows] == [
        ("Course", "English: Week 200 €"),
        ("Other courses", "Exam: Hour 60 €"),
    ]


def test_a_price_of_the_kind_alone_is_that_of_all_its_rows() -> None:
    table = "| Course | Price |\n| --- | --- |\n| English | 200 € |\n| Evening course | 90 € |"
    fees = [passage("Fees", table)]
    every = "English: Price 200 €. Evening course: Price 90 €. [1]"
    assert answered("whats the cost of a normal course", fees, "en") == every
    assert answered("what does the evening course cost?", fees, "en") == "Evening course: Price 90 €. [1]"


def test_what_something_is_worth_is_its_price_and_no_yes() -> None:
    table = "| Servicio | Importe |\n| --- | --- |\n| Poder | 65 € |\n| Boda | 140 € |"
    fees = [passage("Aranceles", table, "es")]
    assert answered("¿qué vale una boda?", fees, "es") == "Boda: Importe 140 €. [1]"
    asked = {"role": "user", "content": "¿hacéis bodas?"}
    assert "140 €" in answered("y que vale", fees, "es", asked, {"role": "assistant", "content": "Boda"})


MUSIC = [
    passage(
        "Valladolid",
        "| Course | Days | Fee |\n| --- | --- | --- |\n| Lute | Monday | 60 € |\n| Harp | Tuesday | 80 € |",
    ),
    passage("About", "We teach lute, harp and oboe since 1990, on Monday too."),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("and the harp?", "Harp: Days Tuesday, Fee 80 €. [1]"),
        ("how much is it?", "Lute: Days Monday, Fee 60 €. [1]"),
        ("and for 3 weeks?", "Lute: Days Monday, Fee 60 €. [1]"),
        ("what days?", "Lute: Days Monday. [1]"),
        ("and the flute?", "I do not know for certain: "),
    ],
)
def test_what_follows_a_row_of_a_table_is_of_that_table(question: str, answer: str) -> None:
    row = {"role": "assistant", "content": "Lute: Days Monday, Fee 60 €. [1]"}
    asked = {"role": "user", "content": "when is the lute lesson?"}
    assert answered(question, MUSIC, "en", asked, row).startswith(answer)


def test_another_day_of_the_weekend_is_no_row_of_it() -> None:
    hours = passage("Hours", "| Day | Open |\n| --- | --- |\n| Friday | 9:00 – 14:00 |\n| Saturday | 10:00 – 12:00 |")
    row = {"role": "assistant", "content": "Saturday: Open 10:00 – 12:00. [1]"}
    asked = {"role": "user", "content": "when do you open on Saturday?"}
    told = answered("and Sunday?", [hours], "en", asked, row)
    assert told.startswith("Friday: Open 9:00 – 14:00. Saturday: Open 10:00 – 12:00. [1]"), "that it is not among them"


CABINS = passage(
    "Cabins",
    "# Our cabins\n\nIn August the shortest stay is five nights.\n\n"
    "| | Elm | Birch | Larch |\n| --- | --- | --- | --- |\n| Sleeps | 2 | 4 | 6 |\n| Size | 18 m² | 28 m² | 40 m² |\n"
    "| Low season | 48 € | 69 € | 95 € |\n| Heating | yes | yes | yes |\n| Oven | no | no | yes |",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "what's the difference between Elm and Larch?",
            "- Sleeps: Elm 2, Larch 6 [1]\n- Size: Elm 18 m², Larch 40 m² [1]\n- Low season: Elm 48 €, Larch 95 € [1]\n"
            "- Oven: Elm no, Larch yes [1]",
        ),
        ("which cabin is the biggest?", "Sleeps: Larch 6. [1]"),
        ("which is the cheapest cabin?", "Low season: Elm 48 €. [1]"),
        ("how many does Birch sleep?", "Sleeps: Birch 4. [1]"),
    ],
)
def test_columns_are_things_where_a_table_does_not_say_what_its_rows_are(question: str, answer: str) -> None:
    assert answered(question, [CABINS], "en") == answer


def test_a_price_is_told_by_what_shows_one_and_not_by_what_stands_beside_it() -> None:
    prices = passage(
        "Prices",
        "# Prices\n\n| Item | Low season | High season |\n| --- | --- | --- |\n| Tent | 10 € | 14 € |\n"
        "| Dog | 2 € | |\n\n"
        "High season is July and August. In high season there is no discount.",
    )
    assert answered("how much is a tent?", [prices], "en") == "Tent: Low season 10 €, High season 14 €. [1]"
    assert answered("how much is a tent in high season?", [prices], "en") == "Tent: High season 14 €. [1]"
    # An empty cell is left out.
    assert answered("how much for a dog?", [prices], "en") == "Dog: Low season 2 €. [1]"


def test_what_follows_a_question_for_a_price_asks_for_one_of_something_else() -> None:
    prices = passage(
        "Prices",
        "# Prices\n\n| Who | Night |\n| --- | --- |\n| Adult | 7 € |\n| Child (3 to 11) | 5 € |\n| Under 3 | free |",
    )
    baths = passage("Services", "# Services\n\nThe north block has baths for babies.")
    before = (
        {"role": "user", "content": "how much is it for an adult?"},
        {"role": "assistant", "content": "Adult: Night 7 €. [1]"},
    )
    said = answered("and for babies?", [baths, prices], "en", *before)
    assert "Under 3: Night free" in said
    assert "Child (3 to 11)" not in said


def test_the_price_of_a_column_that_was_told_of_is_in_its_row_of_prices() -> None:
    packs = passage("Packs", "| | Blue | Red |\n| --- | --- | --- |\n| Lessons | 5 | 20 |\n| Price | 140 € | 480 € |")
    before = (
        {"role": "user", "content": "how many lessons does Red have?"},
        {"role": "assistant", "content": "Lessons: Blue 5, Red 20. [1]"},
    )
    assert answered("and what does it cost?", [packs], "en", *before) == "Price: Red 480 €. [1]"


PASSES = passage(
    "Passes",
    "| Pass | Price per month | Price per year | Holds |\n| --- | --- | --- | --- |\n"
    "| Swim | 24 € | 260 € | the pool |\n"
    "| Swim Plus | 31 € | 340 € | pool and sauna |\n| Junior | 14 € | 150 € | the pool |",
)
TIMES = passage(
    "Timetable",
    "| Session | Large pool | Small pool |\n| --- | --- | --- |\n"
    "| Lanes | 7:00 – 9:00 | – |\n| Babies | – | 10:00 – 11:00 |",
)


@pytest.mark.parametrize(
    ("question", "before", "answer"),
    [
        (
            "which is cheaper, Swim or Swim Plus?",
            "",
            "Swim: Price per month: 24 €, Price per year: 260 €. Swim Plus: Price per month: 31 €, Price per year: "
            "340 €. [1]",
        ),
        (
            "what is the difference between them?",
            "which is cheaper, Swim or Swim Plus?",
            "Swim: Price per month: 24 €, Price per year: 260 €, Holds the pool. Swim Plus: Price per month: 31 €, "
            "Price per year: 340 €, Holds pool and sauna. [1]",
        ),
    ],
)
def test_two_that_are_compared_are_the_rows_of_their_names(question: str, before: str, answer: str) -> None:
    earlier = ({"role": "user", "content": before}, {"role": "assistant", "content": "One moment."}) if before else ()
    assert answered(question, [PASSES, TIMES], "en", *earlier) == answer


def test_of_a_column_that_is_asked_for_the_rows_that_have_something_are_told() -> None:
    assert answered("when is the small pool open?", [TIMES], "en") == "Babies: Small pool 10:00 – 11:00. [1]"


def test_a_row_keeps_the_column_that_shows_what_is_asked_for() -> None:
    hire = passage("Hire", "| Boat | Hours | Price |\n| --- | --- | --- |\n| Kayak | 10:00 – 19:00 | 8 € an hour |")
    said = answered("how much is a kayak for 2 hours?", [hire], "en")
    assert "8 € an hour" in said


def test_the_price_of_what_was_spoken_of_is_in_the_row_of_that_name() -> None:
    entry = passage(
        "Entry", "| | Resident | Visitor |\n| --- | --- | --- |\n| Adult | 4 € | 6 € |\n| Sauna | 5 € | 7 € |"
    )
    sauna = passage("Sauna", "The sauna is open from 16:00 to 20:00 and seats eight people.")
    before = (
        {"role": "user", "content": "when is the sauna open?"},
        {"role": "assistant", "content": "The sauna is open from 16:00 to 20:00 and seats eight people. [2]"},
    )
    assert answered("how much is it?", [entry, sauna], "en", *before) == "Sauna: Resident 5 €, Visitor 7 €. [1]"


def test_rows_without_a_header_are_named_by_their_first_cell_alone() -> None:
    written = "| | |\n| --- | --- |\n| Monday | closed |\n| Tuesday | 9:00 – 17:00 |"
    expected = ["Monday: closed", "Tuesday: 9:00 – 17:00"]
    assert [one.text for one in sentences_of(written, "", "u", "t")] == expected
    bare = "| Up to 15 children | 145 € |\n| 16 to 25 children | 190 € |"
    expected = ["Up to 15 children: 145 €", "16 to 25 children: 190 €"]
    assert [one.text for one in sentences_of(bare, "", "u", "t")] == expected


def test_a_count_is_in_the_cell_of_what_is_counted() -> None:
    rooms = passage(
        "Rooms", "| Room | Seats | Per hour |\n| --- | --- | --- |\n| Buoy | 4 | 15 € |\n| Anchor | 8 | 25 € |"
    )
    assert answered("how many seats does Anchor have?", [rooms], "en") == "Anchor: Seats 8. [1]"
    assert answered("how many hours of a room do I get?", [rooms], "en").startswith("I am not sure")


def test_how_long_is_not_told_by_the_name_of_a_column() -> None:
    plans = passage(
        "Plans", "| | Day pass | Ten days |\n| --- | --- | --- |\n| Price | 22 € | 180 € |\n| Locker | 2 € | 2 € |"
    )
    valid = passage("Terms", "Packs of ten days are valid for six months.")
    before = (
        {"role": "user", "content": "how much are ten days?"},
        {"role": "assistant", "content": "Price: Ten days 180 €. [1]"},
    )
    assert "six months" in answered("how long are they valid?", [plans, valid], "en", *before)


GYM = [
    passage(
        "Tarifas",
        "| Bono | Cuota al mes | Clases |\n| --- | --- | --- |\n| Básico | 30 € | 4 |\n| Familia | 55 € | 8 |\n"
        "| Empresa | 90 € | 20 |",
        "es",
    ),
    passage("Rebajas", "Los menores de 20 años tienen el primer mes del bono Básico a mitad de precio.", "es"),
    passage("Mecenas", "## Baja de mecenas\n\nTramitamos la baja en un día y cuesta 5 €.", "es"),
    passage("Alta", "| Trámite | Precio |\n| --- | --- |\n| Alta de mecenas | 25 € |\n| Copia de llave | 6 € |", "es"),
    passage("Horario", "| Mes | Viernes |\n| --- | --- |\n| Enero a junio | 9:00 |\n| Octubre | 8:00 |\n\n"
            "En agosto cerramos.", "es"),
    passage("Boats", "| Line | First boat | Last boat |\n| --- | --- | --- |\n| Alba | 7:00 | 19:30 |\n"
            "| Brisa | 8:15 | 18:00 |"),
    passage("Fleet", "| Boat | Passengers | Decks |\n| --- | --- | --- |\n| Heron | 240 | 1 |\n| Curlew | 410 | 2 |"),
    passage("Families", "Children under 5 travel free. Parties of ten or more get 15 % off."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        # A row's name goes before a sentence that tells of one case of it, whatever else the name may mean.
        (["¿cuánto cuesta el bono básico?"], "Básico: Cuota al mes: 30 €."),
        (["¿cuánto cuesta el bono empresa?"], "Empresa: Cuota al mes: 90 €."),
        (["¿cuánto cuesta el bono familia?", "¿y el bono empresa?"], "Empresa: Cuota al mes: 90 €"),
        (["precio del bono familia", "¿y el básico?"], "Básico: Cuota al mes: 30 €"),
        (["diferencia entre familia y empresa"], "Familia: Cuota al mes: 55 €, Clases 8. Empresa: "),
        (["diferencia entre familia y empresa", "¿cuál es el más barato?"], "Familia: Cuota al mes: 55 €. Empresa: "),
        (["¿cuánto cuesta el bono familia?", "¿y para 3 personas?"], "Familia: Cuota al mes: 55 €."),
        # What is not asked of leaving is not told by what leaving costs.
        (["¿cuánto cuesta hacerse mecenas?"], "Alta de mecenas: Precio 25 €."),
        (["¿cuánto cuesta la baja de mecenas?"], "Baja de mecenas: Tramitamos la baja en un día y cuesta 5 €."),
        (["¿abrís el viernes?", "¿y en agosto?"], "En agosto cerramos."),
        # The last boat is the one that leaves last.
        (["when is the last boat of the Brisa line?"], "Brisa: Last boat 18:00."),
        (["which boat is the biggest?"], "Curlew: Passengers 410, Decks 2."),
    ],
)
def test_a_row_is_told_by_its_name(asked: list[str], answer: str) -> None:
    language = "en" if asked[0].startswith("w") else "es"
    messages: list[dict[str, str]] = []
    for question in asked:
        told = answered(question, GYM, language, *messages)
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": told}]
    assert messages[-1]["content"].startswith(answer)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("my son is 4, does he pay?", "Children under 5 travel free."),
        ("we are 12 people, any discount?", "Parties of ten or more get 15 % off."),
    ],
)
def test_how_many_or_how_old_somebody_is_names_no_thing(question: str, told: str) -> None:
    assert told in answered(question, GYM, "en")


SCHOOL = [
    passage("Lessons", "At the place you like, from 8 am to 9 pm.", heading=["Harp lessons"]),
    passage(
        "Prices", "| What | Price |\n| --- | --- |\n| Harp lesson | 36 € |\n| Lake camp | 160 € |\n| Choir | 20 € |"
    ),
    passage("Less", "Brothers and sisters pay 20 % less at the camp.", heading=["Discounts for the camp"], near=[0.19]),
]


def test_another_figure_of_what_was_quoted_is_no_price() -> None:
    before = (
        {"role": "user", "content": "can I have harp lessons online?"},
        {"role": "assistant", "content": "At the place you like, from 8 am to 9 pm. [1]"},
    )
    assert answered("how much is one harp lesson?", SCHOOL, "en", *before) == "Harp lesson: Price 36 €. [2]"


def test_the_price_of_the_row_that_is_named_is_certain() -> None:
    assert answered("how much is the camp?", SCHOOL, "en") == "Lake camp: Price 160 €. [2]"


VET = [
    passage("Precios", "| Animal | Macho | Hembra |\n| --- | --- | --- |\n| Gato | 95 € | 160 € |\n"
            "| Perro de menos de 10 kg | 170 € | 260 € |\n| Perro grande | 260 € | 390 € |", "es",
            heading=["Esterilización"]),
    passage("Horario", "| Día | Consultas |\n| --- | --- |\n| Lunes a viernes | 9:30 a 20:30 |\n"
            "| Sábado | 10:00 a 14:00 |\n| Domingo | cerrado |", "es"),
    passage("Inicio", "Somos once veterinarios y nueve auxiliares.", "es"),
    passage("Urgencias", "De noche hay siempre un veterinario en el hospital.", "es", heading=["De noche"]),
    passage("Grooming", "| Tamaño | Baño | Baño y corte |\n| --- | --- | --- |\n| Pequeño | 22 € | 34 € |\n"
            "| Grande | 36 € | 55 € |\n\nEl corte de uñas suelto cuesta 8 €.", "es"),
    passage("Cierre", "24, 25 y 31 de diciembre, y el 1 de enero.", "es", heading=["Días de cierre"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (["¿abrís el domingo?", "y el sabado hasta que hora"], "Sábado: "),
        (["cuanto cuesta castrarlas?"], "Gato: Macho 95 €"),
        (["cuanto cuesta castrar un gato", "y un perro?"], "Perro de menos de 10 kg: Macho 170 €"),
        (["cuantos veterinarios sois"], "Somos once veterinarios"),
        (["cuanto vale el baño de un perro", "con corte"], "Pequeño: Baño y corte: 34 €. Grande: Baño y corte: 55 €."),
        (["el 24 de diciembre esta abierto?"], "Días de cierre: 24"),
    ],
)
def test_a_vets_visitor_is_told_the_row_or_sentence_of_what_they_ask(asked: list[str], answer: str) -> None:
    messages: list[dict[str, str]] = []
    for question in asked:
        told = answered(question, VET, "es", *messages)
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": told}]
    assert messages[-1]["content"].startswith(answer)


SOFTWARE = [
    passage("Pricing", "| | Solo | Studio |\n| --- | --- | --- |\n| Monthly | €9 | €19 |\n"
            "| Users | 1 | 3 |\n| API access | – | yes |\n\nAll prices exclude VAT."),
    passage("Online payments", "| Method | Fee per payment |\n| --- | --- |\n| European cards | €0.25 |\n"
            "| Other cards | €0.35 |\n| Transfer | €0.30 |"),
    passage("Support", "Write to help@larkbill.example or call +353 1 555 0142."),
    passage("About us", "We were founded in Galway in 2015. We have never taken money from investors."),
]  # fmt: skip


def test_all_prices_are_those_of_the_page_that_is_called_so() -> None:
    assert "Solo €9, Studio €19" in answered("how much is it", SOFTWARE, "en")
    assert "€0.25" not in answered("how much is it", SOFTWARE, "en")


def test_the_cheapest_after_a_question_for_a_row_is_that_tables() -> None:
    before = [
        {"role": "user", "content": "which plan has the api"},
        {"role": "assistant", "content": "API access: Studio yes. [1]"},
    ]
    assert answered("which one is the cheapest", SOFTWARE, "en", *before) == "Monthly: Solo €9. [1]"


@pytest.mark.parametrize("question", ["when can I call you", "when does the money come"])
def test_what_has_no_time_beside_it_is_no_certain_answer_to_when(question: str) -> None:
    assert is_unknown(answered(question, SOFTWARE, "en"))


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("tengo dos hurones", True),
        ("I have two ferrets", True),
        ("mi gato tiene 9 años, cual le toca", False),
        ("seguro de hurones", False),
        ("plazo para hurones", False),
    ],
)
def test_a_visitors_statement_is_asked_about_and_not_unknown(text: str, is_told: bool) -> None:
    told = answered(text, VET, "es" if text[0] != "I" else "en")
    assert (not is_unknown(told)) == is_told


def test_a_statement_is_not_answered_with_what_only_seems_near_in_meaning() -> None:
    premium = passage("Premium", "The Premium plan costs €99 a month.", heading=["Premium"], near=[0.25])
    told = answered("I have two cats", [premium], "en")
    assert "€99" not in told
    assert not is_unknown(told)
