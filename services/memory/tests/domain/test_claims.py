"""What replaces what: claims that can be true only once, and what is said to be true no longer."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.memory_rpc import LongTermMemory, Superseded
from memory.domain.claims import claims
from memory.domain.long_term.speech import statements
from memory.domain.outdated import outdated
from memory.domain.recall.index import IndexedMessage
from memory.domain.remembered import Remembered, with_patch
from memory.domain.replacement import may_replace, replaces
from memory.domain.statements import with_note, with_statements

DAY = datetime(2026, 1, 5, 15, tzinfo=UTC)


def after(*texts: str) -> Remembered:
    state = Remembered()
    for number, text in enumerate(texts):
        state = with_statements(state, text, DAY + timedelta(days=number))
    return state


def takes_its_place(new: str, old: str) -> bool:
    """Whether it does in a memory that holds nothing else."""
    return replaces(claims(new), claims(old)) or may_replace(claims(new), claims(old))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Lima", "I moved to Bogotá last month"),
        ("My emergency fund is 5,000", "I topped up my emergency fund to 8,000"),
        ("My accountant is Paul", "I hired a new accountant, Grace"),
        ("Mi sueldo es de 1.900 euros", "Me han subido el sueldo a 2.100 euros"),
        ("I'm saving for a house", "The house is bought, so I'm saving for retirement now"),
        ("Ahorro para el coche", "El coche ya está pagado"),
        ("I work nights", "They put me back on day shifts"),
        ("My daughter is in primary school", "My daughter started secondary school in September"),
        ("Soy socio del Betis", "Me he dado de baja del Betis"),
        ("I have 50 shares of Disney", "I got rid of all my Disney shares"),
        ("Vivo en Lima", "Me he mudado a Bogotá"),
        ("I live in Lima", "ahora vivo en Bogotá"),
        ("my broker is Kappa", "My broker is now Delta"),
        ("mi broker es Kappa", "mi broker ahora es Delta"),
        ("Opero con Kappa", "ahora opero con Delta"),
        ("I trade options", "I no longer trade options"),
        ("I trade options", "I don't trade options anymore"),
        ("I do swing trading", "I moved from swing to day trading"),
        ("I risk 1% per trade", "Siempre arriesgo el 2 % por operación"),
        ("I'm 34", "I turned 35"),
        ("I prefer charts to tables", "Actually I prefer tables to charts"),
        ("I check my portfolio daily", "Now I check my portfolio once a month"),
        ("Enséñame los precios en dólares", "Mejor enséñame los precios en euros"),
        ("My daughter lives in Lima", "My daughter has moved to Bogotá"),
        ("I'm a teacher", "I'm retired now"),
        ("Mi plazo de inversión son cinco años", "He alargado el plazo de inversión a diez años"),
        ("No quiero ver noticias de cripto", "Ya puedes enseñarme noticias de cripto"),
        ("I live in Lima", "We packed our things and moved to Bogotá"),
        ("My limit orders are at 5 percent", "I've tightened my limits to 4 percent"),
        ("My salary is 41k", "I'm on 47k now"),
        ("I work at Kappa", "They let me go from Kappa"),
        ("Mi turno es de tardes", "Me han puesto de noches"),
        ("Mi plan es jubilarme a los 58", "Lo de jubilarme a los 58 ya no, será a los 63"),
        ("My bank is Kappa", "I've moved everything over to Delta"),
        ("I save 300 euros a month", "From now on I'm putting away 400 a month"),
        ("Trabajo de tardes", "Desde el lunes trabajo de noches"),
        ("My loan is at 4.5%", "We renegotiated the loan at 3.9%"),
        ("I travel a lot for work", "I hardly travel for work these days"),
        ("No me interesan los bonos", "Los bonos me están empezando a gustar"),
        ("Peso 70 kilos", "He bajado a 66 kilos"),
        ("My email is leo@kappa.example", "Use leo@delta.example as my email"),
        ("I love day trading", "I'm fed up with day trading"),
        ("Me gustan los futuros", "Estoy cansada de los futuros"),
        ("I'm planning a wedding in May", "We pushed the wedding back to October"),
        ("Estoy buscando trabajo", "Ya hemos encontrado trabajo"),
    ],
)
def test_a_newer_value_replaces_the_older_one_and_not_the_other_way_round(old: str, new: str) -> None:
    assert takes_its_place(new, old)
    assert not takes_its_place(old, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Lima", "I live in Lima, Peru"),
        ("Mi banco es Kappa", "Mi hermana se ha cambiado a Delta"),
        ("My salary is 2000", "I'm saving 300 of my bonus now"),
        ("I invest 300 a month in funds", "Now I invest 100 a month in crypto"),
        ("Hace años vivía en Lima", "Ahora vivo en Bogotá"),
        ("I have a Kappa card", "I now have a Delta card"),
        ("My accountant is Paul", "I hired a new gardener, Grace"),
        ("Mi sueldo es de 1.900 euros", "Me han subido el alquiler a 780 euros"),
        ("My emergency fund is 5,000", "My emergency fund is for the house"),
        ("Mi hijo va al instituto", "Mi hija ya va a la universidad"),
        ("I play football", "My son gave up football"),
        ("Soy socio del Betis", "Mi padre se ha dado de baja del Betis"),
        ("I work from home on Fridays", "I'm back in the office on Mondays"),
        ("I live in Lima", "Where would I live in Bogotá?"),
        ("my dog is brown", "my dog is ill"),
        ("my broker is Kappa", "my bank is Delta"),
        ("I buy BTC", "I sell BTC"),
        ("I own three stocks and a house near the sea in Cádiz", "I no longer own stocks"),
        ("I am 5 minutes late", "I am 10 minutes late"),
        ("I live in Lima", "My sister packed up and moved to Bogotá"),
        ("My salary is 41k", "I'm on page 47 now"),
        ("Mi turno es de tardes", "Mi mujer está de noches"),
        ("My rent went up to 900 in January", "My rent went up to 950 in June"),
        ("Me subieron el sueldo a 1.900 en marzo", "Me subieron el sueldo a 2.100 en octubre"),
        ("I trade options", "I'm tired of losing money"),
        ("I own a flat in Lima", "I moved everything over to the garage"),
        ("I save 300 euros a month", "I put 40 dollars a month in a jar for my niece"),
        ("Mi turno es de tardes", "Desde el lunes mi mujer trabaja de noches"),
        ("Mi turno es de tardes", "Desde el lunes mi mujer está de noches"),
    ],
)
def test_what_is_not_recognised_as_a_change_replaces_nothing(old: str, new: str) -> None:
    assert not takes_its_place(new, old)


def test_a_question_states_nothing_but_what_comes_before_it_in_its_sentence() -> None:
    assert statements("I like AAPL, should I buy? Me gusta, ¿compro? Why? I risk 2.5 %. Done") == [
        "I like AAPL",
        "Me gusta",
        "I risk 2.5 %.",
        "Done",
    ]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("I prefer ETFs", "Now I prefer stocks", "I prefer stocks"),
        ("Prefiero respuestas cortas", "Ahora prefiero respuestas largas", "prefiero respuestas largas"),
        ("I always risk 1% per trade", "I always risk 2.5% per trade", "I always risk 2.5% per trade"),
        ("Prefiero respuestas cortas", "Mejor explícame todo lo de bolsa con más detalle",
         "Mejor explícame todo lo de bolsa con más detalle"),
        ("Me gustan los dividendos", "Ya no me gustan los dividendos", None),
    ],
)  # fmt: skip
def test_a_preference_that_changes_becomes_history_with_its_dates(first: str, second: str, kept: str | None) -> None:
    memory = after(first, second).memory
    assert memory.preferences == ([kept] if kept else [])
    by = kept or second
    expected = Superseded(field="preferences", value=first, since=DAY, until=DAY + timedelta(days=1), by=by)
    assert memory.superseded == [expected]


def test_preferences_of_different_kinds_stay_beside_each_other() -> None:
    memory = after("I prefer short answers", "I prefer answers in English", "I like dividends", "I like ETFs").memory
    assert memory.preferences == [
        "I like ETFs",
        "I like dividends",
        "I prefer answers in English",
        "I prefer short answers",
    ]
    assert memory.superseded == []


def test_a_sentence_that_replaces_a_note_takes_its_place_and_other_notes_stay() -> None:
    state = after("Recuerda que vivo en Lima. Recuerda que tengo dos hijos", "Hola. Me mudé a Bogotá.")
    assert state.memory.user_notes == ["Me mudé a Bogotá", "tengo dos hijos"]
    (past,) = state.memory.superseded
    assert (past.field, past.value, past.by) == ("userNotes", "vivo en Lima", "Me mudé a Bogotá")
    state = with_statements(state, "Recuerda que tengo tres hijos", DAY + timedelta(days=9))
    assert state.memory.user_notes == ["tengo tres hijos", "Me mudé a Bogotá"]
    assert state.memory.superseded[0].since == DAY
    assert set(state.since) == set(state.memory.user_notes)


def test_a_note_is_not_a_preference_too() -> None:
    memory = after("Remember that I always risk 1%").memory
    assert (memory.user_notes, memory.preferences) == (["I always risk 1%"], [])


def test_a_title_with_its_dot_and_without_is_one_fact() -> None:
    assert with_note(after("my dentist is Dr. Paz"), "my dentist is Dr. Paz", DAY).memory.user_notes == [
        "my dentist is Dr. Paz"
    ]


def test_what_is_said_again_keeps_its_date() -> None:
    state = after("I prefer ETFs", "I prefer gold", "I prefer ETFs")
    assert state.memory.preferences == ["I prefer ETFs", "I prefer gold"]
    assert state.since["I prefer ETFs"] == DAY


def test_a_note_that_the_user_wrote_down_is_dated_too_and_what_is_taken_out_leaves_no_date() -> None:
    state = with_patch(after("I like gold"), {"userNotes": ["I live in Lima"], "preferences": []}, DAY)
    assert dict(state.since) == {"I live in Lima": DAY}
    (past,) = with_statements(state, "I moved to Cali", DAY + timedelta(days=3)).memory.superseded
    assert (past.value, past.since) == ("I live in Lima", DAY)


def passage(number: int, text: str, speaker: str = "user") -> IndexedMessage:
    return IndexedMessage(f"m{number}", "c", number, speaker, text, DAY + timedelta(days=number))


def test_a_passage_is_history_since_what_it_says_is() -> None:
    said = [
        passage(0, "As I said, I live in Lima!"),
        passage(1, "I live in Lima", speaker="assistant"),
        passage(2, "I moved to Bogotá"),
        passage(3, "I moved to Cali"),
        passage(4, "In summer I live in Lima's suburbs"),
    ]
    memory = after("I live in Lima", "Hello", "I moved to Bogotá", "I moved to Cali").memory
    pasts = [outdated(one, memory) for one in said]
    assert [past.by if past else None for past in pasts] == ["I moved to Bogotá", None, "I moved to Cali", None, None]
    assert pasts[0] is not None
    assert pasts[0].until == said[2].at


def test_a_passage_with_what_long_term_memory_holds_as_history_is_history() -> None:
    until = DAY + timedelta(days=5)
    past = Superseded(field="tradingStyle", value="swing", until=until, by="scalping")
    careful = Superseded(field="riskProfile", value="conservative", until=until, by="aggressive")
    memory = LongTermMemory(trading_style="scalping", superseded=[past, careful])
    found = outdated(passage(0, "Hago swing trading"), memory)
    assert found is not None
    assert (found.until, found.by) == (until, "scalping")
    assert outdated(passage(0, "I am a conservative investor"), memory) is not None
    assert outdated(passage(9, "Hago swing trading"), memory) is None
    assert outdated(passage(0, "What is swing trading?"), memory) is None
