"""Changes that are recognised by their kind, and what only looks like one."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.remembered import Remembered, current_facts
from memory.domain.statements import with_statements

DAY = datetime(2026, 3, 9, 12, tzinfo=UTC)


def after(*texts: str) -> Remembered:
    state = Remembered()
    for number, text in enumerate(texts):
        state = with_statements(state, text, DAY + timedelta(days=number))
    return state


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        # Done because it had to be, in the passive, with its particle apart, told by its absence.
        ("I own a flat in Leeds", "We had to sell the flat in Leeds"),
        ("I have a mortgage with Nationwide", "The mortgage is cleared, finally"),
        ("I'm learning Italian", "I gave Italian up for Portuguese"),
        ("I smoke a pack a day", "I haven't touched a cigarette since New Year"),
        ("Fumo diez cigarrillos al día", "No he vuelto a fumar desde Navidad"),
        # The same definite thing, with another date, name or figure.
        ("My wedding is on June 12", "We've had to move the wedding to September 4"),
        ("I hold my shares at Robinhood", "All my shares are with Interactive Brokers now"),
        ("Mi hipoteca está al 2,1% fijo", "Me han revisado la hipoteca y está al 3,4%"),
        ("I can risk 10% of my money", "10% was too much, let's make it 5%"),
        ("I work four days a week", "They've got me back on five days a week"),
        # A mistake is named before a colon; a figure alone; a verb for what is put aside.
        ("My salary is 3000 a month", "I was wrong: my salary is 3300 a month"),
        ("I invest 200 a month", "make that 250 a month"),
        ("Invierto 200 al mes", "ahora pongo 300 al mes"),
        # A wish has come true, or come to nothing; a debt is paid; a child was born.
        ("My goal is to buy a house", "I've bought the house, now I'm saving for a boat"),
        ("Estoy prometida", "hemos cancelado la boda"),
        ("Debo 5000 de la tarjeta", "he pagado la tarjeta"),
        ("I don't have kids", "we had a baby girl in May"),
        # Working hours, the way to work, marriage, risk.
        ("I work full time", "I've gone part time"),
        ("Trabajo a jornada completa", "me han reducido la jornada a media"),
        ("Voy al trabajo en coche", "ahora voy en bici al trabajo"),
        ("Estoy casado", "nos hemos divorciado"),
        ("I take medium risk", "I want to take less risk from now on"),
        ("Mi hipoteca está en ING", "llevamos la hipoteca a Kutxa"),
        # How many are left.
        ("I have two cats", "One of my cats died, so I only have one now"),
        ("Tengo tres gallinas", "El zorro se llevó una gallina, me quedan dos"),
        # Somebody was made, hired or moved.
        ("I work for Siemens", "I got poached by Bosch"),
        ("I'm a junior accountant", "They made me head of finance"),
        ("I'm based in Dublin", "Work relocated me to Lisbon in the spring"),
        ("Cobro el día 28", "Ahora me pagan el día 5"),
        # A change of mind or of attitude.
        ("My daughter wants to study law", "My daughter has changed her mind, she's going for medicine"),
        ("We're getting married in Rome", "Change of plan: we're getting married in Naples"),
        ("I'm against crypto", "I've come to like crypto, to be fair"),
        ("I only buy European stocks", "I've opened up to American stocks too"),
        # The day on which it was said is no restriction; what a question takes for granted is stated.
        ("I'm 34", "I had my birthday yesterday, I'm 35"),
        ("I earn 2500 a month", "Is it still worth it now that I earn 3000 a month?"),
        ("Invierto 200 al mes", "Como me han subido el sueldo ahora meto 350 al mes, ¿qué te parece?"),
    ],
)
def test_a_change_ends_the_older_fact(fact: str, later: str) -> None:
    memory = after("I own 10 shares of AAPL", fact, later).memory
    assert [past.value for past in memory.superseded] == [fact]
    assert "I own 10 shares of AAPL" in current_facts(memory)


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("My car is a Mazda", "The car insurance is with Axa now"),
        ("My house is in Kent", "My house now has solar panels from Tesla"),
        ("Mi tienda está en Lugo", "La tienda de al lado es ahora un Zara"),
        ("My rent is 900 a month", "My rent includes 2 parking spaces now"),
        ("10% of my portfolio is gold", "5% of my portfolio is cash now"),
        ("La cuenta de ahorro la tengo en ING", "La cuenta de valores la tengo ahora en Renta 4"),
        ("I do yoga on Mondays", "I've stopped doing yoga on Fridays"),
        ("I use IBKR for futures", "For crypto I've switched to Kraken"),
        ("I have two brothers", "I only have two weeks of holiday left"),
        ("Tengo 10 acciones de Apple", "Les he cogido el gusto a las criptos"),
        ("I own 10 shares of AAPL", "We had to sell some shares in March"),
        ("I'm a nurse", "They made me wait for two hours at the airport in Rome"),
        ("Entreno tres días a la semana", "Ahora trabajo cinco días a la semana"),
        ("I have a daughter", "I lost my daughter's passport"),
        ("I want to buy a flat", "My son has changed his mind about university"),
        # Another home, another account, another's hours and children, a thing that was bought beside the goal.
        ("We rent a house in Leeds", "we bought a house in Spain for the holidays"),
        ("Vivo de alquiler en Berlín", "compré un piso para alquilar en Leipzig"),
        ("Tengo 5 AAPL en una cuenta", "tengo 10 AAPL en otra cuenta"),
        ("I work full time", "my wife works part time"),
        ("I work part time at a shop", "I also work part time as a tutor"),
        ("No tengo hijos", "mi hermana tuvo una niña"),
        ("My goal is to buy a house", "I bought a car"),
        ("Mi hipoteca está en ING", "llevamos el seguro del coche a Axa"),
        ("Ahorro 200 al mes", "pongo 50 al mes para la lotería"),
    ],
)
def test_what_is_said_of_something_beside_it_ends_nothing(fact: str, later: str) -> None:
    memory = after(fact, later).memory
    assert fact in current_facts(memory)
    assert memory.superseded == []


def test_how_many_are_left_is_remembered_with_what_it_is() -> None:
    memory = after("Tengo tres gallinas", "El zorro se llevó una gallina, me quedan dos").memory
    assert current_facts(memory) == ["El zorro se llevó una gallina, me quedan dos"]


def test_one_thing_that_is_had_is_a_fact() -> None:
    assert current_facts(after("I have diabetes").memory) == ["I have diabetes"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure I follow",
        "A colleague of mine lives in Geneva and owns three flats",
        "I'm trying to open the chart",
        "I'd rather not say",
        "Prefiero no decirlo",
        "No encuentro el botón para retirar dinero",
        "Should I sell now that it has fallen?",
    ],
)
def test_an_attempt_a_doubt_or_a_refusal_is_no_fact(text: str) -> None:
    assert current_facts(after(text).memory) == []
