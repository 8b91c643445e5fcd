"""Recognises questions for what something is: "what is a stop loss?", "¿y el PER?", "the difference between ETFs and
funds".

Only trading terms are explained (CONCEPT); "what is the Pro plan?" is a question for the site.
"""

import re
from collections.abc import Sequence

from agent.domain.text_features import plain
from contracts.expressions import expression

CONCEPT = expression(
    r"\b(rsi|macd|sma|ema|atr|vwap|obv|adx|bollinger|bands?|stop|limit|order|drawdown|dividend\w*|p/?e|eps|bpa|beta|"
    r"per(?! (?:an?|annum|cent|day|hour|minute|month|order|person|share|trade|user|week|year)\b)|etf|"
    r"volatilit\w+|volatilidad|diversif\w+|liquid\w+|margin|margen|spread|support|resistance|soporte|resistencia|risk|"
    r"riesgo|momentum|trend|tendencia|moving average|media movil|compound|interes|swing|scalping|day trading|position|"
    r"posicion|orden|short|corto|option\w*|opcion\w*|bono?s?|bonds?|inflation|inflacion|sharpe|correlation|correlacion|"
    r"overbought|oversold|sobrecompr\w+|sobrevend\w+|divergenc\w+|capitali[sz]a\w+|hedg\w+|cobertura|leverage|apalancamiento|bull(?:ish)?|"
    r"bear(?:ish)?|"
    r"alcista|bajista|candle\w*|velas?|slippage|deslizamiento|futures?|futuros?|ipo|take profit|breakout|ruptura|gaps?|"
    r"fibonacci|ichimoku|yield|splits?|fomo|staking|stablecoins?|defi|arbitrage|arbitraje|backtest\w*|overfitting|"
    r"earnings|market cap|revenue|ratio|portfolio|cartera|fundamental\w*)\b"
)
DIFFERENCE = expression(
    r"\b(?:differen\w+ between|diferencias? (?:hay )?entre|how (?:is|are|do|does)(?= .* differ)|"
    r"(?P<de>en que se diferencian?)) (?:an? |the |una? |el |la )?(?P<one>[\w /-]{2,30}?) "
    r"(?:(?(de)(?:de(?: la|l)?|y)|(?:and|vs|y|differ\w*(?: from| to| than)?))) "
    r"(?:an? |the |una? |el |la )?(?P<other>[\w /-]{2,30}?)\W*$"
)
EXPLAIN = expression(
    r"^\W*(?:(?:please|por favor|and|y|ok|hola|hi|hello|tell me|can you tell me|dime)[, ]+)*"
    r"(?:what (?:exactly |actually |precisely )?(?:is|are|does|do)|what\W?s|(?:(?:can|could) you )?explain(?: to me)?|"
    r"how (?:is|are)(?= .* (?:calculated|computed|worked out|used)\b)|how (?:does|do)(?! (?:i|we|you) )(?= .* work\b)|"
    r"como (?:se (?:calculan?(?! el tamano)|usan?|lee|interpreta)|funcionan?)|para que (?:sirven?|se usan?)|"
    r"define|tell me about|meaning of|que (?:es|son|significa[n]?|quiere decir)|explica(?:me)?|define(?:me)?|"
    r"significado de)(?: (?:an?|the|un|una|el|la|los|las|(?:eso|lo) del?(?: l[oa]s?)?))? (?P<what>[\w /'’-]{2,60}?)"
    r"(?: mean| work| stand for| calculated| computed| worked out| used(?: for)?| for)?(?: (?:to|for) me)?\W*$"
    # What an ETF is; ¿y un ETF qué es?
    r"|^\W*(?:(?:please|por favor|and|y|ok|tell me|explain|dime|explicame)[, ]+)*(?:what )?"
    r"(?:an?|the|una?|el|la|los|las|(?:eso|lo) del?) (?:l[oa]s? )?(?P<what2>[\w /-]{2,60}?)"
    r"(?: is| are| means?|,? (?:que (?:es|son|significan?|quiere decir)|en que consisten?|para que sirven?))\W*$"
)
_WORDS_AROUND = expression(r"^(?:estar|ser|being|to be|good|bad|normal|typical|high|low|buen[oa]?|mal[oa]?) |"
                     r" (?:(?:to me )?(?:like|as if|as though|as to) (?:i|a|an|you)\b.*|como (?:si|a un[ao]?)\b.*|"
                     r"como para (?:un[ao]? )?\w+|"
                     r"in (?:simple|plain) \w+|"
                     r"(?:for|to) (?:an? )?(?:absolute |complete )?(?:beginners?|novices?|child|newbies?|dummies)|para "
                     r"(?:principiantes?|novatos?|tontos|un (?:principiante|novato|nino))|(?:en|con) (?:palabras|"
                     r"terminos) (?:sencill|simpl|llan)\w+|de (?:forma|manera) (?:sencilla|simple|facil)|simply|facil|"
                     r"please|porfa|anyway|exactly|again|then|really|by the way|exactamente|entonces|"
                     r"por cierto)$")  # fmt: skip
"""Words around a concept."""
_ASIDE = expression(
    r"[,.;:]* (?:(?:because|since|as|but|que|porque|ya que|pero) )?(?:i ?am|i m|i'm|im|i ve|i've|soy|estoy|llevo) "
    r"(?:\w+ ){0,4}(?:new|newbie|beginners?|novice|starting|started|learning|nuev[oa]|principiante|novat[oa]|"
    r"empezando|aprendiendo)\b[^?]*(?=\??$)"
)
"""What somebody says at the end about how little they know."""
ANOTHER_TERM = expression(
    r"^\W*(?:and|y|e|what about|how about|que hay de|also|tambien)(?: (?:an?|the|una?|el|la|los|las|de|del|what|"
    r"que|es))* "
    r"(?!(?:how|who|when|where|why|which|can|could|do|does|is|are|cuant\w+|quien\w*|cuando|donde|por que|cual\w*|"
    r"puedo|se puede|hay|tiene\w*|cuesta\w*)\b)(?P<what>[\w /-]{2,60}?)\W*$"
)
"""Matches "and a stop loss?", which asks for another term after one that was explained."""
_DIFFERENCE_FROM = expression(
    r"\b(?:diferenci\w+|differ\w*) (?:de|del|con|from|to|with) "
    r"(?:an? |the |una? |el |la )?(?P<other>[\w /-]{2,30}?)\W*$"
)
_ASKS_MEANING_OF_IT = expression(
    r"\W*(?:(?:and|y|pero|but)\W+)?(?:(?:eso|esto) (?:que (?:es|significa|quiere decir)|para que sirve)|"
    r"que (?:es|son|significa) (?:eso|esto)|what (?:on earth |the hell |exactly )?(?:is|are|s|does) (?:it|that|they|"
    r"those|this)(?: mean)?|"
    r"para que sirven?|(?:puedes )?explica(?:me|r|rme)?l[oa]|(?:can you )?explain (?:it|that|this)(?: to me)?|"
    r"what (?:is|s) (?:it|that) for)(?: (?:like|as|como|para|for|to|in|en|mas|better|mejor|simply)\b[^\d?]*)?\W*"
)
_KIND = expression(
    r"\b(?:(?:limit|stop|market|stop[ -]limit|trailing stop) orders?|(?:trailing )?stop loss(?:es)?|"
    r"orden(?:es)? (?:limit\w*|stop|de mercado|de stop))\b"
)
_OF_A_COMPANY = expression(
    r"\b(?:(?:stock )?markets?|mercados?|bolsa|apps?|aplicacion|platform|plataforma|(?:web ?)?site|web|sitio|chat|"
    r"assistant|asistente|accounts?|cuentas?|support|soporte|subscriptions?|suscripcion(?:es)?|company|empresa)"
)
"""What no glossary explains: the market as a whole, and what a company has."""
_PRONOUNS = ("that", "it", "this", "eso", "esto")
_OWN_OR_PRICE = expression(
    r"\b(?:i|we|you|they|yo|to (?!book|equity|earnings|trough|the mean)\w+|my|mis?|your|tus?|its|their|sus?|costs?|"
    r"fees?|cuestan?|coste|comision|tarifa)\b"
)
"""Words for somebody's own things, deeds or wishes or the company's prices, which no glossary has."""


def concepts_in(text: str, earlier_texts: Sequence[str], *, names_share: bool) -> list[str]:
    """The concepts that a text asks to have explained; empty for another question, or if it names a share.

    `earlier_texts` is what the person said before; after "what is a stop loss?", "and a limit order?" asks for one
    more.
    """
    normalized = plain(text)
    if difference := DIFFERENCE.search(normalized):
        first, second = difference["one"], difference["other"]
        # "Between a limit and a stop order": both are orders.
        first += f" {second.split()[-1]}" if len(second.split()) > 1 and len(first.split()) == 1 else ""
        if CONCEPT.search(first) and CONCEPT.search(second):
            return [first, second]
    if (
        (second := _DIFFERENCE_FROM.search(normalized))
        and earlier_texts
        and (earlier_concept := CONCEPT.search(plain(earlier_texts[-1])))
    ):
        earlier_term = requested_term(plain(earlier_texts[-1])) or earlier_concept[0]
        return [earlier_term, second["other"]] if CONCEPT.search(second["other"]) or "limit" in second["other"] else []
    term = "" if names_share else requested_term(normalized)
    if term in _PRONOUNS and earlier_texts and (earlier_concept := CONCEPT.search(plain(earlier_texts[-1]))):
        term = earlier_concept[0]  # what was just asked for
    if not term and not names_share and (continuation := ANOTHER_TERM.match(normalized)):
        first_question = next((first for first in reversed(earlier_texts) if not ANOTHER_TERM.match(plain(first))), "")
        is_about_concept = CONCEPT.search(requested_term(plain(first_question)))
        term = continuation["what"] if is_about_concept else ""
    is_concept = CONCEPT.search(term) and not _OWN_OR_PRICE.search(term) and not re.search(r"\d{2}", term)
    return [term] if is_concept else []


DEFINES = expression(r"\bwhat (?:does|do) .* (?:mean|stand for)\b|\bque (?:significan?|quieren? decir)\b")
"""Asks what a word means, whatever was mentioned before."""


def requested_term(normalized: str) -> str:
    """The term that the last clause of a normalized text asks to have explained; "" if it asks for something else."""
    normalized = _ASIDE.sub("", normalized)
    if _ASKS_MEANING_OF_IT.fullmatch(normalized):
        return _PRONOUNS[0]
    beginning, comma, last = normalized.rpartition(",")
    if comma and _ASKS_MEANING_OF_IT.fullmatch(last) and (concept := CONCEPT.search(beginning)):
        return concept[0]
    match = EXPLAIN.match(normalized) or EXPLAIN.match(normalized.rpartition(",")[2])
    term = concept_in_match(match) if match else ""
    return "" if _OWN_OR_PRICE.search(term) or _OF_A_COMPANY.fullmatch(term) else term


def another_term(normalized: str, earlier_texts: Sequence[str]) -> str:
    """The term that a normalized text asks for after one that was just explained; "" if none."""
    match = ANOTHER_TERM.match(normalized) if earlier_texts and requested_term(plain(earlier_texts[-1])) else None
    return match["what"] if match else ""


def order_kind(normalized: str) -> str:
    """The kind of orders that a normalized text is about: "why would a limit order not fill?"; "" if none."""
    kind = _KIND.search(normalized)
    return kind[0] if kind else ""


def concept_in_match(match: re.Match[str]) -> str:
    """The term in a match of EXPLAIN."""
    return _WORDS_AROUND.sub("", str(match["what"] or match["what2"])).strip()
