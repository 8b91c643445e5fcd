"""Budgets hold whatever a model says: per tool and ticker, and in all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.analysis.plan import (
    ANALYSIS_TOOLS,
    PlannedCall,
    ToolInfo,
    fallback_plan,
    parse_routing,
    parse_tickers,
    within_budgets,
)

TICKERS = ["IBM", "MSFT", "AAPL"]


def tools(budget: int = 1) -> list[ToolInfo]:
    return [ToolInfo(name, "market", name, (), budget, {}) for name in ANALYSIS_TOOLS]


WANTED = st.lists(
    st.builds(
        PlannedCall,
        st.sampled_from([*ANALYSIS_TOOLS, "get_price", "create_paper_order", ""]),
        st.lists(st.sampled_from([*TICKERS, "TSLA", "BTC/USD"]), max_size=8).map(tuple),
    ),
    max_size=20,
)


@given(WANTED, st.integers(1, 3), st.integers(1, 14))
def test_no_choice_breaks_a_budget(wanted: list[PlannedCall], budget: int, most: int) -> None:
    plan = within_budgets(wanted, TICKERS, tools(budget), most, "en")
    made = [(call.tool, ticker) for call in plan.calls for ticker in call.tickers]
    assert len(made) <= most
    assert {tool for tool, _ in made} <= set(ANALYSIS_TOOLS)
    assert {ticker for _, ticker in made} <= set(TICKERS)
    assert all(made.count(pair) <= budget for pair in made)
    # The wanted order is kept.
    order = [(one.tool, ticker) for one in wanted for ticker in one.tickers]
    positions = [order.index(pair) for pair in dict.fromkeys(made)]
    assert positions == sorted(positions)


def test_what_the_budget_leaves_out_is_said() -> None:
    twelve = [f"T{index}" for index in range(12)]
    plan = within_budgets(fallback_plan(twelve), twelve, tools(), 12, "en")
    assert [(call.tool, len(call.tickers)) for call in plan.calls] == [("market_snapshot", 12)]
    assert "fundamentals_events" in plan.notes[0]
    assert "T11" in plan.notes[0]


SAID: list[tuple[str, list[tuple[str, list[str]]] | None]] = [
    (
        '{"tools": [{"tool": "market_snapshot", "tickers": ["ibm", "$MSFT"]}]}',
        [("market_snapshot", ["IBM", "MSFT"])],
    ),
    ('Sure! ```json\n{"tools": []}\n``` as you asked', []),
    ('<think>{"tools": 1}</think>{"tools": [{"tool": "x", "tickers": []}]}', [("x", [])]),
    ("no JSON at all", None),
    ('{"tools": [{"tool": "market_snapshot", "tickers": "IBM"}]}', None),
    ('{"tools": ["market_snapshot"]}', None),
    ('{"tools": [{"tool": "market_snapshot", "tickers": ["IBM"', None),
    ('["market_snapshot"]', None),
    ("", None),
]


@pytest.mark.parametrize(("said", "read"), SAID)
def test_a_models_choice_is_read_or_it_is_none(said: str, read: list[tuple[str, list[str]]] | None) -> None:
    found = parse_routing(said)
    assert (None if found is None else [(one.tool, list(one.tickers)) for one in found]) == read


def test_a_models_tickers_are_symbols_and_at_most_twelve() -> None:
    said = json.dumps({"tickers": ["ibm", "!!", "BTC-USD", *[f"A{index}" for index in range(20)]]})
    found = parse_tickers(said)
    assert found[:2] == ("IBM", "BTC/USD")
    assert len(found) == 12
    assert parse_tickers("IBM and MSFT") == ()
