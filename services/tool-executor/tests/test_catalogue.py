"""The catalogue is what it says in the product's table: names, plans, limits, arguments."""

from typing import Any

import pytest

from tool_executor.adapters.page_fetcher import PageFetcher
from tool_executor.adapters.site_pages import SitePages
from tool_executor.catalogue.all_tools import all_tools
from tool_executor.catalogue.registry import Registry, build_registry
from tool_executor.catalogue.trading import price_problems
from tool_executor.domain.declaration import CACHE_SECONDS, CacheScope, Category, Schema
from tool_executor.domain.defaults import with_defaults
from tool_executor.texts import TEXTS

TABLE = """
market.get_price get_price market free 60 symbol
market.get_ohlcv get_ohlcv market free 30 symbol timeframe [limit] [start] [end]
market.get_indicators get_indicators market free 30 symbol indicators [timeframe] [length] [end]
market.get_fundamentals get_fundamentals market free 20 symbol
market.snapshot market_snapshot market free 30 tickers
market.fundamentals_events fundamentals_events market free 20 tickers
market.get_market_hours get_market_hours market free 60 [day]
market.get_performance get_performance market free 30 tickers [start] [end] [period] [amount] [every] [parts] [top]
market.get_correlation get_correlation market free 30 tickers [start] [end] [period] [benchmark] [every]
market.get_crossings get_crossings market free 30 symbol [fast] [slow] [start] [end] [period]
market.backtest_strategy backtest_strategy market free 10 symbol [rule] [fast] [slow] [start] [end] [period] [cash] [cost_percent]
news.get_news get_news news free 10 symbol [limit] [start] [end] [period]
news.get_sentiment get_sentiment news pro 20 symbol [start] [end] [period]
ml.get_prediction get_ml_signals ml pro 30 symbol
ml.get_features get_ml_features ml premium 20 symbol [prediction_id]
portfolio.get_positions get_portfolio portfolio pro 30
portfolio.get_history get_trade_history portfolio pro 20 [limit] [symbol]
trading.create_paper_order create_paper_order trading pro 10 symbol side quantity order_type [limit_price] [stop_price] [replaces]
trading.cancel_paper_order cancel_paper_order trading pro 20 order_id
trading.get_pending_orders get_pending_orders trading pro 30
alert.create create_alert alerts pro 20 symbol condition price [message]
alert.list list_alerts alerts pro 30 [symbol]
alert.delete delete_alert alerts pro 20 alert_id
calculate.position_size calculate_position_size calculate free 100 capital entry_price stop_loss_price risk_percent [lot_size] [side]
calculate.risk_reward calculate_risk_reward calculate free 100 entry_price stop_loss_price take_profit_price
watchlist.get get_watchlist market free 60
watchlist.add add_to_watchlist market free 30 symbol
watchlist.remove remove_from_watchlist market free 30 symbol
education.explain_concept explain_concept education free 60 concept [level]
memory.search search_memory memory free 30 query [limit]
memory.remember remember memory free 30 fact
memory.forget forget memory free 30 what
memory.update update_memory memory free 30 id fact
knowledge.search search_knowledge knowledge free 30 query [limit]
site.fetch_page fetch_page site free 30 path
"""  # noqa: E501 - a row a tool
GIVES = """
get_price symbol price change change_percent change_basis volume source as_of
get_ohlcv bars bars[].time bars[].open bars[].high bars[].low bars[].close bars[].volume closed source as_of
get_indicators timeframe warmup_bars indicators source as_of
get_fundamentals symbol period pe eps revenue market_cap gross_margin net_margin dividend_yield beta currency source as_of
market_snapshot tickers errors errors[].error errors[].ticker errors[].reason
fundamentals_events tickers errors errors[].error errors[].ticker errors[].reason
get_market_hours day opens closes early_close next_day source as_of
get_performance figures figures[].ticker figures[].figure figures[].value figures[].from figures[].to figures[].asked errors errors[].error errors[].ticker errors[].reason source as_of
get_correlation figures figures[].ticker figures[].figure figures[].value figures[].from figures[].to figures[].asked errors errors[].error errors[].ticker errors[].reason source as_of
get_crossings symbol crossings crossings[].on crossings[].above crossings[].close source as_of
backtest_strategy symbol rule figures figures[].ticker figures[].figure figures[].value figures[].from figures[].to figures[].asked trades trades[].on trades[].side trades[].price assumptions source as_of
get_news items items[].title items[].time items[].source items[].sentiment source as_of
get_sentiment label score sources sources[].source sources[].items sources[].score method source as_of
get_ml_signals prediction_id prediction confidence horizon accuracy skill_vs_base source as_of
get_ml_features features features[].name features[].importance features[].value source as_of
get_portfolio positions positions[].symbol positions[].quantity positions[].average_price positions[].price positions[].value positions[].unrealized cash equity paper source as_of
get_trade_history trades trades[].order_id trades[].symbol trades[].side trades[].quantity trades[].price trades[].time trades[].realized source as_of
create_paper_order action_id status order estimate expires_at
cancel_paper_order order_id status
get_pending_orders orders
create_alert alert_id
list_alerts alerts
delete_alert alert_id
calculate_position_size quantity risk_amount position_value capped_by_cash
calculate_risk_reward ratio risk reward side break_even_win_rate
get_watchlist symbols source as_of
add_to_watchlist symbols source as_of
remove_from_watchlist symbols source as_of
explain_concept concept explanation related
search_memory passages passages[].text passages[].time passages[].conversation_id passages[].score
remember facts facts[].id facts[].fact ended ended[].id ended[].fact undo undo[].tool undo[].arguments source as_of
forget facts facts[].id facts[].fact ended ended[].id ended[].fact undo undo[].tool undo[].arguments source as_of
update_memory facts facts[].id facts[].fact ended ended[].id ended[].fact undo undo[].tool undo[].arguments source as_of
search_knowledge passages passages[].id passages[].title passages[].text passages[].score passages[].read_at complete source
fetch_page url title text truncated
"""  # noqa: E501 - a row a tool
DATA = {name: fields for name, *fields in map(str.split, GIVES.strip().splitlines())}
DEFAULTS = {
    "get_ohlcv": {"limit": 100},
    "get_indicators": {"timeframe": "1d"},
    "get_performance": {"parts": "returns", "top": 1},
    "get_crossings": {"fast": 50, "slow": 200},
    "backtest_strategy": {"rule": "sma_cross", "fast": 50, "slow": 200, "cash": 10_000, "cost_percent": 0.1},
    "get_news": {"limit": 5},
    "get_trade_history": {"limit": 20},
    "calculate_position_size": {"lot_size": 1},
    "explain_concept": {"level": "beginner"},
    "search_memory": {"limit": 5},
    "search_knowledge": {"limit": 5},
}
ROWS = [line.split() for line in TABLE.strip().splitlines()]
CHANGING = {
    "create_paper_order",
    "cancel_paper_order",
    "create_alert",
    "delete_alert",
    "add_to_watchlist",
    "remove_from_watchlist",
    "remember",
    "forget",
    "update_memory",
}


OF_DAYS = {
    "get_indicators", "get_performance", "get_correlation", "get_crossings", "backtest_strategy", "get_news",
    "get_sentiment",
}  # fmt: skip
"""Tools about a stretch of time or a day, which one analysis may ask for of three."""


@pytest.fixture
async def registry():
    fetcher = PageFetcher()
    yield build_registry(all_tools(SitePages(fetcher, demo=None, budget=100).read))
    await fetcher.close()


@pytest.mark.parametrize("row", ROWS, ids=[row[1] for row in ROWS])
async def test_each_tool_is_declared_as_the_table_says(registry: Registry, row: list[str]):
    identity, name, category, plan, per_minute, *arguments = row
    entry = registry.find(name)
    assert entry is not None
    tool = entry.tool
    assert (tool.id, tool.category, tool.required_plan, tool.per_minute) == (identity, category, plan, int(per_minute))
    required = [argument for argument in arguments if not argument.startswith("[")]
    assert tool.input_schema["required"] == required
    assert sorted(tool.input_schema["properties"]) == sorted(argument.strip("[]") for argument in arguments)
    assert tool.side_effects == (name in CHANGING)
    assert tool.description.in_language("es") != tool.description.in_language("en")
    assert tool.label is not None


@pytest.mark.parametrize("row", ROWS, ids=[row[1] for row in ROWS])
async def test_each_tool_promises_the_data_that_the_table_says_and_has_its_defaults(registry: Registry, row: list[str]):
    entry = registry.find(row[1])
    assert entry is not None
    assert set(DATA[row[1]]) <= set(promised(entry.tool.output_schema))
    properties = entry.tool.input_schema["properties"]
    defaults = {name: rule["default"] for name, rule in properties.items() if "default" in rule}
    assert defaults == DEFAULTS.get(row[1], {})
    assert (entry.tool.per_hour, entry.tool.per_day) == (None, None)
    assert entry.tool.budget_per_ticker == (3 if row[1] in OF_DAYS else 1)


def promised(schema: Schema, before: str = "") -> list[str]:
    """The fields that are always there: a list's items as ``name[].field``."""
    found: list[str] = []
    for name in schema.get("required", ()):
        found.append(f"{before}{name}")
        found += promised(schema["properties"][name].get("items", {}), f"{before}{name}[].")
    return found


async def test_a_limit_is_at_most_what_the_table_says(registry: Registry):
    entry = registry.find("get_ohlcv")
    assert entry is not None
    assert entry.tool.input_schema["properties"]["limit"]["maximum"] == 500


async def test_nothing_else_is_declared(registry: Registry):
    names = [row[1] for row in ROWS]
    assert [entry.tool.name for entry in registry] == names
    texts = {f"{name}.{kind}" for name in names for kind in ("description", "label")}
    assert TEXTS.section("tools").keys() == texts


async def test_what_changes_something_is_never_kept_and_can_be_looked_up_after_a_crash(registry: Registry):
    for entry in registry:
        if entry.tool.side_effects:
            assert entry.tool.cache is CacheScope.NEVER
            assert entry.tool.reconcile is not None


async def test_what_is_a_users_own_is_never_shared(registry: Registry):
    never = {Category.TRADING, Category.ALERTS, Category.CALCULATE, Category.MEMORY}
    for entry in registry:
        if entry.category in never or entry.tool.id.startswith("watchlist."):
            assert entry.tool.cache is CacheScope.NEVER, entry.tool.name
        if entry.category is Category.PORTFOLIO:
            assert entry.tool.cache is CacheScope.USER
    assert CACHE_SECONDS == {"market": 5, "portfolio": 10, "ml": 60, "news": 300, "education": 30}


@pytest.mark.parametrize(
    ("name", "given", "normal"),
    [
        ("get_price", {"symbol": " btc-usd "}, {"symbol": "BTC/USD"}),
        ("get_trade_history", {"symbol": "ibm"}, {"symbol": "IBM", "limit": 20}),
        ("get_trade_history", {}, {"limit": 20}),
        ("market_snapshot", {"tickers": ["ibm", "IBM", "$msft"]}, {"tickers": ["IBM", "MSFT"]}),
        (
            "get_indicators",
            {"symbol": "ibm", "indicators": ["MACD", "RSI", "MACD"]},
            {"symbol": "IBM", "indicators": ["RSI", "MACD"], "timeframe": "1d"},
        ),
        ("explain_concept", {"concept": " Stop  LOSS"}, {"concept": "stop loss", "level": "beginner"}),
    ],
)
async def test_spellings_of_the_same_arguments_become_one(
    registry: Registry, name: str, given: dict[str, Any], normal: dict[str, Any]
):
    entry = registry.find(name)
    assert entry is not None
    complete = with_defaults(given, entry.tool.input_schema)
    assert not entry.input.problems(complete)
    assert entry.tool.normaliser is not None
    assert entry.tool.normaliser(complete) == normal


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"order_type": "market"}, []),
        ({"order_type": "limit"}, ["limit_price"]),
        ({"order_type": "stop"}, ["stop_price"]),
        ({"order_type": "stop_limit"}, ["limit_price", "stop_price"]),
        ({"order_type": "stop_limit", "limit_price": 1, "stop_price": 2}, []),
        ({"order_type": "market", "limit_price": 1}, ["limit_price"]),
        ({"order_type": "limit", "limit_price": 1, "stop_price": 2}, ["stop_price"]),
    ],
)
def test_an_order_has_exactly_the_prices_that_its_type_needs(given: dict[str, object], wrong: list[str]):
    assert [problem.field for problem in price_problems(given)] == wrong


async def test_a_first_day_after_the_last_one_is_named_by_every_tool_that_takes_both(registry: Registry):
    tools = [entry.tool for entry in registry if {"start", "end"} <= entry.tool.input_schema["properties"].keys()]
    assert len(tools) == 7
    for tool in tools:
        assert tool.validator is not None
        about = {"tickers": ["IBM", "MSFT"], "start": "2012-05-01"}
        assert [one.field for one in tool.validator({**about, "end": "2012-01-01"})] == ["start"]
        assert not tool.validator({**about, "end": "2012-05-01"})


async def test_averages_of_one_length_are_named(registry: Registry):
    for name, given, wrong in (
        ("get_crossings", {"fast": 50, "slow": 50}, ["slow"]),
        ("backtest_strategy", {"fast": 50, "slow": 50, "rule": "sma_cross"}, ["slow"]),
        ("backtest_strategy", {"fast": 50, "slow": 50, "rule": "momentum"}, []),
        ("get_crossings", {"fast": 50, "slow": 200}, []),
    ):
        (tool,) = (entry.tool for entry in registry if entry.tool.name == name)
        assert tool.validator is not None
        assert [one.field for one in tool.validator(given)] == wrong


@pytest.mark.parametrize(("given", "wrong"), [
    ({"tickers": ["IBM"]}, ["tickers"]),
    ({"tickers": ["IBM", " ibm "]}, ["tickers"]),
    ({"tickers": ["IBM"], "benchmark": "IBM"}, ["tickers"]),
    ({"tickers": ["IBM"], "benchmark": "MSFT"}, []),
])  # fmt: skip
async def test_one_ticker_alone_moves_together_with_nothing(
    registry: Registry, given: dict[str, object], wrong: list[str]
):
    (tool,) = (entry.tool for entry in registry if entry.tool.name == "get_correlation")
    assert tool.validator is not None
    assert [one.field for one in tool.validator(given)] == wrong


@pytest.mark.parametrize(
    ("name", "given", "field"),
    [
        ("get_ohlcv", {"symbol": "IBM", "timeframe": "2h"}, "timeframe"),
        ("get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 501}, "limit"),
        ("get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 2.5}, "limit"),
        ("get_indicators", {"symbol": "IBM", "indicators": []}, "indicators"),
        ("get_indicators", {"symbol": "IBM", "indicators": ["FOO"]}, "indicators.0"),
        ("get_indicators", {"symbol": "IBM", "indicators": ["RSI"], "timeframe": "1w"}, "timeframe"),
        ("market_snapshot", {"tickers": "IBM"}, "tickers"),
        ("market_snapshot", {"tickers": ["IBM"] * 13}, "tickers"),
        ("get_price", {}, "symbol"),
        ("get_price", {"symbol": "IBM", "user": "ana"}, "user"),
        ("create_alert", {"symbol": "IBM", "condition": ">", "price": 1}, "condition"),
        ("create_alert", {"symbol": "IBM", "condition": ">=", "price": 0}, "price"),
        ("create_paper_order", {"symbol": "IBM", "side": "short", "quantity": 1, "order_type": "market"}, "side"),
        ("create_paper_order", {"symbol": "IBM", "side": "buy", "quantity": -1, "order_type": "market"}, "quantity"),
        ("cancel_paper_order", {"order_id": "a.b"}, "order_id"),
        ("get_portfolio", {"user_id": "ana"}, "user_id"),
        ("explain_concept", {"concept": "  "}, "concept"),
        ("explain_concept", {"concept": "RSI", "level": "expert"}, "level"),
    ],
)
async def test_wrong_arguments_are_named(registry: Registry, name: str, given: dict[str, object], field: str):
    entry = registry.find(name)
    assert entry is not None
    problems = entry.input.problems(with_defaults(given, entry.tool.input_schema))
    assert [problem.field for problem in problems] == [field]
