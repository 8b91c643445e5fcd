"""A chart shows the stretch that was asked for: a length, some days, one day, in bars that it can hold."""

from typing import Any

import pytest

from agent.domain.analysis.relative_days import date_in
from agent.domain.offline.bar_range import bar_range
from agent.domain.text_features import plain

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("chart of IBM", {"timeframe": "1d", "limit": 60}),
    ("a chart of 30 days of IBM", {"timeframe": "1d", "limit": 30}),
    ("the last thirty sessions of IBM", {"timeframe": "1d", "limit": 30}),
    ("gráfico de IBM de un año", {"timeframe": "1d", "limit": 252}),
    ("gráfico de los últimos cinco años de IBM", {"timeframe": "1w", "limit": 260}),
    ("weekly chart of IBM for a year", {"timeframe": "1w", "limit": 52}),
    ("20 velas semanales de IBM", {"timeframe": "1w", "limit": 20}),
    ("chart IBM for an hour", {"timeframe": "1m", "limit": 60}),
    ("gráfico de IBM de la última hora", {"timeframe": "1m", "limit": 60}),
    ("IBM chart over the last 4 hours", {"timeframe": "5m", "limit": 48}),
    ("hourly chart of IBM for two days", {"timeframe": "1h", "limit": 14}),
    ("velas de 4 horas de IBM", {"timeframe": "4h", "limit": 60}),
    ("5 minute candles of IBM", {"timeframe": "5m", "limit": 78}),
    ("last 10 candles of IBM", {"timeframe": "1d", "limit": 10}),
    ("chart IBM in 2008", {"timeframe": "1d", "limit": 500, "start": "2008-01-01", "end": "2008-12-31"}),
    (
        "gráfico de IBM de marzo a junio de 2012",
        {"timeframe": "1d", "limit": 500, "start": "2012-03-01", "end": "2012-06-30"},
    ),
    ("IBM chart from 2008 to 2010", {"timeframe": "1w", "limit": 500, "start": "2008-01-01", "end": "2010-12-31"}),
    ("chart IBM since 2010", {"timeframe": "1w", "limit": 500, "start": "2010-01-01"}),
    ("IBM on 3 May 2004", {"timeframe": "1d", "limit": 8, "end": "2004-05-03"}),
    ("a weekly candle chart of IBM for the last two years", {"timeframe": "1w", "limit": 104}),
    ("gráfico de IBM por horas", {"timeframe": "1h", "limit": 60}),
]


@pytest.mark.parametrize(("text", "arguments"), ASKED, ids=[text for text, _ in ASKED])
def test_a_chart_is_of_what_was_asked(text: str, arguments: dict[str, Any]) -> None:
    assert bar_range(text, plain(text), date_in(plain(text)), takes_days=True) == arguments


def test_a_tool_without_days_gets_none() -> None:
    assert bar_range("chart IBM in 2008", "chart ibm in 2008", None, takes_days=False) == {
        "timeframe": "1d",
        "limit": 60,
    }
