"""What a question asks for and no look-up covers is named in the answer: figures, kinds of answers, another period."""

import json
from typing import Any

import pytest

from agent.domain.offline.assistant import respond
from agent.domain.offline.coverage import uncovered_parts
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText
from agent.domain.offline.unread import has_effects
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS


@pytest.mark.parametrize(
    ("question", "calls", "uncovered"),
    [
        ("on which days did it drop over 2%", (("market_snapshot", {"tickers": ["IBM"]}),),
         ["on which days", "over 2%"]),
        ("¿qué días cayó más de un 2 %?", (("market_snapshot", {"tickers": ["IBM"]}),), ["que dias", "mas de un 2 %"]),
        ("how many times did it close above 210 since 2012", (("get_performance", {"tickers": ["IBM"]}),),
         ["how many times", "above 210"]),
        ("how did apple do in that stretch", (("market_snapshot", {"tickers": ["AAPL"]}),), ["in that stretch"]),
        ("last 3 headlines of IBM", (("get_news", {"symbol": "IBM", "limit": 3}),), []),
        ("how did IBM do in the last 3 months", (("market_snapshot", {"tickers": ["IBM"]}),), []),
        ("how did IBM do on 5 June 2012", (("get_ohlcv", {"symbol": "IBM"}),), []),
        ("200-day average of IBM", (("market_snapshot", {"tickers": ["IBM"]}),), []),
        ("rsi of IBM, 14 days", (("get_indicators", {"symbol": "IBM", "length": 14}),), []),
        ("correlation of AAPL with the s&p 500", (("get_correlation", {"tickers": ["AAPL", "^GSPC"]}),), []),
        ("what day does IBM report", (("fundamentals_events", {"tickers": ["IBM"]}),), []),
        ("buy 10 IBM if it drops 2%", (("create_paper_order", {"symbol": "IBM", "quantity": 10}),), []),
    ],
)  # fmt: skip
def test_a_look_up_covers_the_figures_and_the_kind_of_answer_or_they_are_found(
    question: str, calls: tuple[tuple[str, dict[str, Any]], ...], uncovered: list[str]
) -> None:
    assert uncovered_parts(question, calls) == uncovered


def test_the_answer_names_them() -> None:
    body: dict[str, Any] = {
        "tickers": {"IBM": {"returns": {"1y": 0.05}, "as_of": "2013-01-31T21:00:00Z", "source": "s"}},
        "errors": [],
    }
    looked_up = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "market_snapshot", "arguments": "{}"}}],
    }
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "how did IBM do, and on which days did it drop over 2%?"},
        looked_up,
        {"role": "tool", "tool_call_id": "1", "content": json.dumps(body)},
    ]
    answer = respond(said, SCHEMAS, "en", introduced=True)
    assert isinstance(answer, SayText)
    assert "I have not taken “on which days”, “over 2%” into account" in answer.text


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("show me weekly closes of IBM for the last 3 months", "get_ohlcv", {"timeframe": "1w", "limit": 13}),
        ("dame los cierres semanales de ibm de los últimos 3 meses", "get_ohlcv", {"timeframe": "1w", "limit": 13}),
        ("is there anything new about facebook", "get_news", {}),
        ("typical daily range of IBM", "get_indicators", {"indicators": ["ATR"]}),
        ("rango diario medio de IBM", "get_indicators", {"indicators": ["ATR"]}),
    ],
)
def test_bars_of_a_length_news_and_the_range_of_a_day_are_read(text: str, tool: str, arguments: dict[str, Any]) -> None:
    ((called, given),) = wish_in(text, SCHEMAS).calls
    assert called == tool
    assert arguments.items() <= given.items()


def test_what_a_sum_in_the_past_would_be_is_no_order() -> None:
    for text in (
        "if i put 2,000 dollars in msft on 3 january 2011, how much by the end of 2012",
        "si meto 2.000 dólares en msft el 3 de enero de 2011, ¿cuánto tendría?",
    ):
        assert not has_effects(wish_in(text, SCHEMAS)), text


def test_the_worst_of_a_share_is_no_complaint() -> None:
    assert wish_in("tell me about microsoft's worst stretch", SCHEMAS).intent is not Intent.UPSET
