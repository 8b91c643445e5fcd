"""A yes or no to an order, in the words that people use, and what is none."""

import pytest

from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.shortcuts.words import decision_in, order_decision_in, verdict_in

PURCHASE = ShownAction("1", "Buy 2 AAPL at market (paper)", "a", "AAPL")
SALE = ShownAction("2", "Vender 3 GOOG a mercado (simulado)", "b", "GOOG")


@pytest.mark.parametrize(
    "text",
    [
        "ok fine, go through with it", "yep do that", "looks good", "that works", "execute it", "yes, I'm sure",
        "place it please", "go on then", "sí, hazla", "ejecútala ya", "sip", "sí quiero", "tal cual", "me parece bien",
        "hecho", "siii", "ok, then do it right now",
    ],
)  # fmt: skip
def test_a_yes_in_everyday_words_confirms(text: str) -> None:
    assert decision_in(text) == "confirm"


@pytest.mark.parametrize(
    "text",
    [
        "hold off", "I changed my mind", "better not", "I'd rather not", "don't place it", "pass", "not anymore",
        "no quiero", "ya no la quiero", "mejor lo dejo", "de momento no", "no la mandes", "he cambiado de idea",
        "no me convence", "paso", "no por ahora",
    ],
)  # fmt: skip
def test_a_no_in_everyday_words_rejects(text: str) -> None:
    assert decision_in(text) == "reject"


@pytest.mark.parametrize(
    "text",
    [
        "looks good?", "do not do that, do this", "go through with it if it falls", "I'm not sure", "hazla de 5",
        "yes and no", "that works for 10", "place 5 more", "execute both and sell", "maybe later", "wait", "espera",
        "no estoy seguro", "I changed my mind, do it", "sí, pero no la mandes", "hecho polvo", "paso a paso",
    ],
)  # fmt: skip
def test_anything_more_is_neither(text: str) -> None:
    assert decision_in(text) is None


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("the first one yes", ("confirm", "1")),
        ("yes, the second one", ("confirm", "2")),
        ("la segunda no", ("reject", "2")),
        ("the GOOG order, yes please", ("confirm", "2")),
        ("the third one yes", None),
        ("the first one yes and the second no", None),
    ],
)
def test_one_of_two_orders_is_chosen_before_or_after_the_yes(text: str, chosen: tuple[str, str] | None) -> None:
    verdict = verdict_in(text, [PURCHASE, SALE])
    assert (verdict and (verdict.decision, verdict.chosen[0].id)) == chosen


def test_to_sell_it_agrees_to_a_sale_alone() -> None:
    assert (found := verdict_in("sí, véndelas", [SALE])) is not None
    assert found.decision == "confirm"
    assert verdict_in("sell them", [PURCHASE]) is None


def test_an_order_is_placed_later_by_words_that_name_it() -> None:
    assert order_decision_in("go ahead and place the order") == "confirm"
    assert order_decision_in("go ahead") is None
