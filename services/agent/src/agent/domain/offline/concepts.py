"""Recognises questions for what something is: "what is a stop loss?", "¿y el PER?", "the difference between ETFs and
funds".

Only terms of trading are explained here (CONCEPT); "what is the Pro plan?" is a question for the site.
"""

import re
from collections.abc import Sequence

from agent.domain.text_features import plain

CONCEPT = re.compile(
    r"\b(rsi|macd|sma|ema|atr|vwap|obv|adx|bollinger|bands?|stop|limit|order|drawdown|dividend\w*|p/?e|per|eps|bpa|beta|"
    r"etf|"
    r"volatilit\w+|volatilidad|diversif\w+|liquid\w+|margin|margen|spread|support|resistance|soporte|resistencia|risk|"
    r"riesgo|momentum|trend|tendencia|moving average|media movil|compound|interes|swing|scalping|day trading|position|"
    r"posicion|orden|short|corto|option\w*|opcion\w*|bono?s?|bonds?|inflation|inflacion|sharpe|correlation|correlacion|"
    r"overbought|oversold|divergenc\w+|capitali[sz]a\w+|hedg\w+|cobertura|leverage|apalancamiento|bull(?:ish)?|"
    r"bear(?:ish)?|"
    r"alcista|bajista|candle\w*|velas?|slippage|deslizamiento|futures?|futuros?|ipo|take profit|breakout|ruptura|gaps?|"
    r"fibonacci|ichimoku|yield|splits?|fomo|staking|stablecoins?|defi|arbitrage|arbitraje|backtest\w*|overfitting|"
    r"earnings|market cap|revenue|ratio|portfolio|cartera|fundamental\w*)\b"
)
DIFFERENCE = re.compile(
    r"\b(?:differen\w+ between|diferencias? (?:hay )?entre) (?:an? |the |una? |el |"
    r"la )?(?P<one>[\w /-]{2,30}?) (?:and|vs|y) (?:an? |the |una? |el |la )?(?P<other>[\w /-]{2,30}?)\W*$"
)
EXPLAIN = re.compile(
    r"^\W*(?:(?:please|por favor|and|y|ok|hola|hi|hello|tell me|can you tell me|dime)[, ]+)*"
    r"(?:what (?:exactly |actually |precisely )?(?:is|are|does|do)|what\W?s|explain(?: to me)?|"
    r"how (?:is|are)(?= .* (?:calculated|computed|worked out|used)\b)|how (?:does|do)(?! (?:i|we|you) )(?= .* work\b)|"
    r"como (?:se (?:calculan?(?! el tamano)|usan?|lee|interpreta)|funcionan?)|para que (?:sirven?|se usan?)|"
    r"define|tell me about|meaning of|que (?:es|son|significa[n]?|quiere decir)|explica(?:me)?|define(?:me)?|"
    r"significado de)(?: (?:an?|the|un|una|el|la|los|las|(?:eso|lo) del?(?: l[oa]s?)?))? (?P<what>[\w /'’-]{2,60}?)"
    r"(?: mean| work| stand for| calculated| computed| worked out| used(?: for)?| for)?\W*$"
    # What an ETF is; ¿y un ETF qué es?
    r"|^\W*(?:(?:please|por favor|and|y|ok|tell me|explain|dime|explicame)[, ]+)*(?:what )?"
    r"(?:an?|the|una?|el|la|los|las|(?:eso|lo) del?) (?:l[oa]s? )?(?P<what2>[\w /-]{2,60}?)"
    r"(?: is| are| means?|,? (?:que (?:es|son|significan?|quiere decir)|en que consisten?|para que sirven?))\W*$"
)
_BESIDE = re.compile(r"^(?:good|bad|normal|typical|high|low|buen[oa]?|mal[oa]?) |"
                     r" (?:(?:like|as if|as though) i\b.*|como si\b.*|como para (?:un[ao]? )?\w+|"
                     r"in (?:simple|plain) \w+|"
                     r"(?:for|to) (?:an? )?(?:absolute |complete )?(?:beginners?|novices?|child|newbies?|dummies)|para "
                     r"(?:principiantes?|novatos?|tontos|un (?:principiante|novato|nino))|(?:en|con) (?:palabras|"
                     r"terminos) (?:sencill|simpl|llan)\w+|de (?:forma|manera) (?:sencilla|simple|facil)|simply|facil|"
                     r"please|porfa|anyway|exactly|again|then|really|by the way|exactamente|entonces|"
                     r"por cierto)$")  # fmt: skip
"""What is said around a concept."""
ANOTHER_TERM = re.compile(
    r"^\W*(?:and|y|e|what about|how about|que hay de|also|tambien)(?: (?:an?|the|una?|el|la|los|las|de|del|what|"
    r"que|es))* (?P<what>[\w /-]{2,60}?)\W*$"
)
"""And a stop loss? After a term that was explained, another."""
_DIFFERS = re.compile(
    r"\b(?:diferenci\w+|differ\w*) (?:de|del|con|from|to|with) "
    r"(?:an? |the |una? |el |la )?(?P<other>[\w /-]{2,30}?)\W*$"
)
_OF_ITSELF = re.compile(
    r"\W*(?:(?:and|y|pero|but)\W+)?(?:(?:eso|esto) (?:que (?:es|significa|quiere decir)|para que sirve)|"
    r"que (?:es|son|significa) (?:eso|esto)|what (?:on earth |the hell |exactly )?(?:is|are|s|does) (?:it|that|they|"
    r"those|this)(?: mean)?|"
    r"para que sirven?|"
    r"what (?:is|s) (?:it|that) for)\W*"
)
_KIND = re.compile(
    r"\b(?:(?:limit|stop|market|stop[ -]limit|trailing stop) orders?|(?:trailing )?stop loss(?:es)?|"
    r"orden(?:es)? (?:limit\w*|stop|de mercado|de stop))\b"
)
_ITSELF = ("that", "it", "this", "eso", "esto")
_OF_ONE = re.compile(r"\b(?:my|mis?|your|tus?|its|their|sus?|costs?|fees?|cuestan?|coste|comision|tarifa)\b")
"""What is somebody's own, or what the company takes for it, is in no glossary."""


def concepts_in(text: str, before: Sequence[str], *, named: bool) -> list[str]:
    """The concepts that a text wants explained; none for another question. `named`: it names a share.

    `before`: what the person said earlier; after "what is a stop loss?", "and a limit order?" is one more.
    """
    said = plain(text)
    if two := DIFFERENCE.search(said):
        one, other = two["one"], two["other"]
        # "Between a limit and a stop order": both are orders.
        one += f" {other.split()[-1]}" if len(other.split()) > 1 and len(one.split()) == 1 else ""
        if CONCEPT.search(one) and CONCEPT.search(other):
            return [one, other]
    if (other := _DIFFERS.search(said)) and before and (spoken := CONCEPT.search(plain(before[-1]))):
        earlier = requested_term(plain(before[-1])) or spoken[0]
        return [earlier, other["other"]] if CONCEPT.search(other["other"]) or "limit" in other["other"] else []
    what = "" if named else requested_term(said)
    if what in _ITSELF and before and (spoken := CONCEPT.search(plain(before[-1]))):
        what = spoken[0]  # what was just asked for
    if not what and not named and (going_on := ANOTHER_TERM.match(said)):
        asked_first = next((one for one in reversed(before) if not ANOTHER_TERM.match(plain(one))), "")
        what = going_on["what"] if EXPLAIN.match(plain(asked_first)) else ""
    is_one = CONCEPT.search(what) and not _OF_ONE.search(what) and not re.search(r"\d{2}", what)
    return [what] if is_one else []


DEFINES = re.compile(r"\bwhat (?:does|do) .* (?:mean|stand for)\b|\bque (?:significan?|quieren? decir)\b")
"""Asks what a word means, whatever was spoken of before."""


def requested_term(said: str) -> str:
    """What the last clause of a text (plain) wants explained; nothing: it asks for something else."""
    if _OF_ITSELF.fullmatch(said):
        return _ITSELF[0]
    named, comma, last = said.rpartition(",")
    if comma and _OF_ITSELF.fullmatch(last) and (concept := CONCEPT.search(named)):
        return concept[0]
    match = EXPLAIN.match(said) or EXPLAIN.match(said.rpartition(",")[2])
    what = explained(match) if match else ""
    return "" if _OF_ONE.search(what) else what


def another_term(said: str, before: Sequence[str]) -> str:
    """The term that a text (plain) asks for behind one that was just explained; nothing: it does not."""
    found = ANOTHER_TERM.match(said) if before and requested_term(plain(before[-1])) else None
    return found["what"] if found else ""


def order_kind(said: str) -> str:
    """The kind of orders that a text (plain) is about: "why would a limit order not fill?"."""
    kind = _KIND.search(said)
    return kind[0] if kind else ""


def explained(match: re.Match[str]) -> str:
    """The concept that an EXPLAIN names."""
    return _BESIDE.sub("", str(match["what"] or match["what2"])).strip()
