"""What a sequence of statements leaves in a long-term memory: nothing is lost, and only what is over is history."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.memory_rpc import LongTermMemory
from memory.domain.fact_changes import forget, remember, update
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.remembered import MAX_OLDER_NOTES, Remembered, current_facts
from memory.domain.statements import with_note

DAY = datetime(2026, 1, 5, 15, tzinfo=UTC)
SAID = (
    "I live in Lima", "Me mudé a Bogotá", "I moved to Austin", "I like penny stocks", "I don't like penny stocks",
    "Ahora me gustan las penny stocks", "Remember that my budget is 500", "My budget is now 800", "I have two kids",
    "Tengo tres hijos", "I bought 10 AAPL at 150", "I bought 5 AAPL at 180", "el 3 de mayo tengo médico",
    "el 10 de mayo tengo médico", "I no longer trade options", "I trade options", "My broker is Fidelity",
    "I switched from Fidelity to Schwab", "Prefiero respuestas cortas", "mejor más detalladas", "I work at Google",
    "I left Google", "I smoke", "I quit smoking", "Vendí mi coche", "Tengo un coche", "I'm vegan",
    "I sell the oldest lots first", "That's wrong, I sell the newest lots first", "No, that's wrong, I sell half first",
    "Sorry, I meant I have two dogs", "Me equivoqué: mi coche es azul", "Mi coche es rojo", "I have a dog",
)  # fmt: skip


def lesson(number: int, text: str) -> FinishedTurn:
    return FinishedTurn(f"t{number}", DAY + timedelta(days=number), (text,), frozenset())


def after(texts: Sequence[str], order: Sequence[int] | None = None) -> Remembered:
    state = Remembered()
    for number in order if order is not None else range(len(texts)):
        state = with_lesson(state, lesson(number, texts[number]))
    return state


def current(state: Remembered) -> list[str]:
    memory = state.memory
    return [*memory.user_notes, *memory.preferences, *memory.older_notes]


def everything(state: Remembered) -> set[str]:
    told = {text for past in state.memory.superseded for text in (past.value, past.by)}
    return {text.casefold() for text in (*current(state), *told) if text}


@given(st.lists(st.sampled_from(SAID), max_size=12))
def test_no_sequence_of_statements_loses_a_fact(said: list[str]) -> None:
    held: set[str] = set()
    state = Remembered()
    for number, text in enumerate(said):
        state = with_lesson(state, lesson(number, text))
        assert held <= everything(state)
        held = everything(state)
        for past in state.memory.superseded:
            assert past.by is not None
            assert past.until <= DAY + timedelta(days=number)


@given(st.lists(st.sampled_from(SAID), max_size=8, unique=True), st.randoms(use_true_random=False))
def test_the_order_in_which_turns_arrive_changes_nothing(said: list[str], chance: random.Random) -> None:
    order = list(range(len(said)))
    chance.shuffle(order)
    inorder, shuffled = after(said), after(said, order)
    assert sorted(current(shuffled)) == sorted(current(inorder))
    pasts = [{(past.field, past.value, past.by) for past in state.memory.superseded} for state in (inorder, shuffled)]
    assert pasts[0] == pasts[1]


@given(st.lists(st.sampled_from(SAID), max_size=8, unique=True))
def test_turns_that_come_again_change_nothing(said: list[str]) -> None:
    state = after(said)
    for number, text in enumerate(said):
        assert with_lesson(state, lesson(number, text)) is state


def test_what_no_list_has_room_for_is_kept_among_the_older_notes() -> None:
    said = [f"Remember that note {number}: item {number}" for number in range(53)]
    said += [f"I like fund {number}" for number in range(53)]
    memory = after(said).memory
    assert (len(memory.user_notes), len(memory.preferences)) == (50, 50)
    assert memory.superseded == []
    assert set(memory.older_notes) == {
        *(f"note {number}: item {number}" for number in range(3)), *(f"I like fund {number}" for number in range(3)),
    }  # fmt: skip
    assert len(after([f"Remember that note {number}" for number in range(300)]).memory.older_notes) == MAX_OLDER_NOTES


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember I am vegan. Also I have a dog.", ["Also I have a dog", "I am vegan"]),
        ("Hola, trabajo de noche y mi mujer es médica, ¿qué hago?", ["mi mujer es médica", "trabajo de noche"]),
        ('The article says "I live in Lima and I have two kids"', []),
        ("> I live in Lima\nThanks", []),
        ("He told me «vivo en Lima»", []),
        ("I think I should wait, I see", []),
        ("Quiero comprar 5 AAPL", []),
        ("I want to retire in 2040", ["I want to retire in 2040"]),
        ("No quiero invertir en tabaco", ["No quiero invertir en tabaco"]),
        ("I don't want to invest in that", []),
        # Whoever chats comes to it late, and in between.
        ("ok so, since I live in Cork and get paid in euros, do I?", ["I live in Cork and get paid in euros"]),
        ("wait, did I tell you I have two kids?", ["I have two kids"]),
        ("La verdad es que me preocupa la hipoteca jaja", ["me preocupa la hipoteca jaja"]),
        # Somebody else's words, what is imagined, what is asked and what is no more than a joke.
        ("my wife says I should sell all my gold, but I live in York", ["I live in York"]),
        ("Mi jefe dice que soy rico y que tengo dos casas", []),
        ("Imagínate que soy médico y gano 5.000 al mes, ¿cuánto ahorro?", []),
        ("If I were 25 I'd buy Tesla and I have a yacht, but I'm 58", ["I'm 58"]),
        ("I own three yachts. Just kidding, I have 300 bucks", ["I have 300 bucks"]),
        ("Can I pay a house of 48,000 a year, or rent?", []),
        ('Resume este texto: "Vivo en Murcia. Me encantan los warrants."', []),
        ("Translate this text: I am a nurse. I live in Lima.", []),
        ("Pretend I'm rich, what would you buy? I own 12 companies. But I have 900 euros", ["I have 900 euros"]),
        ("I have 2 million now. joking!!", []),
        ("Had I kept my bitcoin I'd be rich by now", []),
        ("De haber vendido la casa ahora tendría un piso", []),
        ("I'm 29, self-taught and renting a flat", ["I'm 29, self-taught and renting a flat"]),
    ],
)
def test_plain_facts_are_kept_in_the_users_words_and_what_passes_or_is_quoted_is_not(
    said: str, kept: list[str]
) -> None:
    assert current(after([said])) == kept


def test_of_two_preferences_in_a_sentence_each_ends_by_itself() -> None:
    for said, later, left in (
        (
            "I prefer dividend stocks and I hate options",
            "I've come round to options, I like them now",
            "I prefer dividend",
        ),
        ("Prefiero los bonos y odio las opciones", "Las opciones ya me gustan", "Prefiero los bonos"),
    ):
        facts = current(after([said, later]))
        assert [fact.startswith(left) for fact in facts].count(True) == 1
        assert not any("hate" in fact or "odio" in fact for fact in facts)


def test_a_fact_said_again_after_actually_is_one_fact() -> None:
    assert len(current(after(["I live in Milan", "Actually I live in Milan"]))) == 1


def test_what_is_said_beside_a_fact_is_no_part_of_it_and_no_second_fact() -> None:
    for text in ("I own a kayak by the way", "I own a kayak, just so you know"):
        assert current(with_lesson(with_note(Remembered(), "I own a kayak", DAY), lesson(1, text))) == ["I own a kayak"]
    assert current(after(["tengo un kayak, por cierto"])) == ["tengo un kayak"]


@pytest.mark.parametrize(
    ("said", "left", "ended"),
    [
        (["Tengo un yate", "Lo del yate era broma"], [], ["Tengo un yate"]),
        (["I own a castle", "I was only kidding when I said I own a castle"], [], ["I own a castle"]),
        (["I have a red boat", "I have a blue boat", "I was joking about the boat"],
         ["I have a blue boat", "I have a red boat"], []),
        (["Vivo en Quito", "Desde enero vivo en Cuenca"], ["Desde enero vivo en Cuenca"], ["Vivo en Quito"]),
        (["Odio los bonos", "No odio los bonos"], ["No odio los bonos"], ["Odio los bonos"]),
        (["Tengo una hipoteca al 3,1 %", "He cambiado la hipoteca al 2,4 %"], ["He cambiado la hipoteca al 2,4 %"],
         ["Tengo una hipoteca al 3,1 %"]),
        (["Odio los bonos", "Ya no odio los bonos"], ["Ya no odio los bonos"], ["Odio los bonos"]),
    ],
)  # fmt: skip
def test_what_was_a_joke_or_began_since_then_is_told_from_what_is_so(
    said: list[str], left: list[str], ended: list[str]
) -> None:
    memory = after(said).memory
    assert (sorted(current_facts(memory)), [past.value for past in memory.superseded]) == (left, ended)


def test_what_is_said_of_risk_and_experience_in_one_sentence_is_all_taken() -> None:
    memory = after(["Soy conservador y principiante"]).memory
    assert (memory.risk_profile, memory.experience, memory.user_notes) == ("conservative", "beginner", [])
    memory = after(["Soy conservador", "ahora soy más agresivo"]).memory
    assert (memory.risk_profile, [past.value for past in memory.superseded]) == ("aggressive", ["conservative"])


def test_an_older_memory_is_read_without_what_is_new_in_it() -> None:
    old = {"userNotes": ["I live in Lima"], "superseded": [{"field": "userNotes", "value": "x", "until": DAY}]}
    assert LongTermMemory.model_validate(old).older_notes == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My daughter is called Lola, please keep that in mind", ["My daughter is called Lola"]),
        ("mi hija se llama Lola, recuérdalo", ["mi hija se llama Lola"]),
        ("the code of the gate is 4711, don't forget it!", ["the code of the gate is 4711"]),
        ("el portal se abre con 4711 y no lo olvides por favor", ["el portal se abre con 4711"]),
        ("Can you check AAPL, and remember that?", []),
        ("You should keep that in mind", []),
    ],
)
def test_what_stands_before_the_request_to_remember_it_is_kept_without_the_request(text: str, kept: list[str]) -> None:
    assert after([text]).memory.user_notes == kept


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I'm driving my grandma's old Buick", "the Buick finally died on the highway so I went and leased a Kia"),
        ("my boss, Karen, approves all my expenses", "Karen left us for a competitor, now it's a guy called Dev"),
        ("tengo el dinero en una cuenta del Santander", "me harté del Santander y lo pasé todo a MyInvestor"),
    ],
)
def test_a_fact_is_over_when_its_thing_is_named_and_said_to_be_over(first: str, second: str) -> None:
    said = ["I have two kids", first, second]
    assert current(after(said)) != current(after(said[:2]))
    assert first not in current(after(said))
    assert "I have two kids" in current(after(said))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # What somebody else is or does is not over with what the writer gave up.
        ("My niece studies law", "I graduated last month"),
        ("My nephew works at Google", "I left Google"),
        ("My roommate smokes", "I quit smoking"),
        ("Mi nieta juega al ajedrez", "Ya no juego al ajedrez"),
        ("Mi cuñado trabaja en Renfe", "Me fui de Renfe"),
        # What somebody did once stays true when they have died.
        ("My grandfather left me a farm", "My grandfather died"),
        ("Mi abuelo me dejó una finca", "Mi abuelo murió"),
        # What is no longer so under a condition is so without it.
        ("I run marathons", "I no longer run when it rains"),
        ("Corro maratones", "Ya no corro cuando llueve"),
        # A figure is no age.
        ("I'm 1.80 tall", "I'm 34 years old"),
        ("Antes vivía en Oviedo", "Vivo en Burgos"),
        ("I save 500 a week", "I stopped saving 200 a month"),
        ("I pay 90 a month for the gym", "I quit paying 50 a month for cable"),
        # What one does in several ways, under other conditions, or besides.
        ("I work as a nurse", "Now I work from home"),
        ("I rent a flat in Leeds", "I now rent a garage"),
        ("Ahorro para un viaje", "Ahora también ahorro para un coche"),
        ("Estoy divorciado", "Tengo novia"),
        ("I play tennis with Ana", "I now play chess with Luis"),
        # A figure that comes again is one of something else.
        ("I have 3 kids", "I now have 3 meetings and 2 calls a day"),
        ("Tengo 2 hijos", "Ahora trabajo 2 días y descanso 5"),
        ("I trade gold and silver", "I stopped trading gold"),
        ("opero oro y plata", "ya no opero oro"),
        ("I have a dog", "I no longer like the dog"),
        ("My son is 9", "My son is 4"),
        ("Mi hijo se llama Iván", "Mi hijo se llama Óscar"),
        ("My wife is called Ann", "My wife is German"),
    ],
)
def test_two_things_that_are_both_true_both_stay(first: str, second: str) -> None:
    assert current(after([first, second])) == [second, first]


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("I'm 41 years old", "I turned 42 yesterday", ["I turned 42 yesterday"]),
        ("I'm a smoker", "I quit smoking in June", []),
        ("No fumo", "He vuelto a fumar", ["He vuelto a fumar"]),
        ("My broker's Fidelity", "My broker's Schwab", ["My broker's Schwab"]),
        ("I like short answers", "I'd rather have longer ones now", ["I'd rather have longer ones now"]),
        ("I prefer dividend stocks", "dividends aren't my thing any more", None),
        ("me gustan los dividendos", "los dividendos ya no me interesan", None),
        ("I like gold", "gold no longer interests me", None),
        ("prefiero tablas", "nada de tablas, prefiero texto", ["nada de tablas, prefiero texto"]),
        ("My rent is 900", "My rent went up to 1000", ["My rent went up to 1000"]),
        ("Mi alquiler es de 900", "Mi alquiler subió a 1000", ["Mi alquiler subió a 1000"]),
        ("I drive a Civic", "I sold the Civic and drive a Rivian now", ["I sold the Civic and drive a Rivian now"]),
        ("I live in Ghent", "We relocated to Liège in spring", ["We relocated to Liège in spring"]),
        ("Mi jefa se llama Pilar", "Mi jefe ahora es Andrés", ["Mi jefe ahora es Andrés"]),
        ("Tengo dos gatos", "Ahora tengo solo un gato", ["Ahora tengo solo un gato"]),
        ("Mi correo es ana.ruiz@gmail.com", "Mi correo es a.ruiz@outlook.es", ["Mi correo es a.ruiz@outlook.es"]),
        ("Prefiero respuestas en inglés", "Respóndeme en español a partir de ahora", None),
        ("I run when it rains", "I no longer run when it rains", []),
        ("I hold 15 shares of Disney", "dumped all my Disney this morning", []),
        ("my plan is to retire at 60", "lol no, retiring at 60 is off the table", None),
        ("opero con DEGIRO", "me he cambiado de bróker, ahora estoy con XTB", None),
        ("I put about 200 a month aside", "got a raise so I can do 350 a month now", None),
        ("I'm single, no kids", "I got married last month!", None),
        ("tengo una moto", "la moto la vendí el mes pasado", []),
        ("pago 650 de alquiler", "me lo han subido, ahora pago 720", None),
        ("my car loan is 6k", "finally cleared the car loan", []),
        # The same verb and preposition of another thing now; a correction; what it is not; two figures, old and new.
        ("I commute by bus", "I commute by bike now", ["I commute by bike now"]),
        ("Entreno para un maratón", "Ahora entreno para un triatlón", None),
        ("My exam is on June 3", "Correction: my exam is on June 10", ["my exam is on June 10"]),
        ("I retire in 2040", "I retire in 2042, not in 2040", None),
        ("I want to retire at 55", "55 is not realistic, I'm aiming for 62 now", None),
        ("I bank with HSBC", "I closed my HSBC account and went to Monzo", None),
        ("I check the market every morning", "I don't check the market every morning any more", []),
        # What was wrong: told in other words than the fact's, by its figure, or by its place in a list.
        ("I earn 3,400 a month after tax", "Sorry, I meant 4,300 a month after tax", None),
        ("Cobro el día 25", "No es el 25, cobro el día 28", ["cobro el día 28"]),
        ("Mi marido se llama Andrés", "No, mi marido se llama Adrián", ["mi marido se llama Adrián"]),
        ("My wife is called Ann", "My wife is called Eve", ["My wife is called Eve"]),
        # When it ended; ages; somebody else.
        ("I smoke", "I gave up smoking two years ago", []),
        ("I smoke", "I haven't smoked for six months", []),
        ("Bebo cerveza", "Hace un año que no bebo cerveza", []),
        ("My daughter is 4", "My daughter is already 5", ["My daughter is already 5"]),
        ("Mi hijo tiene 9 años", "Mi hijo acaba de cumplir 10 años", ["Mi hijo acaba de cumplir 10 años"]),
        ("Tengo deudas", "Pagué todas mis deudas", []),
        ("I'm pregnant", "I had the baby in March", ["I had the baby in March"]),
        ("Ahorro 300 al mes", "El segundo está mal, ahorro 400 al mes", ["ahorro 400 al mes"]),
        ("My boss is Karen", "Tom is my boss now", None),
        ("Mi jefe es Luis", "Marta es mi nueva jefa", None),
        ("My wife works at Ford", "My wife has retired", None),
        ("Mi padre trabaja en Renfe", "mi padre se ha jubilado", None),
    ],
)
def test_what_is_over_or_has_another_value_now_is_history(first: str, second: str, left: list[str] | None) -> None:
    state = after([first, second])
    assert first not in current(state)
    assert first in {past.value for past in state.memory.superseded}
    assert left is None or current(state) == left


def test_who_is_no_expert_in_markets_and_what_is_denied_is_no_profile() -> None:
    for text in ("I'm an expert in cooking", "I'm a professional nurse", "Soy experta en historia"):
        assert after([text]).memory.experience is None, text
    for text in ("I'm an expert", "I'm an experienced trader", "Soy experto en bolsa", "I'm advanced, so be brief"):
        assert after([text]).memory.experience == "advanced", text
    for text in ("Don't call me Bob", "No me llamo Ana"):
        assert after([text]).memory.name is None, text
    assert after(["Call me Bob", "Don't call me Bob"]).memory.name is None
    assert after(["No, me llamo Rosa"]).memory.name == "Rosa"
    for text in ("I'm not a day trader", "I'm no longer a swing trader"):
        assert after([text]).memory.trading_style is None, text
    assert after(["Pasé de swing a largo plazo"]).memory.trading_style == "long_term"


def test_a_deadline_for_money_is_a_fact_and_what_somebody_will_think_about_is_none() -> None:
    for text in ("I need the money back before June 2028", "Necesito recuperar el dinero antes de junio de 2028"):
        assert current(after([text])) == [text]
    assert current(after(["Great, I'll think about it"])) == []


def test_a_correction_that_names_the_wrong_fact_takes_only_the_one_that_it_replaces() -> None:
    state = after(["Remember that I have 3 kids", "Remember that I live in Bristol"])
    corrected = with_note(state, "I have 4 kids", DAY + timedelta(days=9), instead_of="I live in Bristol")
    assert current(corrected) == ["I have 4 kids", "I live in Bristol"]
    corrected = with_note(state, "I rent a flat", DAY + timedelta(days=9), instead_of="I live in Bristol")
    assert current(corrected) == ["I rent a flat", "I have 3 kids"]


def test_of_a_correction_that_is_forgotten_no_words_are_kept() -> None:
    state = after(["I sell the oldest lots first", "That's wrong, I sell the newest lots first"])
    assert list(state.corrections) == ["I sell the newest lots first"]
    state = forget(state, "I sell the newest lots first", DAY + timedelta(days=5)).state
    assert not state.corrections
    assert not with_lesson(state, lesson(1, "That's wrong, I sell the newest lots first")).corrections


@pytest.mark.parametrize(
    ("asked", "notes"),
    [
        ("soy vegano, que vivo en Lima y que no fumo", ["soy vegano", "vivo en Lima", "no fumo"]),
        ("my dog is Rex, my cat is Tom and our car is a Fiat", ["my dog is Rex", "my cat is Tom", "our car is a Fiat"]),
        ("the rent is 900, that the lease ends in May", ["the rent is 900", "the lease ends in May"]),
        ("tengo dos hijos y que mi mujer es médica", ["tengo dos hijos", "mi mujer es médica"]),
        # One statement: of two people, of several things, with a clause that goes on.
        *(
            (one, [one])
            for one in (
                "my wife and I have two kids", "mi hermano, que vive en Lima, me debe 200", "I like tea and coffee",
                "tengo un coche que no uso y que quiero vender", "my son Leo and my daughter Ana are twins",
                "I only buy when the market falls and I have cash", "mi jefe es Ana, que vive en Lima",
            )
        ),
    ],
)  # fmt: skip
def test_what_is_asked_to_be_remembered_is_kept_statement_by_statement(asked: str, notes: list[str]) -> None:
    by_tool = remember(Remembered(), asked, DAY)
    assert list(by_tool.facts) == notes
    # What a model was asked to remember is learned from the turn too: as the same notes.
    turn = FinishedTurn("t", DAY, (f"Recuerda que {asked}",), frozenset())
    assert sorted(current_facts(with_lesson(by_tool.state, turn).memory)) == sorted(notes)


def test_of_several_facts_of_one_request_one_can_be_forgotten_and_corrected() -> None:
    state = remember(Remembered(), "soy vegano, que vivo en Lima y que no fumo", DAY).state
    state = forget(state, "que vivo en Lima", DAY).state
    assert sorted(current_facts(update(state, "que no fumo", "fumo poco", DAY).state.memory)) == [
        "fumo poco",
        "soy vegano",
    ]
