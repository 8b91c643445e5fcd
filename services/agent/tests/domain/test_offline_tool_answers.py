"""What the offline assistant says of tools' results, es and en: the tool's figures, and what is unknown."""

import pytest

from agent.domain.offline.answers import answer_from
from agent.domain.offline.tool_answers import tool_answer
from contracts.languages import Language


def test_a_prepared_order_says_that_nothing_is_placed_yet() -> None:
    estimate = {"price": 10.0, "amount": 50.0, "cash_after": 99_950.0, "currency": "USD"}
    body = {"summary": "buy 5 AAPL at market (paper)", "estimate": estimate}
    text = answer_from("create_paper_order", {}, body, "buy 5 AAPL", "en")
    assert "Nothing is placed without your yes" in text
    assert "99,950.00" in text
    assert "99.950,00" in answer_from("create_paper_order", {}, body, "compra 5 AAPL", "es")


def test_figures_are_the_results_own_and_what_is_unknown_is_said() -> None:
    body = {"symbol": "AAPL", "period": "FY2011", "pe": 24.2, "beta": None, "as_of": "2012", "source": "sample"}
    text = tool_answer("get_fundamentals", body, "en")
    assert text is not None
    assert "P/E 24.2" in text
    assert "beta" in text.split("no data for")[1]
    assert "not financial advice" in text
    assert tool_answer("get_portfolio", {"as_of": "x", "cash": 1.0, "equity": 1.0, "currency": "USD"}, "es") is not None
    assert tool_answer("list_alerts", {"alerts": []}, "es") == "No hay alertas activas."


def test_alerts_are_told_in_words() -> None:
    alerts = [{"symbol": "AAPL", "condition": condition, "price": 700.0} for condition in (">=", "<=", "==")]
    assert [tool_answer("list_alerts", {"alerts": alerts}, language).splitlines()[1:] for language in ("en", "es")] == [
        ["- AAPL at 700.00 or more", "- AAPL at 700.00 or less", "- AAPL touching 700.00"],
        ["- AAPL a 700,00 o más", "- AAPL a 700,00 o menos", "- AAPL al tocar 700,00"],
    ]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("what did I buy last week?", ["5 IBM"]),
        ("¿qué vendí?", ["2 MSFT"]),
        ("¿qué compré ayer?", ["5 IBM"]),
        ("my trades this month", ["5 IBM", "2 MSFT"]),
        ("my trades", ["5 IBM", "2 MSFT", "9 FB"]),
        ("what did I sell today?", ["5 IBM", "2 MSFT", "9 FB"]),
    ],
)
def test_the_trades_of_the_time_and_side_asked_for_are_told(asked: str, shown: list[str]) -> None:
    trades = [
        {"symbol": symbol, "side": side, "quantity": quantity, "price": 10.0, "time": f"{day}T13:30:00Z"}
        for symbol, side, quantity, day in (
            ("IBM", "buy", 5, "2012-09-11"), ("MSFT", "sell", 2, "2012-09-03"), ("FB", "buy", 9, "2012-08-20"),
        )
    ]  # fmt: skip
    told = answer_from("get_trade_history", {}, {"trades": trades, "as_of": "2012-09-12T20:00:00Z"}, asked, "en")
    assert [" ".join(line.split(": ")[1].split()[1:3]) for line in told.splitlines() if line[0] == "-"] == shown
    assert told.startswith("There are none") == ("today" in asked)


@pytest.mark.parametrize(("tool", "arguments"), [("list_alerts", {}), ("get_price", {"symbol": "IBM"})])
def test_a_tool_that_failed_is_not_named_to_people(tool: str, arguments: dict[str, str]) -> None:
    error = {"code": "TIMEOUT", "message": "No ha habido respuesta a tiempo (5 s)."}
    said = answer_from(tool, arguments, {"error": error}, "?", "es")
    assert said == f"No he podido consultar {arguments.get('symbol', 'eso')}: No ha habido respuesta a tiempo (5 s)."


def test_what_a_sale_gained_and_how_an_order_is_confirmed_is_told() -> None:
    sale = {"symbol": "IBM", "side": "sell", "quantity": 2, "price": 210.5, "time": "2012-09-11T13:30:00Z"}
    assert str(tool_answer("get_trade_history", {"trades": [{**sale, "realized": -1.25}]}, "en")).endswith("(-1.25)")
    order = {"symbol": "IBM", "side": "buy", "quantity": 2, "order_type": "market", "status": "pending_confirmation"}
    assert "say “confirm the order”" in str(tool_answer("get_pending_orders", {"orders": [order]}, "en"))
    assert "confirm" not in str(tool_answer("get_pending_orders", {"orders": [{**order, "status": "open"}]}, "en"))


def test_a_period_of_two_tickers_is_told_of_both_however_many_figures_each_has() -> None:
    period = {"from": "2026-01-02", "to": "2026-06-30", "asked": "6m", "on": None, "currency": "USD"}
    names = (
        "return",
        "max_drawdown",
        "volatility",
        "high",
        "low",
        "close",
        "up_days",
        "down_days",
        "up_streak",
        "base",
    )
    figures = [
        {"ticker": ticker, "figure": name, "value": value, **period}
        for ticker, value in (("AAPL", 0.12), ("^GSPC", 0.03))
        for name in names
    ]
    told = tool_answer("get_performance", {"figures": figures, "source": "demo", "as_of": "2026-06-30"}, "en")
    assert "AAPL: return 12" in told
    assert "^GSPC: return 3" in told


@pytest.mark.parametrize(("language", "said"), [("en", "… and 2 more."), ("es", "… y 2 más.")])
def test_how_many_more_there_are_is_told(language: Language, said: str) -> None:
    alerts = [{"symbol": "IBM", "condition": ">=", "price": 200 + number} for number in range(12)]
    told = tool_answer("list_alerts", {"alerts": alerts}, language)
    assert told.splitlines()[-1] == said
    assert len(told.splitlines()) == 12
    assert "…" not in tool_answer("list_alerts", {"alerts": alerts[:10]}, language)
