"""The size of a position from the account's own equity and the current price."""

import pytest

from agent.domain.analysis.follow_ups import complete_question
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import Result, SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.testing.offered import SCHEMAS

ASKED = "quiero arriesgar el 1% de mi cuenta en TSLA con un stop 15 dólares abajo"
KNOWN: list[Result] = [
    ("get_portfolio", {}, {"equity": 100_000.0, "cash": 90_000.0, "positions": []}),
    ("get_price", {"symbol": "TSLA"}, {"symbol": "TSLA", "price": 200.0}),
]
SIZE: Result = ("calculate_position_size", {}, {"quantity": 66.6, "position_value": 13_320.0, "risk_amount": 1_000.0})


def test_equity_and_price_are_looked_up_and_told() -> None:
    wish = wish_in(ASKED, SCHEMAS)
    assert next_step(wish, [], "es") == UseTools((("get_portfolio", {}), ("get_price", {"symbol": "TSLA"})))
    step = next_step(wish, KNOWN, "es")
    arguments = {"capital": 100_000.0, "entry_price": 200.0, "stop_loss_price": 185.0, "risk_percent": 0.01}
    assert step == UseTools((("calculate_position_size", arguments),))
    answer = next_step(wish, [*KNOWN, SIZE], "es")
    assert isinstance(answer, SayText)
    assert all(figure in answer.text for figure in ("66,6", "100.000", "200", "185"))


@pytest.mark.parametrize(
    ("before", "text", "changed"),
    [
        ((), "y si arriesgo medio por ciento?", {"risk_percent": 0.005}),
        ((), "and with 2%?", {"risk_percent": 0.02}),
        ((), "and with the stop 5% below?", {"stop_share": 0.95}),
        ((), "y si el stop está a 5 dólares?", {"stop_away": -5.0}),
        ((), "cuántas acciones son", {}),
        (("y si arriesgo el 3%?",), "y con 2?", {"risk_percent": 0.02}),
    ],
)
def test_a_change_keeps_the_rest(before: tuple[str, ...], text: str, changed: dict[str, float]) -> None:
    arguments = wish_in(text, SCHEMAS, [ASKED, *before]).calls[0][1]
    stop = {} if "stop_share" in changed else {"stop_away": -15.0}
    assert arguments == pytest.approx({"symbol": "TSLA", "risk_percent": 0.01, **stop, **changed}, nan_ok=True)


def test_its_order_has_that_size_and_moves_with_its_price() -> None:
    wish = wish_in("vale pon la orden", SCHEMAS, [ASKED])
    order = {"symbol": "TSLA", "side": "buy", "order_type": "market", "quantity": 66.0}
    assert next_step(wish, [*KNOWN, SIZE], "es") == UseTools((("create_paper_order", order),))
    said = [ASKED, "vale pon la orden", "no, a límite, 2 dólares por debajo del precio"]
    waiting = {**order, "order_id": "o1", "status": "pending_confirmation"}
    for wish, price in (
        (wish_in(said[2], SCHEMAS, said[:2]), 198.0),
        (wish_in("cámbiala a 1 dólar por debajo", SCHEMAS, said), 199.0),
    ):
        results: list[Result] = [*KNOWN, ("get_pending_orders", {}, {"orders": [waiting]}), SIZE]
        step = next_step(wish, results, "es")
        limit = {**order, "order_type": "limit", "limit_price": price, "replaces": "o1"}
        assert step == UseTools((("create_paper_order", limit),))


def test_another_risked_amount_is_not_an_invested_one() -> None:
    assert complete_question("y 500?", ["quiero arriesgar 300 dólares en IBM, stop 8 dólares por debajo"]) is None
