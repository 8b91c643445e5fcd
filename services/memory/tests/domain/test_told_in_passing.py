"""Changes told the way people chat: long sentences, asides, somebody else's news, plans, a week away."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from contracts.memory_rpc import fact_id
from contracts.proposal_rpc import FactProposal
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.proposals import judged, own_statements
from memory.domain.remembered import Remembered, current_facts

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def after(texts: Sequence[str], order: Sequence[int] | None = None) -> Remembered:
    state = Remembered()
    for number in order or range(len(texts)):
        turn = FinishedTurn(f"t{number}", START + timedelta(days=number), (texts[number],), frozenset())
        state = with_lesson(state, turn)
    return state


def proposed(old: str, said: str, quote: str) -> tuple[Remembered, tuple[str, ...]]:
    """After a model that has the quote take the place of what was said first."""
    state = after([old])
    (fact,) = current_facts(state.memory)
    proposal = FactProposal(do="supersede", id=fact_id(fact), quote=quote)
    done = judged(state, "t9", START + timedelta(days=9), [said], [proposal])
    return done.state, done.refused


@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        ("We keep two goats, Salt and Pepper", "bad news, we had to say goodbye to Pepper on Friday", "Pepper"),
        ("llevo años en Telmex, así que el chisme lo tengo", "dejé Telmex el martes, con todo y fiesta", "en Telmex"),
        ("mi esposo se llama Raúl y cocina él", "te cuento: Raúl y yo nos divorciamos en marzo", "esposo se llama"),
        ("mi tractor es un Fendt del 98, el pobre", "al final mandé el Fendt al desguace", "tractor es un Fendt"),
        ("tengo 30 mil en oro, casi nada", "saqué lo que tenía en oro, ni un gramo quedó", "30 mil en oro"),
        ("My rent is 1,200 a month", "they raised it, my rent is 1,450 a month", "1,200"),
        ("Voy a casarme en octubre con Elsa", "Al final no nos casamos", "casarme"),
        ("I'm going to sell the boat in May", "In the end I'm not selling the boat", "going to sell"),
        ("Hago ejercicio los martes", "Ahora hago ejercicio los miércoles en vez de los martes", "los martes"),
        ("I don't have a pension", "I opened a pension with Aviva last month", "have a pension"),
        ("Cobro 1.800 al mes", "Me han subido el sueldo a 2.050", "1.800"),
        ("soy alérgica a las nueces, cuidado", "hice la prueba otra vez y no soy alérgica a las nueces", "alérgica"),
    ],
)
def test_a_change_in_a_long_sentence_ends_what_it_names(first: str, then: str, gone: str) -> None:
    memory = after([first, then]).memory
    assert any(gone in past.value for past in memory.superseded)
    assert not any(gone in fact and fact in first for fact in current_facts(memory))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I work as a florist", "My cousin stopped working as a florist"),
        ("soy socia del club Náutico", "mi compadre ya no es socio del club Náutico"),
        ("Tengo un seguro de hogar con Mapfre", "Cancelé el seguro del perro"),
        ("I have my nephew Theo every Friday", "Theo isn't with me this week"),
        ("I hold three funds: Amundi World, Vanguard EM and a Baillie fund", "I sold the Baillie one"),
        ("I have 40 IBM shares", "I sold 15 books"),
        ("tengo 5 hermanos", "vendí 3"),
        ("Tengo tres perros: Luna, Rayo y Toby", "Toby murió en enero"),
        ("tengo dos niñas, Ada y Sol", "Sol ya no quiere ir a natación"),
        ("I run a stall at the market", "I'm thinking of selling the stall at the market next year"),
        ("manejo un camión", "quiero vender el camión algún día"),
        ("Mi hija toca el chelo", "mi hijo dejó el chelo por la batería"),
        ("I have a lease on the shop", "the lease on the shop has 4 years left on it"),
    ],
)
def test_news_of_others_of_a_part_or_of_a_while_take_nothing_away(first: str, then: str) -> None:
    (fact,) = current_facts(after([first]).memory)
    assert fact in current_facts(after([first, then]).memory)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Tengo 40 acciones de Inditex", "Vendí 15 de Inditex ayer"),
        ("I have 40 IBM shares", "I sold 15"),
        ("I own 40 shares of IBM", "I bought 10 more"),
    ],
)
def test_a_number_is_true_no_longer_once_some_are_sold_or_more_bought(first: str, then: str) -> None:
    for order in ([0, 1], [1, 0]):
        memory = after([first, then], order).memory
        assert (current_facts(memory), [past.value for past in memory.superseded]) == ([then], [first])
    assert len(current_facts(after([first, "Tengo 30 acciones de BBVA", "I sold 15"]).memory)) == 3


def test_what_is_over_of_several_things_is_remembered_beside_them() -> None:
    facts = current_facts(after(["I have a Seat, a boat and a van", "I sold the van"]).memory)
    assert facts == ["I sold the van", "I have a Seat, a boat and a van"]


@pytest.mark.parametrize(
    ("then", "minutes", "is_over"),
    [
        ("Es broma: no tolero pérdidas de más del 5 %", 1, True),
        ("Just kidding!", 9, True),
        ("Just kidding!", 11, False),
        ("No es broma", 1, False),
        ("I'm not kidding", 1, False),
    ],
)
def test_a_joke_takes_back_the_only_fact_of_the_turn_just_before_it(then: str, minutes: int, is_over: bool) -> None:
    state = after(["I have a dog", "I own a castle"])
    turn = FinishedTurn("t9", START + timedelta(days=1, minutes=minutes), (then,), frozenset())
    facts = current_facts(with_lesson(state, turn).memory)
    assert ("I own a castle" not in facts, "I have a dog" in facts) == (is_over, True)


@pytest.mark.parametrize(
    ("old", "said", "quote"),
    [
        ("I take warfarin", "My doctor took me off warfarin", "took me off warfarin"),
        ("I pay with my old Diners card", "ha, cut up the Diners on Sunday", "cut up the Diners on Sunday"),
        ("mi consejera es Inés", "Inés se va a otra sucursal, así que desde ahora apúntame con Leo",
         "desde ahora apúntame con Leo"),
        ("mi sobrina va en secundaria", "mi sobrina ya va en la prepa", "mi sobrina ya va en la prepa"),
        ("I live out in Bath with my mum", "drove all night, and I'm a Leeds resident as of today",
         "I'm a Leeds resident as of today"),
        ("I speak no Czech", "after evening classes all winter I can follow a film in Czech",
         "I can follow a film in Czech"),
        ("no nado", "ya me animo, nado los jueves con mi cuñada", "ya me animo, nado los jueves con mi cuñada"),
        ("I put aside 250 dollars a month for investing", "after the promotion I can manage 400 a month",
         "after the promotion I can manage 400 a month"),
        ("I am engaged", "the rain held off, we walked in and I said yes", "I said yes"),
        ("I clean windows for Brandt", "I gave Brandt notice and scrub decks for a small yard in Kiel",
         "I gave Brandt notice and scrub decks for a small yard in Kiel"),
        ("Mi gata se llama Nube", "se nos fue Nube el martes, ya era muy mayor", "se nos fue Nube el martes"),
    ],
)  # fmt: skip
def test_what_a_model_understands_is_taken_where_something_has_happened(old: str, said: str, quote: str) -> None:
    state, refused = proposed(old, said, quote)
    assert refused == ()
    assert old not in current_facts(state.memory)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("I have a parrot called Kiwi", "My neighbour's parrot died"),
        ("I have a savings account at Ally", "I opened a savings account at Marcus"),
        ("Trabajo en una clínica", "Mi hermana dejó la clínica donde trabajaba"),
        ("Quiero ahorrar para un viaje", "Quiero ahorrar para cambiar el coche"),
        ("I own shares of Ford", "I sold half of my Ford shares"),
        ("I own all of my Unilever", "I sold half of my Ford shares"),
        ("I invest 200 a month in ETFs", "I invest 100 a month in gold"),
        ("El mate me gusta amargo", "el café lo tomo dulce"),
    ],
)
def test_a_model_that_is_wrong_about_one_fact_takes_it_away_no_more_than_the_rules(old: str, said: str) -> None:
    state, refused = proposed(old, said, said)
    assert refused
    assert any(fact in old for fact in current_facts(state.memory))


def test_a_change_that_says_what_comes_is_remembered_with_it() -> None:
    memory = after(["I use a Nokia phone", "I use a Pixel these days, the Nokia is gone"]).memory
    assert current_facts(memory) == ["I use a Pixel these days, the Nokia is gone"]


@pytest.mark.parametrize(
    ("first", "then", "last"),
    [
        ("mi gestoría es Robles", "mira, mi gestoría ya no es Robles, me cambié a Olmo", "mi gestoría ahora es Pino"),
        ("my bank is Kappa", "my bank is no longer Kappa, I switched to Delta", "my bank is now Sigma"),
    ],
)
def test_what_comes_instead_is_remembered_with_what_it_takes_the_place_of(first: str, then: str, last: str) -> None:
    assert [fact in then and first.split()[1] in fact for fact in current_facts(after([first, then]).memory)] == [True]
    assert current_facts(after([first, then, last]).memory) == [last]


def test_a_clause_that_leans_on_the_one_before_it_is_remembered_with_it() -> None:
    said = "mi hucha está en el armario y le echo 5 euros a la semana"
    assert current_facts(after([said]).memory) == [said]


def test_a_change_in_passing_that_arrives_before_what_it_ends_ends_it_all_the_same() -> None:
    said = ["I have a Kindle", "my Kindle was stolen", "mi novia se llama Ana", "Ana y yo lo hemos dejado"]
    inorder = after(said).memory
    assert {past.value for past in inorder.superseded} == {"I have a Kindle", "mi novia se llama Ana"}
    for order in permutations(range(4)):
        memory = after(said, order).memory
        assert sorted(current_facts(memory)) == sorted(current_facts(inorder))
        assert sorted(past.value for past in memory.superseded) == sorted(past.value for past in inorder.superseded)


def test_what_a_sentence_is_about_may_stand_before_it() -> None:
    known = after(["we've got an ancient Volvo"]).memory
    said = "Remember that Volvo I mentioned? Gearbox died, it went to the scrapyard."
    assert own_statements([said], known) == ["Gearbox died, it went to the scrapyard."]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I've been seeing Dr. Moss for my back", "I've been seeing Dr Moss for my back"),
        ("Tengo un gato que se llama Pixel", "Tengo un gato que se llama Pixel"),
        ("bueno, para que te hagas una idea, vivo en Rosario", "vivo en Rosario"),
        ("For what it's worth I'm a light sleeper", "I'm a light sleeper"),
        ("por cierto: Ana y yo vivimos en Quito", "Ana y yo vivimos en Quito"),
    ],
)
def test_a_fact_is_kept_whole_and_without_what_leads_to_it(said: str, fact: str) -> None:
    assert current_facts(after([said]).memory) == [fact]


@pytest.mark.parametrize(
    "said",
    [
        "cuánto he perdido con nvidia",
        "Cuanto llevo ganado este mes",
        "oye, dónde veo mis dividendos",
        "what did I pay for my last shares",
        "how much money do I have in cash",
        "can I sell my bonds on a Sunday",
        "like my grandad used to say, I never lend money",
        "jaja sí, claro, y yo tengo un castillo",
    ],
)
def test_a_question_without_its_mark_a_saying_and_a_joke_are_no_facts(said: str) -> None:
    assert current_facts(after([said]).memory) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Oye qué día, ya tengo trabajo en un taller, ¿cómo va el euro?", "tengo trabajo en un taller"),
        ("cuánto he ganado con Apple, tengo 10 acciones de Apple", "tengo 10 acciones de Apple"),
        ("When I was 20 I lost my savings in a casino", "I lost my savings"),
        ("cuando bajan mucho vendo mis acciones", "vendo mis acciones"),
    ],
)
def test_what_is_told_beside_a_question_or_begins_like_one_is_kept(said: str, fact: str) -> None:
    assert any(fact in one for one in current_facts(after([said]).memory))


@pytest.mark.parametrize(
    ("first", "correction", "instead"),
    [
        (
            "I always sell the oldest lots first",
            "That's wrong, I sell the newest lots first.",
            "I sell the newest lots first",
        ),
        ("tengo dos casas en Soria", "Me equivoqué, tengo tres casas en Soria", "tengo tres casas en Soria"),
        (
            "My sister Ana works at Ford",
            "No, that's not right. My sister Ana works at Fiat.",
            "My sister Ana works at Fiat",
        ),
    ],
)
def test_a_correction_takes_the_place_of_what_it_corrects(first: str, correction: str, instead: str) -> None:
    state = after(["I have two dogs", first, correction])
    assert first not in current_facts(state.memory)
    assert {instead, "I have two dogs"} <= set(current_facts(state.memory))
    again = FinishedTurn("t2", START + timedelta(days=2), (correction,), frozenset())
    assert with_lesson(state, again) is state


def test_a_correction_that_names_nothing_is_kept_as_it_was_said() -> None:
    state = after(["tengo 40 acciones de ibm en otro banco", "me equivoqué, son 45 las que tengo"])
    assert "me equivoqué, son 45 las que tengo" in current_facts(state.memory)


def test_a_correction_of_something_else_ends_nothing() -> None:
    state = after(["I have two dogs", "I live in Soria", "That's wrong, the price was 600. I have a cat named Tom."])
    assert {"I have two dogs", "I live in Soria"} <= set(current_facts(state.memory))


@pytest.mark.parametrize(
    "asked",
    [
        "throw me 10 ibm",
        "hook me up with 3 IBM",
        "ping me at 200",
        "snag 5 FB for me",
        "move my stop to 150",
        "cámbialo a 4 %",
        "ponle un stop un 4% por debajo de lo que pagué",
        "véndelas a 190",
        "slap 3 IBM on my account",
        "3 IBM for me",
        "me llevo 3 de IBM",
        "call me at 5",
    ],
)
def test_a_wish_in_any_verb_is_no_fact(asked: str) -> None:
    assert current_facts(after([asked]).memory) == []


@pytest.mark.parametrize(
    "told",
    ["Costs me 300 a month", "took me 3 years to save 20k", "gives me 900 a month", "me llevo 3 años con mi hermana"],
)
def test_what_something_costs_or_gives_its_writer_is_one(told: str) -> None:
    assert current_facts(after([told]).memory) == [told]


@pytest.mark.parametrize(
    "told",
    [
        "English isn't my first language", "Gold is my favourite asset", "el oro no es mi activo favorito",
        "I only understand the basics of bonds", "solo entiendo lo básico de bolsa", "desayuno a las siete",
    ],
)  # fmt: skip
def test_what_something_is_to_its_writer_and_how_little_they_know_is_a_fact(told: str) -> None:
    assert current_facts(after([told]).memory) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "jajaja soy millonario, claro", "lol sure, I'm a millionaire", "yeah right, I'm Warren Buffett",
        "This is my first question", "Gold is my next question",
    ],
)  # fmt: skip
def test_irony_and_what_is_asked_now_are_none(said: str) -> None:
    assert current_facts(after([said]).memory) == []


def test_who_wants_to_be_addressed_otherwise_is_so_from_then_on() -> None:
    assert current_facts(after(["Prefiero que me hables de usted", "Tutéame, por favor"]).memory) == [
        "Tutéame, por favor"
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "cual es mi peor accion",
        "y cual es mi plan",
        "mi plan cual es",
        "if it goes to 35 what do i make",
        "and if IBM drops to 150 how much do I lose",
        "como le va a mi cartera",
        "donde estan mis alertas",
        "quien es mi gestor",
        "a que precio compre mis acciones",
        "por que ha caido mi cartera",
        "en que estado esta mi orden",
        "esta cerrada mi cuenta",
        "tengo alguna alerta",
        "he perdido algo con apple",
        "which of my stocks is doing worst",
        "whats my worst stock",
        "my plan what is it",
        # What says nothing without the chat around it, and trouble with the service.
        "i prefer the second one",
        "prefiero la otra",
        "me gusta",
        "i hate this",
        "pues no me convence",
        "i bought it yesterday by mistake",
        "ya he vuelto",
        "i wanna buy some apple",
        "i'm gonna wait",
        "busco acciones con dividendo",
        "estoy en el movil",
        "i was charged twice",
        "he olvidado mi contraseña",
    ],
)
def test_what_is_asked_or_said_of_the_chat_is_no_fact(asked: str) -> None:
    assert current_facts(after([asked]).memory) == []


@pytest.mark.parametrize(
    ("told", "fact"),
    [
        ("como carne todos los dias", "como carne todos los dias"),
        ("como soy vegano, no tomo leche", "soy vegano"),
        ("im vegan", "im vegan"),
        ("solo compro etfs", "solo compro etfs"),
        ("me gusta el té", "me gusta el té"),
        ("esta semana es mi cumpleaños", "esta semana es mi cumpleaños"),
        ("esta es mi segunda casa", "esta es mi segunda casa"),
        ("cual es el mejor valor, yo tengo dos hijos", "yo tengo dos hijos"),
        ("who I trust is my brother", "who I trust is my brother"),
    ],
)
def test_what_is_told_with_a_word_of_questions_is_kept(told: str, fact: str) -> None:
    assert fact in current_facts(after([told]).memory)
