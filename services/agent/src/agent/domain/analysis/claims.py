"""Claims in words that figures cannot back: promises, advice, numbers in letters, and who did better than whom."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.analysis.asked import Period, periods_named
from agent.domain.analysis.comparing import value_of

_SPELLED = re.compile(
    r"\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|"
    r"eighty|ninety|hundred|half|a third|a quarter|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|quince|veinte|"
    r"treinta|"
    r"cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien)[- ](?:percent|per cent|por ciento|points|puntos|dollars|"
    r"dolares|euros|times|veces|million|billion|millones)"
    r"|doubl\w+|tripl\w+|quadrupl\w+|halv\w+|twice|half (?:its|of its)|twofold|threefold|tenfold|duplic\w+|dobl(?:o|"
    r"aron|e)|"
    r"cuadruplic\w+|la mitad)\b"
)
_BETTER = (
    r"(?:outperform\w*|beat\w*|did better than|fared better than|performed better than|ahead of|super\w+|bati\w+|"
    r"mejor que|por delante de)"
)
_WORSE = (
    r"(?:underperform\w*|lagg\w*|trail\w*|did worse than|fared worse than|performed worse than|behind|peor que|"
    r"por detras de)"
)
_PROMISE = re.compile(
    r"\b(?:you should|i recommend|we recommend|i suggest|we suggest|should (?:buy|sell|invest)|(?:is|are) a "
    r"(?:strong |good )?(?:buy|sell)|"
    r"guarante\w+|will (?:rise|fall|go up|go down|continue|outperform|keep|grow)|is (?:going|bound|certain|sure) to|"
    r"risk-?free|"
    r"deberias?|te recomiendo|recomendamos|conviene (?:comprar|vender|invertir)|(?:subira|bajara|caera|crecera)n?|"
    r"garanti\w+|"
    r"va a (?:subir|bajar|caer|seguir|crecer))\b"
)


def claims_in(text: str) -> list[str]:
    """Promises, advice and numbers in letters."""
    wrong = [f"a promise or advice: {match[0]}" for match in _PROMISE.finditer(text)]
    return wrong + [f"a number in words: {match[0]}" for match in _SPELLED.finditer(text)]


def wrong_order(
    sentence: str, tickers: Sequence[str], findings: Sequence[Mapping[str, Any]], period: Period
) -> list[str]:
    """Claims that one ticker did better than another where the returns say otherwise."""
    named = periods_named(sentence)
    asked = next(iter(named)) if len(named) == 1 else period
    values = {str(finding["ticker"]): value_of(finding, f"returns.{asked}") for finding in findings}
    wrong: list[str] = []
    for one in tickers:
        for other in tickers:
            first, second = values.get(one), values.get(other)
            if one == other or first is None or second is None:
                continue
            for words, holds in ((_BETTER, first > second), (_WORSE, first < second)):
                subject, object_ = re.escape(one.lower()), re.escape(other.lower())
                between = rf"(?<![a-z0-9]){subject}\b[^.;]{{0,60}}\b{words}\b[^.;]{{0,40}}?(?<![a-z0-9]){object_}\b"
                others = "|".join(re.escape(name.lower()) for name in tickers if name not in (one, other)) or "(?!)"
                match = re.search(between, sentence)
                if match and not holds and not re.search(rf"\b(?:{others})\b", match[0]):
                    wrong.append(f"a comparison that the returns contradict: {one}, {other}")
    return wrong
