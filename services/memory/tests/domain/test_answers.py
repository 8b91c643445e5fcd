"""A question about oneself is answered by the facts that tell what it asks for, and by no others."""

import pytest

from memory.domain.answers import facts_that_answer, is_about_writer

ENGLISH = [
    "I just moved to Austin", "I work as a nurse", "I have two kids", "I bought 10 AAPL at 150",
    "My wife is called Laura", "My sister Eva has a bakery", "My rent is 1200 a month", "I retire in 2040",
]  # fmt: skip
SPANISH = [
    "Vivo en Cádiz", "Trabajo de noche en un hospital", "Mi perro se llama Rex", "Compré 5 de IBM a 190",
    "Debo 15000 del coche", "Mi hija estudia medicina", "Ahorro para una casa", "mi notaría es la 12",
    "Me gusta el té verde",
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Where do I live?", 0), ("what's my job", 1), ("whats my job", 1), ("what do you know about my job?", 1),
        ("What do I do for a living?", 1),
        ("How many kids do I have?", 2), ("What did I pay for my AAPL?", 3),
        ("What's my wife's name?", 4), ("How much rent do I pay?", 6),
        ("When will I retire?", 7),
    ],
)  # fmt: skip
def test_a_fact_answers_in_other_words_too(question: str, fact: int) -> None:
    assert facts_that_answer(ENGLISH, question) == [ENGLISH[fact]]


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("¿Dónde vivo?", 0), ("¿dónde trabajo?", 1), ("¿Cómo se llama mi perro?", 2), ("¿A cuánto compré IBM?", 3),
        ("¿Cuánto debo del coche?", 4), ("¿Qué estudia mi hija?", 5), ("¿Para qué ahorro?", 6),
        ("¿cuál es mi notaría?", 7), ("¿qué té me gusta?", 8),
    ],
)  # fmt: skip
def test_so_it_does_in_spanish(question: str, fact: int) -> None:
    assert facts_that_answer(SPANISH, question) == [SPANISH[fact]]


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("What can't I eat?", [0, 9]), ("Am I allergic to anything?", [1]), ("What do I never trade?", [2]),
        ("What do I prefer?", [3]), ("Do I like ETFs?", [3]), ("Am I married?", [4]), ("Do I have kids?", [5]),
        ("Is my brother a dentist?", [6]), ("What languages do I speak?", [7]), ("Do I smoke?", [8]),
        ("¿Qué no como?", [0, 9]), ("¿Soy diabética?", [10]), ("¿Qué no me gusta?", [11]), ("¿Estoy casada?", [4]),
        ("¿Hablo galés?", [7]), ("¿Es dentista mi hermano?", [6]), ("What do I smoke?", [8]),
        ("Am I logged in?", []), ("¿Puedo fumar?", []), ("Is there any news on my stocks?", []),
        ("¿Hay algo que no como?", [0, 9]),
    ],
)  # fmt: skip
def test_questions_that_deny_or_ask_whether_are_answered(question: str, facts: list[int]) -> None:
    held = [
        "I don't eat seafood", "I'm allergic to pollen", "I never trade options", "I prefer ETFs",
        "My husband is called Ed", "I have two sons", "My brother is a dentist", "I speak Welsh, hablo galés",
        "I don't smoke", "No como cerdo", "Soy diabética", "No me gustan las criptomonedas",
    ]  # fmt: skip
    assert facts_that_answer(held, question) == [held[index] for index in facts]


def test_what_is_hated_is_not_what_is_liked() -> None:
    facts = ["I like dividend stocks", "I hate options"]
    assert facts_that_answer(facts, "What do I hate?") == facts[1:]
    assert facts_that_answer(facts, "What do I like?") == facts[:1]


def test_what_somebody_else_is_does_not_answer_for_the_writer() -> None:
    assert facts_that_answer(["My daughter is allergic to cats"], "Do I have a cat?") == []
    assert facts_that_answer(["Mi hija es alérgica a los gatos"], "¿A qué es alérgica mi hija?") != []


def test_where_something_is_kept_is_no_question_for_the_way() -> None:
    facts = ["I parked my savings with Fondomar", "guardo el oro en Suiza", "I keep my papers with Ana"]
    assert facts_that_answer(facts, "Where did I park my savings?") == facts[:1]
    assert facts_that_answer(facts, "¿Dónde guardo el oro?") == facts[1:2]
    assert facts_that_answer(facts, "Where do I keep my papers?") == facts[2:]
    assert facts_that_answer(facts, "How do I keep my papers safe?") == []


@pytest.mark.parametrize(
    "question",
    [
        # These share a ticker with a fact, and ask for something else.
        "Should I sell my AAPL?", "How is my AAPL doing?", "What is AAPL trading at?", "Is AAPL a good buy for me?",
        "Do I have alerts on AAPL?", "How much did I make on AAPL?",
        # These share a word or a kind with one.
        "What's my brother's name?", "What's my dog called?", "How do I sell options?", "What do I eat for breakfast?",
        "Where was I born?", "How old am I?", "I live in Denver", "Is there work for me?",
    ],
)  # fmt: skip
def test_what_only_shares_a_word_or_a_ticker_answers_nothing(question: str) -> None:
    assert facts_that_answer(ENGLISH, question) == []


@pytest.mark.parametrize(
    "question",
    [
        "¿Vendo mis IBM?", "¿Cómo van mis IBM?", "¿Cuánto vale IBM?", "¿Me conviene comprar IBM?",
        "¿Cómo se llama mi hijo?", "¿Qué estudia mi hijo?", "¿Dónde nací?", "¿Qué coche me compro?",
        "¿Cómo cambio mi plan?", "¿Cuánto tengo ahorrado?", "¿Dónde veo mis órdenes?",
    ],
)  # fmt: skip
def test_nor_does_it_in_spanish(question: str) -> None:
    assert facts_that_answer(SPANISH, question) == []


def test_both_of_two_that_are_true_are_told() -> None:
    both = ["vivo en Madrid en invierno", "vivo en Cádiz en verano"]
    assert facts_that_answer(both, "¿Dónde vivo?") == both
    assert facts_that_answer(both, "¿Dónde vivo en verano?") == both[1:]


def test_a_question_beside_other_sentences_is_answered() -> None:
    facts = ["I live in York", "I take no sugar"]
    assert facts_that_answer(facts, "Forget that I take no sugar. And where do I live?") == facts[:1]
    assert facts_that_answer(facts, "I live in York. Buy it where I live.") == []


def test_who_asks_of_themselves_is_told_apart_from_who_tells() -> None:
    assert is_about_writer("where do I live?")
    assert is_about_writer("Thanks. What is my dog's name?")
    assert not is_about_writer("I live in York.")
    assert not is_about_writer("What is AAPL trading at?")


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("what did my father do?", 0), ("What was my dad's job?", 0), ("what does my mom do?", 1),
        ("¿A qué se dedicaba mi abuelo?", 2), ("¿qué hacía mi abuelo?", 2), ("¿de dónde vino mi abuela?", 3),
        ("How long did my uncle work in the mines?", 4),
    ],
)  # fmt: skip
def test_what_relatives_were_is_answered(question: str, fact: int) -> None:
    facts = [
        "my father was a baker", "my mother is a nurse", "mi abuelo fue minero en Asturias",
        "mi abuela vino de Galicia",
        "My uncle worked in the mines for 30 years",
    ]  # fmt: skip
    assert facts_that_answer(facts, question) == [facts[fact]]


def test_what_was_or_is_wished_is_not_told_as_what_is() -> None:
    held = ["Desde marzo vivo en Ávila", "Antes vivía en Zamora", "I'd love to live in Iceland someday"]
    assert facts_that_answer(held, "¿Dónde vivo?") == held[:1]
    assert facts_that_answer(held, "¿Dónde vivía antes?") == held[1:2]
    assert facts_that_answer(held[2:], "Where do I live?") == []
    assert facts_that_answer(["I have a new doctor, Dr Ray"], "Who was my doctor before?") == []
    assert facts_that_answer(["No soy ni rico ni pobre", "tengo una panadería"], "¿Qué negocio tengo?") == [
        "tengo una panadería"
    ]
