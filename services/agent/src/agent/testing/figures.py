"""Tool outputs for tests of analyses: the results of market_snapshot and fundamentals_events for IBM and MSFT on the
last day of the sample data, and a schema that they satisfy."""

import copy
from collections.abc import Iterable
from typing import Any

from nats.aio.client import Client

from contracts.tools_rpc import TOOL_DETAILS, ToolDetails, ToolDetailsReply, ToolDetailsRequest
from runtime.calls.rpc import RpcServer

AS_OF = "2013-03-01T21:00:00Z"
_SNAPSHOTS: dict[str, dict[str, Any]] = {
    "IBM": {
        "ohlcv": {
            "first": "2012-02-28", "last": "2013-03-01", "bars": 253,
            "open": 197.98, "high": 211.79, "low": 181.85, "close": 202.91, "volume": 944_800_000,
        },
        "price": 202.91, "currency": "USD",
        "returns": {"1d": 0.010357, "1w": 0.009051, "1m": -0.011063, "3m": 0.067554, "1y": 0.027236, "ytd": 0.059306},
        "max_drawdown": -0.126062, "current_drawdown": -0.038341, "volatility": 0.164887,
        "sma_20": 200.3325, "sma_50": 197.9424, "sma_200": 196.5926, "atr_14": 2.4131, "volume_zscore": -0.3127,
        "source": "sample", "as_of": AS_OF,
    },
    "MSFT": {
        "ohlcv": {
            "first": "2012-02-28", "last": "2013-03-01", "bars": 253,
            "open": 31.41, "high": 32.95, "low": 26.26, "close": 27.95, "volume": 12_112_000_000,
        },
        "price": 27.95, "currency": "USD",
        "returns": {"1d": 0.005396, "1w": 0.006844, "1m": 0.000716, "3m": 0.049944, "1y": -0.134141, "ytd": 0.046424},
        "max_drawdown": -0.196966, "current_drawdown": -0.149179, "volatility": 0.198621,
        "sma_20": 27.6485, "sma_50": 27.4112, "sma_200": 28.8801, "atr_14": 0.4021, "volume_zscore": 2.4127,
        "source": "sample", "as_of": AS_OF,
    },
}  # fmt: skip
_EVENTS: dict[str, dict[str, Any]] = {
    "IBM": {
        "symbol": "IBM", "period": "FY2012", "pe": 14.1204, "eps": 14.37, "revenue": 104_507_000_000.0,
        "market_cap": 234_465_000_000.0, "gross_margin": 0.481296, "net_margin": 0.158879, "dividend_yield": 0.016756,
        "beta": None, "currency": "USD", "report_source": "IBM, 2012 annual report",
        "next_earnings_date": "2013-04-18", "next_earnings_status": "expected", "next_dividend_date": None,
        "source": "sample", "as_of": AS_OF,
    },
    "MSFT": {
        "symbol": "MSFT", "period": "FY2012 (to 2012-06-30)", "pe": 13.975, "eps": 2.0, "revenue": 73_723_000_000.0,
        "market_cap": 237_715_000_000.0, "gross_margin": 0.762231, "net_margin": 0.230301, "dividend_yield": 0.030769,
        "beta": None, "currency": "USD", "report_source": "Microsoft Corp., Form 10-K for fiscal 2012",
        "next_earnings_date": "2013-04-18", "next_earnings_status": "expected", "next_dividend_date": None,
        "source": "sample", "as_of": AS_OF,
    },
}  # fmt: skip
OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tickers": {"type": "object", "additionalProperties": {"type": "object", "required": ["source", "as_of"]}},
        "errors": {"type": "array"},
    },
    "required": ["tickers", "errors"],
}


async def serve_tool_details(client: Client) -> RpcServer:
    """Serves rpc.tools.details.v1 in place of the executor, for the tools of analyses; the caller drains the server."""

    async def details(request: ToolDetailsRequest) -> ToolDetailsReply:
        tools = [
            ToolDetails(
                name=name,
                category="market",
                description=f"about {name}",
                parameters={
                    "type": "object",
                    "properties": {"tickers": {"type": "array"}},
                    "required": ["tickers"],
                },
                output_schema=OUTPUT_SCHEMA,
                examples=[{"tickers": ["IBM", "MSFT"]}],
                budget_per_ticker=1,
            )
            for name in request.names or ("market_snapshot", "fundamentals_events")
        ]
        return ToolDetailsReply(tools=tools)

    server = RpcServer(client)
    await server.serve(TOOL_DETAILS, details)
    await client.flush()
    return server


def output(tool: str, tickers: Iterable[str]) -> dict[str, Any]:
    """Returns the tool's result for these tickers; others than IBM and MSFT fail, as with the real provider."""
    table = _SNAPSHOTS if tool == "market_snapshot" else _EVENTS
    requested = list(tickers)
    errors = [
        {"error": f"{ticker} is not in the sample data", "ticker": ticker, "reason": "not_in_sample"}
        for ticker in requested
        if ticker not in table
    ]
    entries = {ticker: copy.deepcopy(table[ticker]) for ticker in requested if ticker in table}
    return {"tickers": entries, "errors": errors, "source": "sample", "as_of": AS_OF}
