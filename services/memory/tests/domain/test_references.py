"""What of a memory a user's words are about."""

from datetime import UTC, datetime

import pytest

from contracts.memory_rpc import LongTermMemory, Superseded, fact_id
from memory.domain.fact_changes import UnclearReferenceError, forget, is_stated
from memory.domain.forgotten import is_forgotten
from memory.domain.references import referred_facts, referred_part
from memory.domain.remembered import Remembered, with_patch

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NOTES = ["no quiero arriesgar más del 1% por operación", "vivo en Lima"]


@pytest.mark.parametrize(
    ("about", "gone"),
    [("lo del riesgo", NOTES[:1]), ("que vivo en Lima", NOTES[1:]), ("lo de Quito", [])],
)
def test_a_word_inside_another_is_meant_too(about: str, gone: list[str]) -> None:
    assert referred_part(LongTermMemory(user_notes=NOTES), about).texts == gone


@pytest.mark.parametrize(
    ("about", "gone"),
    [
        ("my allergy", "I'm allergic to shellfish"),
        ("mi alergia", "Soy alérgico al marisco"),
        ("where I work", "I work as a locksmith"),
        ("where I bank", "I bank with Citi"),
        ("my wife's name", "My wife is called Joan"),
        ("my epilepsy any more", "I was diagnosed with epilepsy"),
        ("my salary", "My salary is 70k"),
        ("my phone number", "My phone is 555-0182"),
        # By the kind of thing that it is, where no word says it.
        ("my car", "I drive a Toyota Corolla"),
        ("mi coche", "Conduzco un Golf"),
        ("my dog", "We have a golden retriever"),
        ("what I do for a living", "I'm a nurse"),
        ("a qué me dedico", "Soy fontanero"),
        ("mi sueldo", "Gano 2.300 euros al mes"),
        ("mi edad", "Tengo 52 años"),
        ("lo de la enfermedad", "Tengo diabetes"),
    ],
)
def test_a_fact_is_meant_in_any_words(about: str, gone: str) -> None:
    kept = ["I like long answers", "Odio las acciones de centavo"]
    assert referred_part(LongTermMemory(user_notes=[*kept, gone]), about).texts == [gone]


def test_of_several_facts_that_may_be_meant_none_is_forgotten_and_all_are_named() -> None:
    notes = ["My wife is called Joan", "My wife is a nurse"]
    found = referred_part(LongTermMemory(user_notes=notes, name="Ana"), "my wife's name")
    assert (found.patch, found.several) == ({}, notes)
    drives = ["I drive a Corolla", "I ride a Vespa"]
    assert referred_part(LongTermMemory(user_notes=drives), "my vehicle").several == drives
    assert referred_part(LongTermMemory(user_notes=drives), "everything about my vehicles").texts == drives
    assert referred_part(LongTermMemory(user_notes=["I trade options"]), "that trade").texts == []


def test_where_somebody_works_is_not_how_they_get_there() -> None:
    notes = ["Voy en bici al trabajo", "Trabajo en Correos"]
    assert referred_part(LongTermMemory(user_notes=notes), "dónde trabajo").texts == notes[1:]


def test_fields_are_meant_by_their_names_values_and_symbols() -> None:
    memory = LongTermMemory(
        favorite_symbols=["AAPL", "IBM"], trading_style="swing", name="Ana", risk_profile="moderate"
    )
    assert referred_part(memory, "Apple", ["AAPL"]).patch == {"favoriteSymbols": ["IBM"]}
    assert referred_part(memory, "my favourites").patch == {"favoriteSymbols": None}
    assert referred_part(memory, "that I do swing trading").patch == {"tradingStyle": None}
    assert referred_part(memory, "my name").patch == {"name": None}
    assert referred_part(memory, "my risk profile").texts == ["moderate"]


def _once(value: str, field: str = "userNotes") -> Superseded:
    return Superseded(field=field, value=value, until=datetime(2026, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize("about", ["that I lived in Lima", "I live in Lima", "lo de Lima", fact_id("I live in Lima")])
def test_forgetting_what_is_history_leaves_what_is_so_now(about: str) -> None:
    memory = LongTermMemory(user_notes=["I live in Cusco"], superseded=[_once("I live in Lima")])
    found = referred_part(memory, about)
    assert (found.patch, found.texts, found.past) == ({}, ["I live in Lima"], ["I live in Lima"])


@pytest.mark.parametrize(
    ("notes", "past", "about"),
    [
        (["I moved to Bath", "I ski"], "I live in York", "where I live"),
        (["me he mudado a Ávila", "juego al tenis"], "vivo en Soria", "dónde vivo"),
        (["mi perra Luna murió", "juego al tenis"], "mi perra se llama Luna", "lo de mi perra"),
        (["I turned 46", "I ski"], "I am 45 years old", "my age"),
    ],
)
def test_with_what_is_so_now_goes_what_was_so_before(notes: list[str], past: str, about: str) -> None:
    gone = Superseded(field="userNotes", value=past, until=NOW, by=notes[0])
    stays = Superseded(field="userNotes", value="I bank with Fondomar", until=NOW)
    state = Remembered(memory=LongTermMemory(user_notes=notes, superseded=[gone, stays]))
    found = referred_part(state.memory, about)
    assert (found.texts, found.past) == (notes[:1], [past])
    change = forget(state, about, NOW)
    assert (change.state.memory.user_notes, change.state.memory.superseded) == (notes[1:], [stays])
    assert [undo.arguments for undo in change.undo] == [{"fact": notes[0]}]


def test_words_that_name_a_person_mean_facts_about_them() -> None:
    notes = ["My son is called Max", "My daughter is called Eve", "My wife is a nurse", "I'm a baker"]
    assert referred_part(LongTermMemory(user_notes=notes), "my son's name").texts == notes[:1]
    assert referred_part(LongTermMemory(user_notes=notes), "my wife's job").texts == notes[2:3]


def test_a_former_profile_is_meant_by_its_value_and_the_present_one_by_its_name() -> None:
    memory = LongTermMemory(risk_profile="aggressive", superseded=[_once("conservative", "riskProfile")])
    assert referred_part(memory, "that my risk profile was conservative").past == ["conservative"]
    assert referred_part(memory, "my risk profile").patch == {"riskProfile": None}
    assert referred_part(memory, "that I am aggressive").patch == {"riskProfile": None}


def test_a_fact_of_the_kind_that_says_something_else_is_asked_about_and_not_forgotten() -> None:
    found = referred_part(LongTermMemory(user_notes=["I live in Cusco"]), "that I live in Paris")
    assert (found.patch, found.several) == ({}, ["I live in Cusco"])


@pytest.mark.parametrize(
    ("fact", "about", "part", "rest"),
    [
        ("I am vegan and live in Austin", "that I am vegan", "I am vegan", "I live in Austin"),
        ("I am vegan and live in Austin", "where I live", "I live in Austin", "I am vegan"),
        ("I'm a nurse, live in Leeds and drive a Kia", "Leeds", "I live in Leeds", "I'm a nurse, I drive a Kia"),
        ("trabajo en Lima y tengo un perro", "mi perro", "tengo un perro", "trabajo en Lima"),
        ("My kids are Ana and Leo, and I live in Rome", "Rome", "I live in Rome", "My kids are Ana and Leo"),
    ],
)
def test_of_a_fact_that_says_several_things_the_one_that_is_meant_goes(
    fact: str, about: str, part: str, rest: str
) -> None:
    found = referred_part(LongTermMemory(user_notes=[fact]), about)
    assert (found.patch, found.texts) == ({"userNotes": [rest]}, [part])
    since = datetime(2026, 1, 5, tzinfo=UTC)
    past = Superseded(field="userNotes", value="I bank with Fondomar", until=since, by=fact)
    state = Remembered(memory=LongTermMemory(user_notes=[fact], superseded=[past]), since={fact: since})
    for after in (with_patch(state, found.patch, NOW), forget(state, about, NOW).state):
        assert after.memory.user_notes == [rest]
        assert after.since == {rest: since}
        assert [one.by for one in after.memory.superseded] == [rest]
        assert is_forgotten(part, after.forgotten_facts)
        assert not is_forgotten(rest, after.forgotten_facts)


@pytest.mark.parametrize(
    ("fact", "about"),
    [
        ("I like tea and coffee", "coffee"),
        ("I sold my car and my bike", "my bike"),
        ("I am vegan and live in Austin", "that I am vegan and live in Austin"),
        ("I am vegan and live in Austin", fact_id("I am vegan and live in Austin")),
    ],
)
def test_a_fact_that_is_one_statement_goes_whole(fact: str, about: str) -> None:
    assert referred_part(LongTermMemory(user_notes=[fact]), about).texts == [fact]


def test_that_means_what_was_said_before_it() -> None:
    state = Remembered(memory=LongTermMemory(user_notes=["My bank is Kappa", "I have a dog"]))
    after = forget(state, "that", NOW, before="By the way, my bank is Kappa")
    assert after.facts == ("My bank is Kappa",)
    assert after.state.memory.user_notes == ["I have a dog"]
    with pytest.raises(UnclearReferenceError):
        forget(state, "that", NOW, before="How is IBM?")


def test_a_place_that_no_fact_names_is_asked_about_whatever_else_its_name_means() -> None:
    assert referred_facts(["I live in York"], "I live on Mars") == ((), ("I live in York",))


@pytest.mark.parametrize(
    ("fact", "written", "said"),
    [
        ("I drive", "I live in Oslo, Norway and don't drive", False),
        ("I don't drive", "I live in Oslo, Norway and don't drive", True),
        ("I live in Oslo, Norway", "I live in Oslo, Norway and don't drive", True),
        ("I like coffee", "I like tea, not coffee", False),
        ("I like tea", "I like tea, not coffee", True),
        ("fuma", "ya no fumo", False),
        ("no le gustan las criptomonedas", "no me gustan las criptomonedas", True),
        ("le gustan las criptomonedas", "no me gustan las criptomonedas", False),
        ("I smoke", "my brother thinks I smoke", False),
        ("I own a boat", "If I owned a boat I would sail", False),
        ("my gym is Basecamp", "Remember my gym is Basecamp", True),
        ("I love TSLA and I hate AAPL", "I love AAPL and I hate TSLA", False),
        ("My risk is low", "My risk is high, my wife's is low", False),
        ("Mi hijo vive en Quito", "mi hijo vive en Lima y yo vivo en Quito", False),
        ("I am a teacher", "I am a nurse and my wife is a teacher", False),
        ("their wife is a teacher", "I am a nurse and my wife is a teacher", True),
        ("lives in Lima", "My wife and I live in Lima", True),
        ("vegan nurse living in Lima", "I'm a nurse and I live in Lima and I'm vegan", True),
        ("Their name is Ana; trades from Lima", "My name is Ana and I trade from Lima", True),
        ("I bought 10 MSFT", "I bought 5 AAPL at 180 and 10 MSFT", True),
        ("does not trade options and futures", "I don't trade options and futures", True),
    ],
)
def test_a_fact_is_said_where_its_words_stand_together_and_neither_denied_nor_over(
    fact: str, written: str, said: bool
) -> None:
    assert is_stated(fact, [written]) is said


def test_one_thing_of_several_is_asked_about_and_all_of_them_are_not() -> None:
    cars = ("my red car costs me 200 a month", "my wife's car is a Volvo")
    for one in ("the car thing", "eso de mi coche"):
        assert referred_facts(cars, one) == ((), cars)
    for all_of_them in ("my cars", "everything about the car thing"):
        assert referred_facts(cars, all_of_them) == (cars, ())


KIND_FACTS = [
    "I hold most of my savings at Vanguard", "My wife Marta is a teacher", "I work as a nurse",
    "I owe 12000 on my student loan", "My mortgage is 900 a month", "My brother lends me money sometimes",
    "Quiero jubilarme a los 60", "I'm allergic to peanuts", "My brother has a motorbike",
]  # fmt: skip


@pytest.mark.parametrize(
    ("about", "gone", "asked"),
    [
        ("I use vanguard", [0], []),
        ("I use Fidelity", [], []),
        ("my profession", [2], []),
        ("my student debt", [3], []),
        ("my debts", [], [3, 4]),
        ("my retirement plans", [6], []),
        ("mi alergia", [7], []),
        ("mi moto", [], [8]),
    ],
)
def test_a_fact_is_found_by_names_and_kind_and_another_persons_is_not_forgotten(
    about: str, gone: list[int], asked: list[int]
) -> None:
    meant, several = referred_facts(KIND_FACTS, about)
    assert list(meant) == [KIND_FACTS[index] for index in gone]
    assert set(several) == {KIND_FACTS[index] for index in asked}
