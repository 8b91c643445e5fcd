"""Ranking: what a question finds, in which order, and that the order of arrival changes nothing."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.recall.excerpts import excerpt
from memory.domain.recall.index import IndexedMessage, RecallIndex
from memory.domain.recall.words import folded, query_terms, similar_terms, spanish, stems, words

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def talk(
    name: str, *lines: str, days_ago: float = 1, speakers: tuple[str, ...] = ("user", "assistant")
) -> list[IndexedMessage]:
    at = NOW - timedelta(days=days_ago)
    return [
        IndexedMessage(
            f"{name}{place}", name, place, speakers[place % len(speakers)], line, at + timedelta(minutes=place)
        )
        for place, line in enumerate(lines)
    ]


def found(passages: list[IndexedMessage], question: str, limit: int = 10) -> list[str]:
    index = RecallIndex()
    index.add(passages)
    return [one.passage.id for one in index.search(question, limit, NOW)]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I bought Tesla", "when did I buy tesla"),
        ("Vendí mis acciónes de Telmex", "¿cuándo vendo telmex?"),
        ("mis inversiones van bien", "inversion"),
        ("la operación fue un éxito", "operaciones"),
        ("my capital is 5,000", "5000"),
        ("tengo 20k ahorrados", "20.000"),
        ("mi corredor es Kappa", "who is my broker"),
        ("my broker is Kappa", "¿cuál es mi corredor?"),
        ("I hold Mitsubishi shares", "mitsubushi"),
        ("the children went to Cádiz", "child Cadiz"),
        ("me pinto las uñas de gel", "¿de qué pinto las unas?"),
        ("un te\u0301 sin leche", "¿qué té quería?"),
        ("I bite my nails", "uñas"),
    ],
)
def test_the_same_thing_in_another_form_is_found(said: str, asked: str) -> None:
    others = talk("x", "the weather is fine", "hace buen tiempo", "see you soon")
    assert found([*others, *talk("a", said)], asked)[0] == "a0"


def test_an_answer_is_found_by_the_question_before_it() -> None:
    passages = [*talk("a", "Which platform is best for options?", "Thinkorswim."), *talk("b", "What a day", "Yes")]
    assert found(passages, "platform for options")[:2] == ["a1", "a0"] or found(passages, "platform for options")[
        :2
    ] == [
        "a0",
        "a1",
    ]
    assert "b1" not in found(passages, "platform for options")


def test_words_of_days_apart_do_not_lean_on_each_other() -> None:
    first, second = talk("a", "gold", "silver")
    late = IndexedMessage(second.id, "a", 1, "assistant", "silver", first.at + timedelta(days=3))
    assert found([first, late], "gold") == ["a0"]


def test_who_is_named_spoke() -> None:
    passages = talk(
        "a", "pottery is fun", "x", "y", "z", "pottery is fun", speakers=("Ana", "Bob", "Bob", "Bob", "Bob")
    )
    assert found(passages, "What did Bob say about pottery?")[0] == "a4"
    assert found(passages, "What did Ana say about pottery?")[0] == "a0"


def test_of_two_alike_the_newer_comes_first_and_a_month_that_is_named_counts() -> None:
    passages = [*talk("old", "I bought gold", days_ago=100), *talk("new", "I bought gold", days_ago=2)]
    assert found(passages, "gold") == ["new0", "old0"]
    assert found(passages, "gold in February 2026") == ["old0", "new0"]


def test_a_question_of_stop_words_finds_the_newest_of_who_is_named() -> None:
    passages = [*talk("a", "one", "two", days_ago=9), *talk("b", "three", "four", days_ago=1)]
    assert found(passages, "what did I say?") == ["b0", "a0"]
    assert found(passages, "zebra") == []
    assert found([], "what did I say?") == []


def test_nothing_is_taken_twice_and_what_is_left_out_is_not_found() -> None:
    index = RecallIndex()
    passages = talk("a", "gold", "more gold")
    assert (index.add(passages), index.add(passages), len(index)) == (2, 0, 2)
    assert index.newest("a", 1) == {"a1"}
    assert [one.passage.id for one in index.search("gold", 5, NOW, without={"a1"})] == ["a0"]


@given(st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(shuffled: random.Random) -> None:
    passages = [
        *talk("a", "gold is fine", "and silver", "what of copper?", "copper fell"),
        *talk("b", "vendí oro", "¿cuándo?", "en marzo"),
    ]
    expected = found(passages, "gold silver copper oro")
    mixed = list(passages)
    shuffled.shuffle(mixed)
    assert found(mixed, "gold silver copper oro") == expected


@given(st.text(max_size=300), st.text(max_size=60), st.integers(min_value=10, max_value=100))
def test_any_text_can_be_searched_and_cut(text: str, question: str, most: int) -> None:
    found([*talk("a", text), *talk("b", question)], question)
    assert len(excerpt(text, question, most)) <= max(most, 0)
    assert all(word == word.lower() for word in words(text))
    assert all(term.stems for term in query_terms(question))
    stems(text)


def test_a_misspelt_word_is_near_only_to_what_begins_alike() -> None:
    assert similar_terms("mitsubushi", ["mitsubishi", "subaru", "mits"]) == ["mitsubishi"]
    assert similar_terms("gold", ["cold", "golf"]) == []
    assert similar_terms("broker", ["broke", "brokers", "joker"]) == ["broke", "brokers"]


@pytest.mark.parametrize(("said", "asked"), [("cerramos", "cerráis"), ("aceptamos", "aceptáis"), ("tenemos", "tenéis")])
def test_a_companys_we_is_found_by_the_you_of_a_question(said: str, asked: str) -> None:
    assert spanish(folded(said)) == spanish(folded(asked))
