"""Topics of a conversation: the concepts that its texts mention, newest first. In Spanish and English.

Concepts have the names that the glossary of explain_concept uses.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from memory.domain.mentions import mentioned_symbols

MAX_TOPICS = 5
MAX_SYMBOLS = 10
_CONCEPTS = {
    "rsi": r"rsi|índices? de fuerza relativa|relative strength index",
    "macd": r"macd",
    "bollinger_bands": r"bollinger",
    "moving_average": r"medias? m[oó]vil(?:es)?|promedios? m[oó]vil(?:es)?|moving averages?|sma|ema",
    "support": r"soportes?|support levels?",
    "resistance": r"resistencias?|resistance levels?",
    "trend": r"tendencias?|trends?|trendlines?",
    "volatility": r"volatilidad|volatility|vix",
    "stop_loss": r"stop[ -]?loss(?:es)?|stops?",
    "take_profit": r"take[ -]?profits?|toma de ganancias",
    "risk_reward": r"riesgo[ /-]beneficio|risk[ /-]reward",
    "position_sizing": r"tama[nñ]o de (?:la )?posici[oó]n|position siz(?:e|ing)",
    "diversification": r"diversificar|diversificaci[oó]n|diversif(?:y|ication)",
    "leverage": r"apalancamiento|apalancad[oa]s?|leveraged?",
    "short_selling": r"venta en corto|en corto|short[ -]selling|short positions?",
    "dividend": r"dividendos?|dividends?",
    "earnings": r"resultados trimestrales|ganancias trimestrales|beneficios trimestrales|earnings",
    "pe_ratio": r"p/e|pe ratio|ratio p/e|price[ -]to[ -]earnings",
    "eps": r"eps|bpa|beneficio por acci[oó]n|earnings per share",
    "market_cap": r"capitalizaci[oó]n|market cap(?:italization)?",
    "inflation": r"inflaci[oó]n|inflation|cpi|ipc",
    "interest_rate": r"tipos? de inter[eé]s|tasas? de inter[eé]s|interest rates?",
    "etf": r"etfs?|fondos? cotizados?",
    "stock_index": r"índices? burs[aá]til(?:es)?|stock ind(?:ex|ices)",
    "bond": r"bonos?|bonds?|renta fija|fixed income",
    "option": r"opciones|call options?|put options?|options? contracts?",
    "futures": r"futuros|futures",
    "cryptocurrency": r"cripto(?:monedas?|divisas?)?|crypto(?:currenc(?:y|ies))?",
    "day_trading": r"day[ -]?trad(?:ing|er)|intrad[ií]a|intraday",
    "swing_trading": r"swing(?: trad(?:ing|er))?",
    "scalping": r"scalping",
    "long_term": r"largo plazo|long[ -]term|buy and hold",
    "dollar_cost_averaging": r"dca|dollar[- ]cost averaging|compras? peri[oó]dicas?",
    "backtest": r"backtest(?:s|ing)?",
    "drawdown": r"drawdowns?|ca[ií]da m[aá]xima",
    "sharpe_ratio": r"sharpe",
    "limit_order": r"[oó]rden(?:es)? l[ií]mite|limit orders?",
    "market_order": r"[oó]rden(?:es)? (?:a|de) mercado|market orders?",
    "portfolio": r"portafolios?|carteras?|portfolios?",
    "fundamental_analysis": r"an[aá]lisis fundamental|fundamentals?|fundamentales",
    "technical_analysis": r"an[aá]lisis t[eé]cnico|technical analysis",
    "tax": r"impuestos?|fiscalidad|tax(?:es)?",
}
_CONCEPT = re.compile("|".join(rf"(?P<{name}>\b(?:{words})(?!\w))" for name, words in _CONCEPTS.items()), re.I)


@lru_cache(maxsize=8_192)
def subjects(text: str) -> tuple[tuple[str, bool], ...]:
    """Returns the candidate symbols and the concepts that a text mentions, as (name, is_symbol), in order, without
    repeats.

    Cached by text: a conversation's messages are read once per turn and never change.
    """
    names = [(name, True) for name in mentioned_symbols(text)]
    names += [(str(match.lastgroup), False) for match in _CONCEPT.finditer(text)]
    return tuple(dict.fromkeys(names))


def newest_names(dated_names: Iterable[tuple[datetime, Iterable[str]]], limit: int) -> list[str]:
    """Returns at most `limit` names, newest first, each once. Among names of the same time the last comes first."""
    unique_names: dict[str, None] = {}
    for _, names in sorted(dated_names, key=lambda dated: dated[0], reverse=True):
        for name in reversed(list(names)):
            unique_names.setdefault(name, None)
    return list(unique_names)[:limit]
