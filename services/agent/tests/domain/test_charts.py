"""Prices drawn beside an answer come from what its tools gave."""

import json
from typing import Any

from agent.domain.charts import MAX_CANDLES, MAX_CHARTS, MAX_POINTS, charts
from agent.domain.turn.journal import Journal, TurnCall, TurnStep


def bars(count: int) -> list[dict[str, Any]]:
    return [
        {"time": f"2013-01-{n:03}", "open": 1.0 + n, "high": 3.0 + n, "low": 0.5 + n, "close": 2.0 + n, "volume": 7}
        for n in range(count)
    ]


def after(*calls: tuple[str, Any]) -> Journal:
    steps = tuple(
        TurnStep(1, "", (TurnCall(f"c{n}", tool, "{}", "", None if data is None else json.dumps(data)),))
        for n, (tool, data) in enumerate(calls)
    )
    return Journal("t", basis=1, started_at=0.0, deadline=100.0, steps=steps)


def asked(symbol: str, count: int) -> tuple[str, Any]:
    return "get_ohlcv", {"success": True, "data": {"symbol": symbol, "bars": bars(count)}}


def test_bars_become_candles_and_only_what_a_chart_has() -> None:
    (chart,) = charts(after(asked("IBM", 2)))
    assert chart.to_wire() == {
        "kind": "candles",
        "symbol": "IBM",
        "series": [
            {"time": "2013-01-000", "open": 1.0, "high": 3.0, "low": 0.5, "close": 2.0},
            {"time": "2013-01-001", "open": 2.0, "high": 4.0, "low": 1.5, "close": 3.0},
        ],
    }


def test_many_bars_become_a_line_from_the_first_to_the_last() -> None:
    (chart,) = charts(after(asked("IBM", 500)))
    assert (chart.kind, len(chart.series), chart.series[-1].close) == ("line", MAX_POINTS, 501.0)
    assert (chart.series[0].open, chart.series[0].close) == (None, 2.0)
    (year,) = charts(after(asked("IBM", 253)))
    assert len(year.series) == 253
    (candles,) = charts(after(asked("IBM", MAX_CANDLES)))
    assert candles.kind == "candles"


def test_a_snapshot_draws_each_of_its_tickers_and_the_newest_answer_about_a_symbol_counts() -> None:
    tickers = {symbol: {"ohlcv": {"tail": bars(3)}} for symbol in ("IBM", "MSFT")}
    snapshot = ("market_snapshot", {"success": True, "data": {"tickers": tickers}})
    assert [(chart.symbol, len(chart.series)) for chart in charts(after(snapshot, asked("IBM", 5)))] == [
        ("IBM", 5),
        ("MSFT", 3),
    ]


def test_a_snapshot_is_drawn_for_no_longer_a_time_than_it_has() -> None:
    data = {"tickers": {"IBM": {"ohlcv": {"tail": bars(20)}}}}
    journal = after(("market_snapshot", {"success": True, "data": data}))
    for question, count in (
        ("how is IBM doing?", 20),
        ("how did IBM do over the last month?", 20),
        ("¿cómo le ha ido a IBM esta semana?", 6),
        ("how did IBM do over the last year?", 0),
        ("¿cuánto ha subido IBM en el último año?", 0),
        ("how did IBM do in 2008?", 0),
    ):
        drawn = charts(journal, question)
        assert (question, sum(len(chart.series) for chart in drawn)) == (question, count)


def test_a_message_has_few_charts() -> None:
    assert len(charts(after(*(asked(f"S{n}", 2) for n in range(9))))) == MAX_CHARTS


def test_what_failed_was_cut_or_is_no_price_is_not_drawn() -> None:
    journal = after(
        ("get_ohlcv", None),
        ("get_ohlcv", {"success": False, "error": {"code": "TIMEOUT"}}),
        ("get_ohlcv", {"success": True, "data": {"truncated": True, "text": "[…"}}),
        ("get_ohlcv", {"success": True, "data": {"symbol": "X", "bars": [{"time": "now"}, {"time": "then"}]}}),
        ("market_snapshot", {"success": True, "data": {"tickers": {"IBM": None}}}),
        asked("ONE", 1),
        ("get_price", {"success": True, "data": {"symbol": "IBM", "price": 1}}),
    )
    assert charts(journal) == ()
