"""What a trading customer asks in a row: days, what moved a share, what-ifs, and follow-ups to them."""

from typing import Any

import pytest

from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.testing.offered import SCHEMAS

MARKET: dict[str, Any] = {"status": "after_hours", "current_time": "2012-09-07T20:30:00+00:00", "upcoming_events": []}
DAY: dict[str, Any] = {"timeframe": "1d", "limit": 8}


def asked(*said: str, offered: dict[str, Any] = SCHEMAS, plan: str = "pro") -> SayText | UseTools:
    """The response to the last of these messages."""
    messages: list[dict[str, Any]] = []
    for one in said[:-1]:
        messages += [{"role": "user", "content": one}, {"role": "assistant", "content": "Here it is: 30.5."}]
    messages.append({"role": "user", "content": said[-1]})
    return respond(messages, offered, "en", market=MARKET, plan=plan, introduced=True)


LOOKED_UP: list[tuple[tuple[str, ...], tuple[Any, ...]]] = [
    (
        ("how did Microsoft close on May 4th 2012?",),
        (("get_ohlcv", {"symbol": "MSFT", **DAY, "end": "2012-05-04"}),),
    ),
    (
        ("how did Microsoft close on May 4th 2012?", "and IBM that day?"),
        (("get_ohlcv", {"symbol": "IBM", **DAY, "end": "2012-05-04"}),),
    ),
    (
        ("precio de IBM el veinte de marzo de 2012",),
        (("get_ohlcv", {"symbol": "IBM", **DAY, "end": "2012-03-20"}),),
    ),
    (
        ("where was FB on June the first 2012",),
        (("get_ohlcv", {"symbol": "FB", **DAY, "end": "2012-06-01"}),),
    ),
    (
        ("price of GOOG on 3 feb 2012",),
        (("get_ohlcv", {"symbol": "GOOG", **DAY, "end": "2012-02-03"}),),
    ),
    (
        ("price of GOOG on 3 February 2012", "how has it done since then"),
        (("get_performance", {"tickers": ["GOOG"], "start": "2012-02-03"}),),
    ),
    (
        ("what moved MSFT last month",),
        (
            ("get_performance", {"tickers": ["MSFT"], "period": "1m"}),
            ("get_news", {"symbol": "MSFT", "period": "1m"}),
        ),
    ),
    (("does MSFT move in line with GOOG?",), (("get_correlation", {"tickers": ["MSFT", "GOOG"]}),)),
    (
        ("what if FB falls 15%?",),
        (("get_price", {"symbol": "FB"}), ("get_portfolio", {}), ("get_pending_orders", {})),
    ),
    (
        ("rank FB, IBM and GOOG by return in the last 6 months", "which had the lowest volatility"),
        (("get_performance", {"tickers": ["FB", "IBM", "GOOG"], "period": "6m"}),),
    ),
    (
        ("daily chart of FB", "same for IBM but weekly"),
        (("get_ohlcv", {"symbol": "IBM", "timeframe": "1w", "limit": 12}),),
    ),
    (
        ("close of FB on 7 June 2012", "and the 11th?"),
        (("get_ohlcv", {"symbol": "FB", **DAY, "end": "2012-06-11"}),),
    ),
    (
        ("gráfico semanal de GOOG de este año",),
        (("get_ohlcv", {"symbol": "GOOG", "timeframe": "1w", "limit": 500, "start": "2012-01-01"}),),
    ),
    (
        ("precio de MSFT", "cuál fue su peor trimestre de 2011"),
        (
            (
                "get_performance",
                {"tickers": ["MSFT"], "start": "2011-01-01", "end": "2011-12-31", "every": "quarter"},
            ),
        ),
    ),
    (
        ("close of FB on 7 June 2012", "and the previous session"),
        (("get_ohlcv", {"symbol": "FB", **DAY, "end": "2012-06-06"}),),
    ),
    (
        ("I have 9k, risk 1 %, entry at 640, stop 615", "and if I risk 2 percent?"),
        (
            (
                "calculate_position_size",
                {"risk_percent": 0.02, "capital": 9000.0, "entry_price": 640.0, "stop_loss_price": 615.0},
            ),
        ),
    ),
    (("what if the whole market falls 12%?",), (("get_portfolio", {}),)),
    (
        ("precio de IBM", "a cuanto cerró el 21 de septiembre", "y el día siguiente"),
        (("get_ohlcv", {"symbol": "IBM", **DAY, "end": "2011-09-22"}),),
    ),
    (
        ("price of MSFT", "how is max drawdown different from volatility"),
        (("explain_concept", {"concept": "max drawdown"}), ("explain_concept", {"concept": "volatility"})),
    ),
    (
        ("esta sobrecomprada AAPL?", "explicamelo como a un principiante"),
        (("explain_concept", {"concept": "sobrecomprada"}),),
    ),
    (("set an alert on AAPL at 700", "list them"), (("list_alerts", {}),)),
    (("ping me if IBM drops 3% from here", "and MSFT too"), (("get_price", {"symbol": "MSFT"}),)),
    (
        ("pick me up 15 IBM around 190",),
        (
            (
                "create_paper_order",
                {"limit_price": 190.0, "quantity": 15.0, "symbol": "IBM", "side": "buy", "order_type": "limit"},
            ),
        ),
    ),
    (("is Friday a half day?",), (("get_market_hours", {"day": "2012-09-07"}),)),
    (("buy 10 AAPL", "yes", "what did I just do"), (("get_portfolio", {}), ("get_pending_orders", {}))),
    (("avísame si IBM baja de 180", "borra la de 180", "me queda alguna?"), (("list_alerts", {}),)),
    (("buy 10 AAPL", "yes", "how many shares could I sell to get 1000"), (("get_price", {"symbol": "AAPL"}),)),
    (
        ("what would my buying power be after buying 10 MSFT",),
        (("get_price", {"symbol": "MSFT"}), ("get_portfolio", {})),
    ),
    (("compra 3 AAPL", "sí", "cuantas acciones me dieron"), (("get_trade_history", {}),)),
    (("compra 3 AAPL", "sí", "a que precio"), (("get_trade_history", {}),)),
    (("what did I pay on average for IBM",), (("get_trade_history", {"symbol": "IBM"}),)),
    (("IBM", "thanks. does it pay a dividend"), (("get_fundamentals", {"symbol": "IBM"}),)),
    (
        ("can you put 3 AAPL in my portfolio",),
        (("create_paper_order", {"quantity": 3.0, "symbol": "AAPL", "side": "buy", "order_type": "market"}),),
    ),
    (
        ("estuvo abierta la bolsa el 29 de octubre?", "como le fue a AAPL ese mes", "y el mes anterior"),
        (("get_performance", {"tickers": ["AAPL"], "start": "2011-09-01", "end": "2011-09-30"}),),
    ),
    (
        ("con 15000 y riesgo de 2%, cuantas MSFT puedo comprar si pongo el stop en 26",),
        (("get_price", {"symbol": "MSFT"}),),
    ),
    (("qué pasa si mi cartera baja un 8 %",), (("get_portfolio", {}),)),
    (("put FB on my watchlist", "remove FB"), (("remove_from_watchlist", {"symbol": "FB"}),)),
    (("alert me when IBM falls under 190", "make that 188"), (("list_alerts", {}),)),
    (("buy 3 IBM at 185", "my orders", "make the IBM one 12"), (("get_pending_orders", {}),)),
    (("what orders do I have",), (("get_pending_orders", {}),)),
    (("my alerts", "change the MSFT one to 32"), (("list_alerts", {}),)),
    (("mis alertas", "borra la de 700", "cambia la de MSFT a 32"), (("list_alerts", {}),)),
    (("avísame si apple llega a 700", "mis alertas", "ponla en 710"), (("list_alerts", {}),)),
    (("my alerts", "make it 710"), (("list_alerts", {}),)),
    (
        ("what did AAPL close at on 15 March 2011", "what was its high that year"),
        (("get_performance", {"tickers": ["AAPL"], "start": "2011-01-01", "end": "2011-12-31"}),),
    ),
    (("mis alertas", "ponla mejor en 640"), (("list_alerts", {}),)),
    (("¿qué significa estar sobrecomprado?",), (("explain_concept", {"concept": "sobrecomprado"}),)),
    (("qué está pasando con Microsoft",), (("get_price", {"symbol": "MSFT"}),)),
    (("cambia el precio a 188",), (("get_pending_orders", {}),)),
    (("what's on my watchlist?", "how are they doing today"), (("get_watchlist", {}),)),
    (("what signals do you have on AAPL",), (("get_ml_signals", {"symbol": "AAPL"}),)),
    (("my watchlist", "is the market open on Thanksgiving?"), (("get_market_hours", {"day": "2012-11-22"}),)),
    (
        ("is the market open on Friday?", "price of IBM", "what time does it close today"),
        (("get_market_hours", {"day": "2012-09-07"}),),
    ),
    (
        ("why did IBM move yesterday",),
        (
            ("get_performance", {"tickers": ["IBM"], "start": "2012-09-06", "end": "2012-09-06"}),
            ("get_news", {"symbol": "IBM", "start": "2012-09-05", "end": "2012-09-06"}),
        ),
    ),
    (
        ("en qué se diferencia el drawdown de la volatilidad",),
        (("explain_concept", {"concept": "drawdown"}), ("explain_concept", {"concept": "volatilidad"})),
    ),
    (
        ("how does drawdown differ from volatility?",),
        (("explain_concept", {"concept": "drawdown"}), ("explain_concept", {"concept": "volatility"})),
    ),
    (("explain volatility as if I were six",), (("explain_concept", {"concept": "volatility"}),)),
    (("explícame la volatilidad de forma sencilla",), (("explain_concept", {"concept": "volatilidad"}),)),
]


@pytest.mark.parametrize(("said", "calls"), LOOKED_UP)
def test_what_is_looked_up(said: tuple[str, ...], calls: tuple[Any, ...]) -> None:
    assert asked(*said) == UseTools(calls)


CHANGES: list[tuple[tuple[str, ...], tuple[Any, ...]]] = [
    (("avísame si GOOG llega a 700", "que sea 690"), (("list_alerts", {}),)),
    (("alert me when GOOG reaches 700", "and another for FB if it drops 4%"), (("get_price", {"symbol": "FB"}),)),
    (("buy 9 GOOG", "hmm, just 4"), (("get_pending_orders", {}),)),
    (("put 3000 dollars in GOOG", "ok but only 2 shares"), (("get_pending_orders", {}),)),
]


@pytest.mark.parametrize(("said", "calls"), CHANGES)
def test_a_change_of_an_order_or_an_alert_is_read(said: tuple[str, ...], calls: tuple[Any, ...]) -> None:
    assert asked(*said) == UseTools(calls)


def test_an_alert_of_another_share_leaves_the_one_before() -> None:
    quote = {"id": "c1", "function": {"name": "get_price", "arguments": '{"symbol": "FB"}'}}
    messages = [
        {"role": "user", "content": "alert me when GOOG reaches 700"},
        {"role": "assistant", "content": "Alert created."},
        {"role": "user", "content": "and another for FB if it drops 4%"},
        {"role": "assistant", "content": "", "tool_calls": [quote]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"symbol": "FB", "price": 20.0}'},
    ]
    made = respond(messages, SCHEMAS, "en", market=MARKET, plan="pro", introduced=True)
    assert made == UseTools((("create_alert", {"symbol": "FB", "condition": "<=", "price": 19.2}),))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("remind me at 8pm to look at FB",), "I cannot remind you at a time."),
        (("recuérdame el lunes que mire IBM",), "No puedo recordarte nada a una hora."),
        (("compare IBM and MSFT", "which of the five rose the most?"), "I have no list of all shares."),
        (("cuál de las cinco ha caído más este año",), "No tengo una lista de todas las acciones."),
        (("¿cuáles son las acciones que más bajan?",), "No tengo una lista de todas las acciones."),
        (("¿qué acciones suben más hoy?",), "No tengo una lista de todas las acciones."),
    ],
)
def test_what_nobody_can_do_is_said(said: tuple[str, ...], told: str) -> None:
    response = asked(*said)
    assert isinstance(response, SayText)
    assert response.text.startswith(told)


def test_of_two_that_were_compared_the_one_that_moved_most_is_looked_up() -> None:
    assert asked("compare IBM and MSFT", "which one fell the most?") == UseTools(
        (("market_snapshot", {"tickers": ["IBM", "MSFT"]}),)
    )


def test_words_about_something_else_are_no_order_that_a_plan_lacks() -> None:
    free = {name: schema for name, schema in SCHEMAS.items() if "order" not in name and name != "get_portfolio"}
    response = asked("estoy pensando en vender mi moto", offered=free, plan="free")
    assert isinstance(response, UseTools)
    assert response.calls[0][0] == "fetch_page"
    refused = asked("véndeme 3 IBM", offered=free, plan="free")
    assert isinstance(refused, SayText)
    assert "Pro" in refused.text


@pytest.mark.parametrize(
    ("positions", "told"),
    [
        ([], "FB is at 20.00 USD; -15.0% would be 17.00. That is arithmetic, not a forecast. You hold no FB"),
        (
            [{"symbol": "FB", "quantity": 10, "average_price": 16.0}],
            "Your 10 FB would be worth 30.00 USD less, and your portfolio 9,970.00 in all. Against the 160.00 USD that "
            "you paid for them, that would be +10.00 USD.",
        ),
    ],
)
def test_a_what_if_is_worked_out_from_the_price_and_the_portfolio(positions: list[Any], told: str) -> None:
    calls = [
        {"id": "c1", "function": {"name": "get_price", "arguments": '{"symbol": "FB"}'}},
        {"id": "c2", "function": {"name": "get_portfolio", "arguments": "{}"}},
    ]
    portfolio = {"positions": positions, "cash": 9800.0, "equity": 10000.0}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "what if FB falls 15%?"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": '{"symbol": "FB", "price": 20.0}'},
        {"role": "tool", "tool_call_id": "c2", "content": str(portfolio).replace("'", '"')},
    ]
    response = respond(messages, SCHEMAS, "en", market=MARKET, plan="pro", introduced=True)
    assert isinstance(response, SayText)
    assert told in response.text


def test_everything_that_is_held_is_worked_out_together() -> None:
    calls = [{"id": "c1", "function": {"name": "get_portfolio", "arguments": "{}"}}]
    held = '{"positions": [{"symbol": "FB", "value": 200.0}, {"symbol": "IBM", "value": 800.0}], "equity": 5000.0}'
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "what if everything falls 10%?"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": held},
    ]
    response = respond(messages, SCHEMAS, "en", market=MARKET, plan="pro", introduced=True)
    assert isinstance(response, SayText)
    assert response.text.startswith(
        "Your positions are worth 1,000.00 USD; -10.0% would be 900.00, and your portfolio 4,900.00 in all."
    )


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("¿cuánto cobré en dividendos este año?", "Tu cuenta ha cobrado 12,50 USD de dividendos desde que se abrió"),
        ("how much have I got in dividends?", "Your account has been credited with 12.50 USD of dividends"),
    ],
)
def test_the_dividends_of_an_account_are_its_own(said: str, answer: str) -> None:
    calls = [{"id": "c1", "function": {"name": "get_portfolio", "arguments": "{}"}}]
    held = '{"positions": [], "cash": 1.0, "equity": 1.0, "currency": "USD", "dividends": 12.5, "as_of": "2012-11-01"}'
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": held},
    ]
    assert wish_in(said, SCHEMAS).calls == (("get_portfolio", {}),)
    response = respond(messages, SCHEMAS, "en", market=MARKET, plan="pro", introduced=True)
    assert isinstance(response, SayText)
    assert answer in response.text


def test_years_are_no_money() -> None:
    wish = wish_in("how many golden crosses did GOOG have from 2005 to 2011?", {**SCHEMAS, "market_analysis": {}})
    assert wish.calls[0][0] == "market_analysis"


def test_the_plan_for_what_was_refused_is_named_without_a_page() -> None:
    free = {name: schema for name, schema in SCHEMAS.items() if "alert" not in name}
    response = asked("alert me when IBM passes 210", "which plan do I need for that?", offered=free, plan="free")
    assert isinstance(response, SayText)
    assert "it is part of Pro" in response.text


def test_a_share_that_fell_is_imagined_lower() -> None:
    wish = wish_in("what would I be left with if MSFT fell 10%", SCHEMAS)
    assert (wish.way, wish.amount) == ("if_moved", 0.9)


def test_shares_that_raise_a_sum_are_at_least_as_many_as_it_takes() -> None:
    wish = wish_in("how many AAPL would I have to sell to raise 1000", SCHEMAS)
    answer = next_step(wish, [("get_price", {"symbol": "AAPL"}, {"symbol": "AAPL", "price": 300.0})], "en")
    assert isinstance(answer, SayText)
    assert "4" in answer.text
    assert "1,200" in answer.text
