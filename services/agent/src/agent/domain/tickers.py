"""Finds the tickers in a text by rules: capital letters, a dollar sign, well-known names."""

import re

from contracts.expressions import expression
from contracts.symbols import COINS, InvalidSymbolError, parse_symbol


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMES = {
    "apple": "AAPL",
    "microsoft": "MSFT",
    "google": "GOOG",
    "alphabet": "GOOG",
    "facebook": "FB",
    "meta": "META",
    "tesla": "TSLA",
    "amazon": "AMZN",
    "nvidia": "NVDA",
    "netflix": "NFLX",
    "intel": "INTC",
    "jpmorgan": "JPM",
    "walmart": "WMT",
    "disney": "DIS",
    "coca-cola": "KO",
    "coca cola": "KO",
    "coca": "KO",
    "coke": "KO",
    "pepsi": "PEP",
    "at&t": "T",
    "berkshire hathaway": "BRK.B",
    "bitcoin": "BTC/USD",
    "ethereum": "ETH/USD",
    "solana": "SOL/USD",
    "exxon": "XOM",
    "oracle": "ORCL",
    "mcdonald's": "MCD",
    "bank of america": "BAC",
    "johnson & johnson": "JNJ",
    "international business machines": "IBM",
    "s&p 500": "^GSPC",
    "s&p500": "^GSPC",
    "sp500": "^GSPC",
    "sp 500": "^GSPC",
    "s&p": "^GSPC",
    "the index": "^GSPC",
    "el índice": "^GSPC",
    "el indice": "^GSPC",
    "nasdaq composite": "^IXIC",
    "nasdaq 100": "QQQ",
}
_KNOWN_TICKERS = _words(
    "IBM MSFT AAPL GOOG GOOGL FB META TSLA AMZN NVDA NFLX INTC AMD ORCL CSCO QCOM ADBE CRM SPY QQQ TLT GLD DIA IWM VTI "
    "VOO SLV HYG LQD EEM VIX JPM BAC WMT KO PEP PFE JNJ XOM CVX BRK.B BRK.A SAN BBVA ITX TEF"
)
"""Tickers that are recognised in texts in capitals."""
KNOWN_IN_LOWER_CASE = _KNOWN_TICKERS - _words("META CRM DIA KO PEP SAN")
"""Tickers that are recognised in lower case because they are no words."""
_NOT_TICKERS = _words(
    "I A AN THE AND OR NOT FOR IS IT MY ME OK AS AT BE BY DO GO IF IN OF ON SO TO UP US WE VS ALL ANY ARE BUT CAN "
    "DID GET "
    "HAS HOW ITS LET NEW NOW ONE OUR OUT PER PUT TOO TWO WAS WHO WHY YES YOU THAT THIS WITH WHAT WHEN OVER LAST "
    "YEAR "
    "MONTH WEEK USD EUR GBP JPY MXN CHF AI IA FAQ PRO EL LA LOS LAS UN UNA DE DEL QUE Y O EN ES MI SI NO POR CON "
    "PARA "
    "HOLA HI API ML TV PC UK EU EEUU USA ETF ETFS CEO CFO RSI SMA EMA MACD ATR ADX OBV VWAP BB PE EPS PER ROE ROA "
    "YTD QTD FOMC "
    "MTD FY Q CAGR GDP CPI IPO SEC FED ECB BCE PIB NYSE NASDAQ DOW OHLC OHLCV PDF JSON CSV SVG AM PM TOP BUY "
    "SELL HOLD "
    "COMO MAS ANO MES DIA SU SE LE AL LO MUY EE UU BPA IPC ROI YOY QOQ EBIT EV FCF DCF ESG KPI HQ NY COVID INC LTD"
)
# After a slash only between two tickers: the E of P/E is none. The 's of a possessive is no letter of the ticker.
_TICKER = expression(
    r"(?<![A-Za-z0-9$.^&])(?:(?<!/)|(?<=[A-Z]{2}/))(\$?)([A-Z]{1,5}(?:[.][A-Z])?)(?![A-Za-z0-9&]|'(?!s\b))"
)
_DOTTED_LETTERS = expression(r"(?<![\w$.])(?:[A-Z]\. ?)+[A-Z](?:\.|(?!\w))")
"""Letters with dots between them: U.S., S.A., I.B.M."""
_INDEX = expression(r"(?<!\w)\^[A-Z]{2,6}\b")
_PAIR = expression(
    rf"(?<![A-Za-z])({'|'.join(sorted(COINS))})(?:[/_-]?(USDT|USDC|USD|EUR))?(?![A-Za-z])", re.IGNORECASE
)
_LOWER = expression(r"[a-z]{2,5}(?:\.[ab])?")


def tickers_in(query: str, *, shouting: bool = False) -> list[str]:
    """The tickers that the query names, in order, each once, in their internal form. `shouting`: its capitals mean
    nothing, so that only well-known tickers count."""
    positions: dict[str, int] = {}

    def add(text: str, position: int) -> None:
        try:
            name = parse_symbol(text).name
        except InvalidSymbolError:
            return
        positions.setdefault(name, position)

    for match in _PAIR.finditer(query):
        if match[2] or match[1].isupper():
            add(f"{match[1]}/{match[2] or 'USD'}", match.start())
    remaining = _PAIR.sub(lambda m: " " * len(m[0]) if m[2] or m[1].isupper() else m[0], query)
    for match in _INDEX.finditer(remaining):
        add(match[0], match.start())
    lowered = remaining.lower()
    for name, ticker in NAMES.items():
        if name in lowered and (name_match := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", lowered)):
            add(ticker, name_match.start())
    remaining = without_dotted_abbreviations(remaining)
    letters = [c for c in remaining if c.isalpha()]
    shouting = shouting or (len(letters) > 12 and sum(c.isupper() for c in letters) > 0.8 * len(letters))
    for match in _TICKER.finditer(remaining):
        dollar, name = bool(match[1]), match[2]
        if dollar or name in _KNOWN_TICKERS or (not shouting and len(name) > 1 and name not in _NOT_TICKERS):
            add(name, match.start())
    for match in _LOWER.finditer(remaining):
        if match[0].upper() not in KNOWN_IN_LOWER_CASE:
            continue
        bounded = not re.match(r"\w", remaining[match.end() : match.end() + 1]) and (
            match.start() == 0 or not re.match(r"[\w'’]", remaining[match.start() - 1])
        )
        if bounded:
            add(match[0], match.start())
    return sorted(positions, key=lambda name: positions[name])


def without_dotted_abbreviations(text: str) -> str:
    """The text without dotted abbreviations that look like tickers: I.B.M. becomes IBM, U.S. becomes spaces."""
    return _DOTTED_LETTERS.sub(_without_dots, text)


def _without_dots(match: re.Match[str]) -> str:
    """The letters of a dotted ticker, padded to the same length; only spaces for any other abbreviation."""
    letters = re.sub(r"[. ]", "", match[0])
    return (letters if letters in _KNOWN_TICKERS else "").ljust(len(match[0]))


def normalize_tickers(tickers: list[str]) -> list[str]:
    """The tickers in their internal form, each once. Raises InvalidSymbolError."""
    return list(dict.fromkeys(parse_symbol(ticker).name for ticker in tickers))
