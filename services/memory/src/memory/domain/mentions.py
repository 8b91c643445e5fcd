"""Finds candidate symbols in texts, Spanish or English; providers decide which of them exist."""

import re

from contracts.symbols import InvalidSymbolError, parse_symbol

COINS = ("BTC", "ETH", "SOL", "ADA", "XRP")
_PAIR = rf"(?P<pair>\b(?i:{'|'.join(COINS)})(?:/?(?i:USDT|USD))?\b)"
_TICKER = r"(?P<ticker>(?<![A-Za-zÁÉÍÓÚÑÜáéíóúñü0-9$])\$?[A-Z]{1,5}(?:\.[A-Z])?(?![A-Za-zÁÉÍÓÚÑÜáéíóúñü0-9]))"
_SYMBOL = re.compile(f"{_PAIR}|{_TICKER}")
_WORD = re.compile(r"[^\W\d_]+")
_STOP = """
    I A AN THE AND OR FOR IS IT MY ME WE US YOU HE SHE THEY IF IN ON AT TO OF BY AS BE DO GO NO NOT YES SO UP AM PM ALL
    ARE WAS CAN HAS HAD HOW WHO WHY WHAT WHEN NOW NEW BUY SELL HOLD OUT GET GOT ANY BUT OK OKAY HI HELLO USD USDT EUR
    MXN USA UK EU ETF CEO FED GDP CPI IPO RSI MACD SMA EMA ATR PE EPS AI API FAQ PDF CSV ASAP FYI BTW LOL TOP LOW HIGH
    EL LA LOS LAS UN UNA UNOS Y E O U DE DEL AL EN CON SIN POR PARA QUE QUÉ ES SON SER MI MIS TU TUS SU SUS YO ÉL ELLA
    SE SI SÍ LE LO NOS TE ME HAY HOY AYER MÁS MAS MUY YA NI COMO CÓMO PERO ESTE ESTA ESO ESA HOLA BIEN MAL VER DAR HACE
    COMPRA VENDE IBEX PIB IPC EEUU
"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that look like tickers in ordinary texts; as tickers they count only after a $."""


def mentioned_symbols(text: str) -> list[str]:
    """Returns the candidates in their internal form, in order, without repeats. A coin alone means its pair with the
    dollar.

    In a sentence written all in capitals only pairs and $TICKERS count: otherwise every word of it would.
    """
    shouts = text == text.upper() and len(words := _WORD.findall(text)) > 3 and not STOP_WORDS.isdisjoint(words)
    names: dict[str, None] = {}
    for match in _SYMBOL.finditer(text):
        if match["pair"]:
            names[_pair(match["pair"])] = None
            continue
        ticker = match["ticker"]
        if not ticker.startswith("$") and (shouts or ticker in STOP_WORDS):
            continue
        try:
            names[parse_symbol(ticker).name] = None
        except InvalidSymbolError:
            continue
    return list(names)


def without_symbols(text: str) -> str:
    """Returns the text with each candidate replaced by [SYMBOL]."""
    return _SYMBOL.sub(lambda match: "[SYMBOL]" if mentioned_symbols(match[0]) else match[0], text)


def _pair(text: str) -> str:
    name = text.upper().replace("/", "")
    coin = next(coin for coin in COINS if name.startswith(coin))
    return f"{coin}/{name.removeprefix(coin) or 'USD'}"
