"""Prepares, creates, deletes or cancels only what the words of a message ask for, and looks up all of it."""

from collections.abc import Sequence

import pytest

from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.listed import chosen_item
from agent.domain.offline.step_results import SayText
from agent.domain.offline.unread import EFFECTS, has_effects
from agent.testing.offered import SCHEMAS


@pytest.mark.parametrize(
    "text",
    [
        "my brother wants to buy 20 msft",
        "i was going to buy 4 goog but changed my mind",
        "i bought 12 aapl at 400, how am i doing",
        "if i set an alert at 500 on goog will i get an email?",
        "why would anyone short 50 fb",
        "imagine i'd put 10 ibm stop 170",
        "i would never delete my alerts",
        "my wife deleted her alerts by accident",
        "if ibm hits 200 i might sell",
        "mi primo compro 30 microsoft ayer",
        "estaba pensando en vender 4 ibm",
        "mi jefe quiere vender 9 goog hoy",
        "que pasaria si vendo todo",
        "borré mis alertas sin querer",
        "my broker says sell MSFT",
        "would it be smart to sell my AAPL",
        "was my sell of 5 IBM filled",
        "alguien compró 5 millones de IBM",
        "i wouldn't sell AAPL",
        "compré 5 ibm",
        "compró 5 ibm",
    ],
)
def test_what_others_want_what_was_and_what_might_be_has_no_effect(text: str) -> None:
    for before in ([], ["IBM price"], ["my alerts"]):
        wish = wish_in(text, SCHEMAS, before)
        assert EFFECTS.isdisjoint(tool for tool, _ in wish.calls)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("could you please purchase 5 MSFT for me", "create_paper_order"),
        ("I would like to sell all my IBM", "create_paper_order"),
        ("buy me 10 shares of IBM because I think it will rise", "create_paper_order"),
        ("sell everything I have in IBM", "create_paper_order"),
        ("quiero que me compres 10 acciones de Apple", "create_paper_order"),
        ("me compras 5 de MSFT", "create_paper_order"),
        ("hola, buenas tardes, me gustaría comprar 5 IBM", "create_paper_order"),
        ("could you add Tesla to my list", "add_to_watchlist"),
        ("please cancel the last order I placed", "cancel_paper_order"),
        ("I changed my mind, cancel the order", "cancel_paper_order"),
        ("cancela la orden que puse antes", "cancel_paper_order"),
    ],
)
def test_a_request_may_be_polite_and_give_its_reason(text: str, tool: str) -> None:
    assert [name for name, _ in wish_in(text, SCHEMAS, ["IBM price"]).calls] == [tool]


@pytest.mark.parametrize(
    "text", ["get me 2 coffees", "order 2 pizzas for the team", "buy me some time", "compra 3 cafés"]
)
def test_an_object_that_is_no_share_is_not_the_share_that_was_spoken_of(text: str) -> None:
    assert EFFECTS.isdisjoint(tool for tool, _ in wish_in(text, SCHEMAS, ["IBM price"]).calls)
    assert EFFECTS.isdisjoint(tool for tool, _ in wish_in("make it 3", SCHEMAS, ["IBM price", text]).calls)


def test_the_word_that_stands_in_the_way_is_named() -> None:
    said = respond([{"role": "user", "content": "my brother wants to buy 20 msft"}], SCHEMAS, "en")
    assert isinstance(said, SayText)
    assert "“brother”" in said.text


@pytest.mark.parametrize("text", ["get rid of the google one", "borra la de google"])
def test_the_only_one_of_a_list_is_not_ended_for_another_share(text: str) -> None:
    before: Sequence[str] = ["which alerts are on"]
    chosen = chosen_item(text, "Your alerts:\n- MSFT <= 25.00", SCHEMAS, before)
    assert chosen is None or not chosen.words


def test_what_lacks_its_side_is_asked_for_it() -> None:
    text = "put in a limit order for 4 ibm, 5 bucks under where it trades now"
    said = respond([{"role": "user", "content": text}], SCHEMAS, "en")
    assert isinstance(said, SayText)
    assert "whether to buy or to sell" in said.text
    assert wish_in(text, SCHEMAS).calls[0][1]["quantity"] == 4.0


@pytest.mark.parametrize("text", ["Buy three IBM for me on paper", "Ponme una compra de 3 IBM limitada a 190"])
def test_what_is_said_beside_an_order_does_not_stop_it(text: str) -> None:
    assert wish_in(text, SCHEMAS).calls[0][1]["quantity"] == 3.0


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("price of apple and news of google", [("get_price", "AAPL"), ("get_news", "GOOG")]),
        ("noticias de google y precio de apple", [("get_news", "GOOG"), ("get_price", "AAPL")]),
        ("rsi of IBM and price of MSFT", [("get_indicators", "IBM"), ("get_price", "MSFT")]),
        ("price of apple and google", [("get_price", "AAPL"), ("get_price", "GOOG")]),
    ],
)
def test_two_things_that_are_asked_of_two_tickers_are_each_looked_up(text: str, calls: list[tuple[str, str]]) -> None:
    assert [(tool, arguments["symbol"]) for tool, arguments in wish_in(text, SCHEMAS).calls] == calls


@pytest.mark.parametrize(
    ("before", "text", "tool"),
    [
        (["add AAPL to my watchlist", "and fb"], "is msft on it?", "get_watchlist"),
        (["añade AAPL a mi lista"], "¿está MSFT en mi lista?", "get_watchlist"),
        (["alert me if IBM falls to 150"], "is there one for MSFT at 30?", "list_alerts"),
    ],
)
def test_a_question_how_something_stands_changes_nothing(before: list[str], text: str, tool: str) -> None:
    wish = wish_in(text, SCHEMAS, before)
    assert wish.calls[0][0] == tool
    assert not has_effects(wish_in("did you buy 5 AAPL?", SCHEMAS, ["buy 5 IBM"]))


@pytest.mark.parametrize(
    ("text", "symbol"), [("set a price alert on ibm", "IBM"), ("crea una alarma de apple", "AAPL")]
)
def test_an_alert_without_a_price_is_asked_for_it(text: str, symbol: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.calls[0], wish.missing[-1]) == (("create_alert", wish.calls[0][1]), "price")
    assert wish.calls[0][1]["symbol"] == symbol
    for other in ("how do i set an alert on ibm", "don't set an alert on ibm"):
        assert not has_effects(wish_in(other, SCHEMAS))


@pytest.mark.parametrize(
    ("first", "then", "condition"),
    [
        ("ponme una alerta en ibm", "si baja de 150", "<="),
        ("set a price alert on ibm", "when it goes over 250", ">="),
        ("set a price alert on ibm", "at 150", "=="),
    ],
)
def test_the_price_of_an_alert_is_given_with_its_side(first: str, then: str, condition: str) -> None:
    assert wish_in(then, SCHEMAS, [first]).calls[0][1]["condition"] == condition
