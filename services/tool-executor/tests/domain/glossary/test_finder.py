"""What people type, and the concept they mean; or none, where it is not beyond doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_executor.domain.glossary import Concept, Glossary, NotFound

GLOSSARY = Glossary.load()

SPELLINGS = {
    "Stop-Loss": "stop_loss",
    "STOPLOSS": "stop_loss",
    "stop   loss": "stop_loss",
    "stop losses": "stop_loss",
    "stop_loss": "stop_loss",
    "stop de perdidas": "stop_loss",
    "rsi": "rsi",
    "R.S.I.": "rsi",
    "RSIs": "rsi",
    "P/E": "pe_ratio",
    "PE ratio": "pe_ratio",
    "p e ratio": "pe_ratio",
    "PER": "pe_ratio",
    "P&L": "profit_and_loss",
    "ETFs": "etf",
    "acción": "stock",
    "ACCIONES": "stock",
    "shares": "stock",
    "indices": "stock_index",
    "índices": "stock_index",
    "Bollinger band": "bollinger_bands",
    "candles": "candlestick",
    "velas": "candlestick",
    "z score": "z_score",
    "zscores": "z_score",
    "ratio Sharpe": "sharpe_ratio",
    "Sharpe's ratio": "sharpe_ratio",
    "walk forward": "walk_forward",
    "lookahead bias": "look_ahead_bias",
    "sesgo de look-ahead": "look_ahead_bias",
    "ask/bid": "bid_ask",
    "β": "beta",
}
QUESTIONS = {
    "what is a stop-loss?": "stop_loss",
    "What's a stop loss order": "stop_loss",
    "¿Qué es el drawdown?": "drawdown",
    "que es un drawdown": "drawdown",
    "¿Qué significa P/E?": "pe_ratio",
    "what does FOMO mean?": "fomo",
    "can you explain to me what the MACD is, please": "macd",
    "Explain me the RSI like I'm five": "rsi",
    "explícame las bandas de Bollinger, por favor": "bollinger_bands",
    "¿Cómo se calcula el ratio de Sortino?": "sortino_ratio",
    "how do I calculate the sharpe ratio of my portfolio?": "sharpe_ratio",
    "¿cómo funciona una orden limitada?": "limit_order",
    "how does short selling work": "short_selling",
    "definición de apalancamiento": "leverage",
    "meaning of slippage in trading": "slippage",
    "la volatilidad del mercado": "volatility",
    "RSI(14)": "rsi",
    "SMA 200": "sma",
    "tell me about the VWAP indicator": "vwap",
    "para qué sirve el ATR": "atr",
    "hola, ¿qué son los ETF?": "etf",
    "stop loss in simple words": "stop_loss",
    "weighted moving average": "moving_average",
}
MISSPELLINGS = {
    "drawdwon": "drawdown",
    "drowdawn": "drawdown",
    "draw down": "drawdown",
    "¿qué es el drawdwon?": "drawdown",
    "bolinger bands": "bollinger_bands",
    "Bollinguer": "bollinger_bands",
    "Bolinger vands": "bollinger_bands",
    "fibonaci retracment": "fibonacci_retracement",
    "Fibonachi": "fibonacci_retracement",
    "MCAD": "macd",
    "candel stick": "candlestick",
    "sharp ratio": "sharpe_ratio",
    "ratio de Sharp": "sharpe_ratio",
    "sortno ratio": "sortino_ratio",
    "volatilty": "volatility",
    "bolatilidad": "volatility",
    "volatilidd": "volatility",
    "corelation": "correlation",
    "correlasion": "correlation",
    "liquidty": "liquidity",
    "slipage": "slippage",
    "levrage": "leverage",
    "apalancamineto": "leverage",
    "marign call": "margin_call",
    "trailling stop": "trailing_stop",
    "take proft": "take_profit",
    "stop los": "stop_loss",
    "stok": "stock",
    "dividned": "dividend",
    "inflasion": "inflation",
    "recesssion": "recession",
    "diversifcation": "diversification",
    "hedgeing": "hedging",
    "suport": "support",
    "resistencía": "resistance",
    "resistanse": "resistance",
    "exponental moving average": "ema",
    "simple moving averge": "sma",
    "overfiting": "overfitting",
    "sobreajsute": "overfitting",
    "survivorshp bias": "survivorship_bias",
    "etherium": "ethereum",
    "bitcion": "bitcoin",
    "blokchain": "blockchain",
    "head and sholders": "head_and_shoulders",
    "capitalisation": "market_cap",
    "revene trading": "revenge_trading",
    "comission": "commission",
    "call optoin": "call_option",
    "put optoin": "put_option",
}
UNRELATED = (
    "banana",
    "banana split",
    "chicken stock soup",
    "hello",
    "buenos días",
    "how are you?",
    "¿qué hora es?",
    "weather in Madrid",
    "el tiempo",
    "python programming",
    "Martin",
    "friend",
    "quite large",
    "sport",
    "residencia",
    "desplazamiento",
    "replacement",
    "community",
    "recursion",
    "the",
    "de la",
    "what is",
    "trading",
    "asdf qwer zxcv",
    "x",
    "12345",
    "¿?",
    "",
    "   ",
    "日本語",
    "🚀🚀🚀",
)


@pytest.mark.parametrize(("text", "expected"), [*SPELLINGS.items(), *QUESTIONS.items(), *MISSPELLINGS.items()])
def test_what_people_type_finds_the_concept_they_mean(text: str, expected: str):
    assert _found(text) == expected


@pytest.mark.parametrize("text", UNRELATED)
def test_what_is_not_about_trading_finds_nothing(text: str):
    found = GLOSSARY.find(text)
    assert isinstance(found, NotFound)
    assert len(found.suggestions) <= 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ETF", "ETH"),
        ("SMA", "EMA"),
        ("call", "put"),
        ("long", "short"),
        ("IPC", "PIB"),
        ("ATR", "ADX"),
    ],
)
def test_short_names_that_look_alike_or_go_together_are_told_apart(one: str, other: str):
    assert None not in (_found(one), _found(other))
    assert _found(one) != _found(other)


@pytest.mark.parametrize("acronym", ["EFT", "ETG", "RIS", "RSL", "ART", "ATX", "AMA", "WMA", "OBX", "P/S", "PEG ratio"])
def test_an_acronym_nobody_explains_is_not_taken_for_another(acronym: str):
    assert _found(acronym) is None


@pytest.mark.parametrize("side", ["buy", "sell", "comprar", "vender"])
def test_a_side_alone_is_no_concept(side: str):
    assert _found(side) is None


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("what is the difference between a call and a put?", {"call_option", "put_option"}),
        ("stop loss vs take profit", {"stop_loss", "take_profit"}),
        ("diferencia entre SMA y EMA", {"sma", "ema"}),
    ],
)
def test_a_question_about_two_concepts_is_answered_with_both_as_suggestions(text: str, both: set[str]):
    found = GLOSSARY.find(text)
    assert isinstance(found, NotFound)
    assert {concept.id for concept in found.suggestions} == both


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("moving", "moving_average"),
        ("chicken stock soup", "stock"),
        ("deflation", "inflation"),
    ],
)
def test_what_comes_near_is_suggested(text: str, suggested: str):
    found = GLOSSARY.find(text)
    assert isinstance(found, NotFound)
    assert suggested in {concept.id for concept in found.suggestions}


@given(st.text(max_size=400))
def test_any_text_has_an_answer(text: str):
    found = GLOSSARY.find(text)
    assert isinstance(found, Concept) or len(found.suggestions) <= 3


@pytest.mark.parametrize("text", ["a " * 10_000, "x" * 100_000, "what is " * 5_000, "stop loss " * 5_000])
def test_of_a_text_of_any_length_the_beginning_is_read(text: str):
    assert GLOSSARY.find(text + " stop loss") == GLOSSARY.find(text[:300])


def _found(text: str) -> str | None:
    found = GLOSSARY.find(text)
    return None if isinstance(found, NotFound) else found.id
