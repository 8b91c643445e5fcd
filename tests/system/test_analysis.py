"""Market analyses on the whole product: over HTTP, as an event, in the chat and from the terminal; and every figure
worked out again from the bars, by other code than the product's."""

import asyncio
import csv
import itertools
import json
import math
import statistics
import uuid
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import jsonschema_rs
import nats
import pytest

from contracts.analysis_report import report_schema
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

COMPARE = "Compare IBM and MSFT over the last year"
SCHEMA = jsonschema_rs.Draft202012Validator(report_schema())
CLOSE_TO = 2e-6
"""Figures are rounded to six places."""


class Bar(NamedTuple):
    day: date
    high: float
    low: float
    close: float
    volume: float


def customer(stack: RunningStack, user: str | None = None) -> str:
    return stack.mint("user", user or f"u-{uuid.uuid4().hex[:12]}")


async def reported(http: Http, token: str, **body: Any) -> dict[str, Any]:
    """The report of one question, waited for."""
    status, view, _ = await http("POST", "/v2/analysis", token=token, headers={"Prefer": "wait=60"}, json=body)
    assert status == 200, view
    assert view["status"] == "done", view
    assert SCHEMA.is_valid(view["report"]), list(SCHEMA.iter_errors(view["report"]))
    return view["report"]


# ---------------------------------------------------------------- the figures


def bars_until(ticker: str, last: date) -> list[Bar]:
    """The sample's bars, as its files have them. None of these tickers was split in the years that matter here."""
    text = (files("market_adapter") / "data" / "bars" / f"{ticker}.csv").read_text()
    rows = csv.DictReader(text.splitlines())
    bars = [
        Bar(date.fromisoformat(row["date"]), *(float(row[name]) for name in ("high", "low", "close", "volume")))
        for row in rows
    ]
    return [bar for bar in bars if bar.day <= last][-520:]


def months_before(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    for back in range(4):
        try:
            return date(year, month + 1, day.day - back)
        except ValueError:
            continue
    raise AssertionError(day)


def return_since(bars: list[Bar], day: date) -> float | None:
    before = [bar for bar in bars if bar.day <= day]
    return bars[-1].close / before[-1].close - 1 if before else None


def true_ranges(bars: list[Bar]) -> list[float]:
    return [max(now.high, before.close) - min(now.low, before.close) for before, now in itertools.pairwise(bars)]


def average_true_range(bars: list[Bar], period: int = 14) -> float:
    """Wilder's: the mean of the first, then smoothed."""
    ranges = true_ranges(bars)
    value = statistics.fmean(ranges[:period])
    for range in ranges[period:]:
        value = (value * (period - 1) + range) / period
    return value


def worked_out(ticker: str, last: date) -> dict[str, float | None]:
    bars = bars_until(ticker, last)
    closes = [bar.close for bar in bars]
    year = closes[-253:]
    falls = [close / max(year[: index + 1]) - 1 for index, close in enumerate(year)]
    logs = [math.log(now / before) for before, now in itertools.pairwise(year)]
    volumes = [bar.volume for bar in bars]
    today = bars[-1].day
    return {
        "price": closes[-1],
        "1d": closes[-1] / closes[-2] - 1,
        "1w": return_since(bars, today - timedelta(days=7)),
        "1m": return_since(bars, months_before(today, 1)),
        "3m": return_since(bars, months_before(today, 3)),
        "1y": return_since(bars, months_before(today, 12)),
        "ytd": return_since(bars, date(today.year - 1, 12, 31)),
        "max_drawdown": min(falls),
        "current_drawdown": falls[-1],
        "volatility": statistics.stdev(logs) * math.sqrt(252),
        "sma_20": statistics.fmean(closes[-20:]),
        "sma_50": statistics.fmean(closes[-50:]),
        "sma_200": statistics.fmean(closes[-200:]) if len(closes) >= 200 else None,
        "atr_14": average_true_range(bars),
        "volume_zscore": (volumes[-1] - statistics.fmean(volumes[-21:-1])) / statistics.stdev(volumes[-21:-1]),
    }


async def test_every_figure_of_a_report_is_worked_out_again_from_the_bars(stack: RunningStack, http: Http) -> None:
    tickers = ["IBM", "MSFT", "AAPL", "GOOG", "FB"]
    report = await reported(http, customer(stack), query="How have they done over the last year?", tickers=tickers)
    assert [finding["ticker"] for finding in report["findings"]] == tickers
    for finding in report["findings"]:
        last = date.fromisoformat(finding["window"]["last"])
        expected = worked_out(finding["ticker"], last)
        given = {**finding["returns"], **{name: finding[name] for name in expected if name in finding}}
        assert given.keys() == expected.keys()
        for name, value in expected.items():
            if value is None:
                assert given[name] is None, (finding["ticker"], name)
            else:
                assert given[name] == pytest.approx(value, rel=1e-5, abs=CLOSE_TO), (finding["ticker"], name)
    assert {one["as_of"][:10] for one in report["sources"]} == {report["findings"][0]["window"]["last"]}


async def test_a_comparison_says_what_the_figures_say(stack: RunningStack, http: Http) -> None:
    report = await reported(http, customer(stack), query=COMPARE)
    last = date.fromisoformat(report["findings"][0]["window"]["last"])
    returns = {ticker: worked_out(ticker, last)["1y"] or 0.0 for ticker in ("IBM", "MSFT")}
    better, worse = sorted(returns, key=lambda ticker: -returns[ticker])
    lead = report["comparison"]["figures"][0]
    assert (lead["figure"], lead["highest"], lead["lowest"]) == ("returns.1y", better, worse)
    assert f"{better} did better than {worse}" in report["summary"]
    assert f"{abs(returns[better]) * 100:.1f}%" in report["summary"]
    assert any("No model was used" in one for one in report["limitations"])
    assert any("sample" in one for one in report["limitations"])


# ---------------------------------------------------------------- over HTTP


async def test_an_analysis_is_a_resource_of_its_user_alone(stack: RunningStack, http: Http) -> None:
    mine = customer(stack)
    key = {"Idempotency-Key": uuid.uuid4().hex}
    status, begun, headers = await http("POST", "/v2/analysis", token=mine, headers=key, json={"query": COMPARE})
    assert status == 202
    assert headers["location"] == f"/v2/analysis/{begun['id']}"

    async def done() -> Any:
        code, view, _ = await http("GET", headers["location"], token=mine)
        assert code == 200
        return view if view["status"] == "done" else None

    view: Any = await eventually(done)
    assert view["report"]["tickers"] == ["IBM", "MSFT"]
    again = await http("POST", "/v2/analysis", token=mine, headers={**key, "Prefer": "wait=5"}, json={"query": COMPARE})
    assert (again[0], again[1]["id"], again[1]["report"]) == (200, begun["id"], view["report"])
    other = await http("POST", "/v2/analysis", token=mine, headers=key, json={"query": "How has IBM done?"})
    assert (other[0], other[1]["code"]) == (409, "CONFLICT")
    assert (await http("GET", headers["location"], token=customer(stack)))[0] == 404
    assert (await http("GET", headers["location"], token=stack.mint("user", "me", "acme")))[0] == 404
    assert (await http("POST", "/v2/analysis", token=stack.mint("admin", "root"), json={"query": COMPARE}))[0] == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": COMPARE, "tickers": ["!!"]}, "tickers"),
        ({"query": COMPARE, "tickers": ["IBM"] * 13}, "tickers"),
        ({}, "query"),
    ],
)
async def test_a_question_that_is_none_is_refused_with_its_field(
    stack: RunningStack, http: Http, body: dict[str, Any], field: str
) -> None:
    status, problem, _ = await http("POST", "/v2/analysis", token=customer(stack), json=body)
    assert status == 422
    assert problem["errors"][0]["field"] == field


async def test_no_ticker_no_advice_and_no_provider_each_get_an_honest_answer(stack: RunningStack, http: Http) -> None:
    token = customer(stack)
    asks = await reported(http, token, query="How is the market doing?")
    assert (asks["tickers"], asks["tools_used"]) == ([], [])
    advice = await reported(http, token, query="¿Debería comprar IBM con mis ahorros?")
    assert (advice["tools_used"], advice["language"]) == ([], "es")
    mixed = await reported(http, token, query="Compare IBM and TSLA over the last year")
    assert [finding["ticker"] for finding in mixed["findings"]] == ["IBM"]
    assert mixed["errors"][0]["reason"] == "not_in_sample"


# ---------------------------------------------------------------- as an event


async def test_another_service_asks_by_an_event_and_is_answered_by_one(stack: RunningStack, http: Http) -> None:
    _, vouched, _ = await http("POST", "/v2/principals", token=stack.mint("service", "reports"), json={"userId": "ada"})
    analysis_id = str(uuid.uuid4())
    bus = await nats.connect(stack.facts()["urls"]["nats"])  # pyright: ignore[reportUnknownMemberType]
    try:
        outcomes = await bus.subscribe("analysis.completed.v1.demo.ada")  # pyright: ignore[reportUnknownMemberType]
        event = {
            "specversion": "1.0",
            "id": analysis_id,
            "source": "/reports",
            "type": "analysis.requested.v1",
            "data": {
                "analysisId": analysis_id,
                "companyId": "demo",
                "userId": "ada",
                "query": COMPARE,
                "principal": vouched["principal"],
            },
        }
        await bus.jetstream().publish(  # pyright: ignore[reportUnknownMemberType]
            "analysis.requested.v1.demo.ada",
            json.dumps(event).encode(),
            stream="FACTS",
            headers={"Nats-Msg-Id": f"demo.ada.analysis.{analysis_id}"},
        )
        answered = json.loads((await outcomes.next_msg(60)).data)["data"]
    finally:
        await bus.close()
    assert (answered["analysisId"], answered["status"]) == (analysis_id, "done")
    assert SCHEMA.is_valid(answered["report"])
    status, view, _ = await http("GET", f"/v2/analysis/{analysis_id}", token=stack.mint("user", "ada"))
    assert (status, view["report"]) == (200, answered["report"])


# ---------------------------------------------------------------- in the chat


@pytest.mark.parametrize(
    ("text", "locale", "said"),
    [(COMPARE, "en", ("Sources:", "Limitations:")), ("Compara IBM y MSFT en el último año", "es", ("Fuentes:",))],
)
async def test_a_customer_asks_in_the_chat_and_gets_the_same_analysis(
    stack: RunningStack, http: Http, text: str, locale: str, said: tuple[str, ...]
) -> None:
    token = customer(stack)
    async with stack.chat(token, locale=locale) as client:
        answer = await client.ask(text)
    report = await reported(http, token, query=text)
    assert report["summary"] in answer["text"]
    assert report["disclaimer"] in answer["text"]
    for one in (*said, "sample"):
        assert one in answer["text"]


# ---------------------------------------------------------------- from the terminal


async def test_the_terminal_asks_the_running_stack(stack: RunningStack, tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    shared = ("--data", str(stack.data))
    printed = await asyncio.to_thread(stack.nexus, "ask", COMPARE, "--json", "--chart", str(chart), *shared)
    assert printed.returncode == 0, printed.stderr
    assert printed.stderr == ""
    report = json.loads(printed.stdout)
    assert SCHEMA.is_valid(report)
    drawn = ElementTree.fromstring(chart.read_text())
    assert len(drawn.findall("{http://www.w3.org/2000/svg}polyline")) == 2
    shown = await asyncio.to_thread(stack.nexus, "ask", "How have they done?", "--tickers", "IBM,AAPL", *shared)
    assert shown.returncode == 0, shown.stderr
    for text in ("IBM", "AAPL", "Prices", "Risk", "▁", "█", "Limitations"):
        assert text in shown.stdout
