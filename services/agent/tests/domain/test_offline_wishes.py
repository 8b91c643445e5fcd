"""Paraphrases, es and en: which tool with which arguments is meant."""

from typing import Any

import pytest

from agent.domain.offline.intents import wish_in
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS

BARS: dict[str, Any] = {"timeframe": "1d", "limit": 60}
ORDER: dict[str, Any] = {"side": "buy", "order_type": "market"}
SIZE: dict[str, Any] = {"capital": 5000.0, "entry_price": 50.0, "stop_loss_price": 45.0, "risk_percent": 0.01}
RATIO: dict[str, Any] = {"entry_price": 100.0, "stop_loss_price": 95.0, "take_profit_price": 115.0}

TOOLS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "get_price": (
        {"symbol": "IBM"},
        [
            "IBM price",
            "what is IBM trading at right now?",
            "how much is IBM worth?",
            "IBM quote please",
            "IBM?",
            "price of ibm stock",
            "precio de IBM",
            "¿a cuánto está IBM?",
            "¿cuánto vale IBM hoy?",
            "cotización de IBM",
            "dime la cotizacion de ibm",
            "precoi de IBM",
            "qoute for IBM",
            "¿a cómo cotiza IBM?",
            "¿por cuánto va IBM ahora?",
            "get me the price of IBM",
            "and the price of IBM?",
        ],
    ),
    "get_news": (
        {"symbol": "MSFT"},
        [
            "MSFT news",
            "any headlines about Microsoft?",
            "latest news on MSFT",
            "noticias de Microsoft",
            "¿hay noticias de MSFT?",
            "notisias de MSFT",
            "titulares sobre MSFT",
            "price or news? news of MSFT",
        ],
    ),
    "get_sentiment": (
        {"symbol": "AAPL"},
        [
            "sentiment of AAPL",
            "what is the mood on Apple?",
            "sentimiento de AAPL",
            "¿cuál es el sentimiento de Apple?",
            "sentimeinto de AAPL",
            "AAPL sentiment in the news",
            "news sentiment for AAPL",
        ],
    ),
    "get_fundamentals": (
        {"symbol": "IBM"},
        [
            "P/E of IBM",
            "What's IBM's P/E?",
            "what is the pe of IBM?",
            "IBM market cap",
            "revenue of IBM",
            "IBM EPS please",
            "PER de IBM",
            "¿cuál es el PER de IBM?",
            "ingresos de IBM",
            "fundamentales de IBM",
            "does IBM pay a dividend?",
            "fundamntals of IBM",
            "beta of IBM",
        ],
    ),
    "fundamentals_events": (
        {"tickers": ["AAPL"]},
        [
            "when does Apple report earnings?",
            "next earnings date of AAPL",
            "when are AAPL's results?",
            "¿cuándo presenta resultados Apple?",
            "fecha de resultados de AAPL",
            "¿cuándo publica Apple sus resultados?",
            "próximo dividendo de AAPL",
            "when is AAPL's next dividend?",
        ],
    ),
    "get_indicators": (
        {"symbol": "MSFT", "indicators": ["RSI"]},
        [
            "RSI of MSFT",
            "what's the rsi for Microsoft?",
            "RSI de MSFT",
            "¿qué RSI tiene MSFT?",
            "show me MSFT's RSI",
            "dame el rsi de microsoft",
        ],
    ),
    "get_ml_signals": (
        {"symbol": "IBM"},
        [
            "ML signal for IBM",
            "prediction for IBM",
            "what do the models predict for IBM?",
            "predicción de IBM",
            "señal de IBM",
            "¿qué pronóstico hay para IBM?",
            "forecast of IBM",
        ],
    ),
    "get_ohlcv": (
        {"symbol": "IBM", **BARS},
        ["chart of IBM", "show me the IBM graph", "gráfico de IBM", "velas de IBM", "IBM candles", "grafico de ibm"],
    ),
    "market_snapshot": (
        {"tickers": ["IBM"]},
        [
            "how did IBM do last month?",
            "IBM's performance this year",
            "how has IBM moved?",
            "rendimiento de IBM",
            "¿cómo le fue a IBM la última semana?",
            "returns of IBM",
            "how volatile has IBM been?",
            "¿cuánto perdió IBM ayer?",
            "IBM fell, did it?",
        ],
    ),
    "get_portfolio": (
        {},
        [
            "What's my average cost in AAPL?",  # what was paid is no price of now
            "¿Cuál es mi precio medio en IBM?",
            "my portfolio",
            "show me my positions",
            "what do I own?",
            "how much cash do I have?",
            "mi cartera",
            "¿qué tengo en cartera?",
            "mis posiciones",
            "¿cuánto efectivo tengo en mi cartera?",
            "portfolio",
            "my portoflio please",
            "what's in my portfolio?",
            "¿qué es lo que hay en mi cartera?",
        ],
    ),
    "get_pending_orders": (
        {},
        [
            "my open orders",
            "which orders are pending?",
            "pending orders",
            "mis órdenes",
            "órdenes pendientes",
            "¿qué órdenes tengo abiertas?",
        ],
    ),
    "get_trade_history": (
        {},
        [
            "my trades",
            "trade history",
            "what have I bought?",
            "mi historial",
            "historial de operaciones",
            "¿qué he vendido?",
        ],
    ),
    "get_watchlist": ({}, ["my watchlist", "what is on my watchlist?", "mi lista de seguimiento", "mis favoritos"]),
    "add_to_watchlist": (
        {"symbol": "TSLA"},
        [
            "add TSLA to my watchlist",
            "put Tesla on my watchlist",
            "añade TSLA a mi lista",
            "agrega Tesla a favoritos",
            "follow TSLA",
        ],
    ),
    "remove_from_watchlist": (
        {"symbol": "TSLA"},
        [
            "remove TSLA from my watchlist",
            "quita TSLA de mi lista",
            "take Tesla off my watchlist",
            "saca TSLA de mi lista",
        ],
    ),
    "list_alerts": (
        {},
        [
            "my alerts",
            "which alerts do I have?",
            "mis alertas",
            "¿qué alertas tengo?",
            "show alerts",
            "what alerts exist?",
            "¿qué avisos hay?",
        ],
    ),
    "create_alert": (
        {"symbol": "IBM", "condition": "<=", "price": 190.0},
        [
            "alert me when IBM falls below 190",
            "tell me when IBM drops under 190",
            "avísame si IBM baja de 190",
            "avisame cuando IBM caiga a 190",
            "set an alert for IBM below $190",
            "let me know if IBM goes down to 190",
            "pon una alerta de IBM por debajo de 190",
        ],
    ),
    "explain_concept": (
        {"concept": "drawdown"},
        [
            "what is a drawdown?",
            "explain drawdown",
            "what does drawdown mean?",
            "¿qué es el drawdown?",
            "explícame el drawdown",
            "¿qué significa drawdown?",
            "define drawdown",
            "dime qué es un drawdown",
            "tell me what a drawdown is",
            "¿y el drawdown qué significa?",
        ],
    ),
    "create_paper_order": (
        {"symbol": "AAPL", "quantity": 5.0, **ORDER},
        [
            "buy 5 AAPL",
            "buy five shares of Apple",
            "please buy 5 AAPL at market",
            "compra 5 AAPL",
            "compra cinco acciones de Apple",
            "quiero comprar 5 acciones de AAPL",
            "cómprame 5 AAPL",
            "I want to buy 5 AAPL",
            "purchase 5 AAPL",
            "grab five AAPL",
            "pon una orden de compra de 5 AAPL",
        ],
    ),
    "calculate_position_size": (
        SIZE,
        [
            "position size with 5000 capital, entry 50, stop 45, risk 1%",
            "risk 1% of 5000 dollars, entry at 50 and stop at 45: what size of position?",
            "how many shares with stop 45, entry 50, capital 5000 and 1% risk",
            "1 % de riesgo, stop 45, entrada 50, capital 5000: tamaño de posición",
            "Dispongo de 5000 euros, arriesgando un 1 %, entrada en 50, stop en 45",
            "¿cuántas acciones? capital 5.000, entrada 50, stop 45, riesgo 1%",
            "with 5k in my account, buying at 50 with a stop at 45 and 1 % risk",
            "5000 dollars, 1 percent, entry 50, stop loss 45, position size?",
        ],
    ),
    "calculate_risk_reward": (
        RATIO,
        [
            "risk/reward for entry 100, stop 95, target 115",
            "target 115, stop 95, entry 100: reward to risk?",
            "riesgo beneficio con entrada 100, stop 95 y objetivo 115",
            "beneficio/riesgo: objetivo 115, entrada 100, stop 95",
            "risk reward with 100 entry, 95 stop and 115 target",
        ],
    ),
}
OTHER: list[tuple[str, str, dict[str, Any]]] = [
    ("chart of IBM for the last 30 days", "get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 30}),
    ("gráfico de IBM de los últimos 3 meses", "get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 63}),
    ("hourly chart of IBM", "get_ohlcv", {"symbol": "IBM", "timeframe": "1h", "limit": 60}),
    ("weekly candles of IBM", "get_ohlcv", {"symbol": "IBM", "timeframe": "1w", "limit": 52}),
    ("gráfico semanal de IBM", "get_ohlcv", {"symbol": "IBM", "timeframe": "1w", "limit": 52}),
    ("IBM chart of one year", "get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 252}),
    (
        "price of IBM on 3 May 2011",
        "get_ohlcv",
        {"symbol": "IBM", "timeframe": "1d", "limit": 8, "end": "2011-05-03"},
    ),
    (
        "¿a cuánto estaba la acción de IBM el 3 de mayo de 2011?",
        "get_ohlcv",
        {"symbol": "IBM", "timeframe": "1d", "limit": 8, "end": "2011-05-03"},
    ),
    (
        "sell 3 IBM limit 200",
        "create_paper_order",
        {"symbol": "IBM", "side": "sell", "quantity": 3.0, "order_type": "limit", "limit_price": 200.0},
    ),
    (
        "vende 3 IBM con stop en 180",
        "create_paper_order",
        {"symbol": "IBM", "side": "sell", "quantity": 3.0, "order_type": "stop", "stop_price": 180.0},
    ),
    (
        "orden de venta de 3 IBM a 200 como límite",
        "create_paper_order",
        {"symbol": "IBM", "side": "sell", "quantity": 3.0, "order_type": "limit", "limit_price": 200.0},
    ),
    ("gráfico de IBM de los últimos cuatro meses", "get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 84}),
    ("avísame cuando IBM supere 220", "create_alert", {"symbol": "IBM", "condition": ">=", "price": 220.0}),
    ("MACD and RSI of IBM", "get_indicators", {"symbol": "IBM", "indicators": ["RSI", "MACD"]}),
    ("1h RSI of IBM", "get_indicators", {"symbol": "IBM", "indicators": ["RSI"], "timeframe": "1h"}),
    ("compare IBM with MSFT", "market_snapshot", {"tickers": ["IBM", "MSFT"]}),
    (
        "how volatile was IBM through 2009?",
        "get_performance",
        {"tickers": ["IBM"], "start": "2009-01-01", "end": "2009-12-31"},
    ),
    ("¿cuánto subió MSFT desde 2010?", "get_performance", {"tickers": ["MSFT"], "start": "2010-01-01"}),
    ("compara IBM con MSFT en los últimos dos años", "get_performance", {"tickers": ["IBM", "MSFT"], "period": "2y"}),
    ("what did we say about bonds?", "search_memory", {"query": "bonds"}),
    (
        "buy 3 IBM at a limit of 150 and let me know when it's filled",
        "create_paper_order",
        {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "limit", "limit_price": 150},
    ),
    (
        "compra 3 IBM a mercado y avísame cuando se ejecute",
        "create_paper_order",
        {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "market"},
    ),
    ("tell me when IBM hits 150", "create_alert", {"symbol": "IBM", "condition": "==", "price": 150}),
]


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [(text, tool, arguments) for tool, (arguments, texts) in TOOLS.items() for text in texts]
    + [(text, tool, arguments) for text, tool, arguments in OTHER],
)
def test_the_tool_that_is_meant_with_its_arguments(text: str, tool: str, arguments: dict[str, Any]) -> None:
    assert wish_in(text, SCHEMAS).calls == ((tool, arguments),)


@pytest.mark.parametrize(
    ("before", "text", "tool", "arguments", "way"),
    [
        (
            "Get me 4 shares of IBM",
            "actually make that 6, limit 120",
            "create_paper_order",
            {"symbol": "IBM", "side": "buy", "quantity": 6.0, "limit_price": 120.0, "order_type": "limit"},
            "replace",
        ),
        (
            "avísame si IBM pasa de 210",
            "mejor a 205",
            "create_alert",
            {"symbol": "IBM", "condition": ">=", "price": 205.0},
            "replace_listed",
        ),
        ("compra 10 de MSFT", "véndeme la mitad", "create_paper_order", {"symbol": "MSFT", "share": 0.5}, "sell"),
        ("IBM price", "what's my portfolio worth right now", "get_portfolio", {}, "portfolio"),
        ("IBM price", "what do your models say it will do", "get_ml_signals", {"symbol": "IBM"}, ""),
        ("IBM price", "y en lo que va de año?", "market_snapshot", {"tickers": ["IBM"]}, ""),
        ("what am I following?", "take IBM off it again", "remove_from_watchlist", {"symbol": "IBM"}, ""),
        ("what does RSI mean?", "what's AAPL's?", "get_indicators", {"symbol": "AAPL", "indicators": ["RSI"]}, ""),
        (
            "hello",
            "risk reward if I enter IBM at 130, stop 125 and target 145",
            "calculate_risk_reward",
            {"entry_price": 130.0, "stop_loss_price": 125.0, "take_profit_price": 145.0},
            "",
        ),
    ],
)
def test_what_takes_up_or_amends_what_was_said_before(
    before: str, text: str, tool: str, arguments: dict[str, Any], way: str
) -> None:
    wish = wish_in(text, SCHEMAS, [before])
    assert (wish.calls[0][0], wish.way, wish.missing) == (tool, way, ())
    assert arguments.items() <= wish.calls[0][1].items(), wish


def test_a_size_without_a_risk_is_asked_for_it_and_goes_on_with_the_answer() -> None:
    asked = "Tengo 8.000 $, si entro en 50 y el stop en 47 cuántas compro?"
    assert wish_in(asked, SCHEMAS).missing == ("risk_percent",)
    ((tool, arguments),) = wish_in("¿y si arriesgo el 2%?", SCHEMAS, [asked]).calls
    assert tool == "calculate_position_size"
    assert arguments == {"capital": 8000.0, "entry_price": 50.0, "stop_loss_price": 47.0, "risk_percent": 0.02}


def test_the_worst_day_of_a_share_is_no_complaint() -> None:
    assert wish_in("Show me the worst day of MSFT in 2008", SCHEMAS).intent is not Intent.UPSET
    assert wish_in("You are the worst", SCHEMAS).intent is Intent.UPSET
