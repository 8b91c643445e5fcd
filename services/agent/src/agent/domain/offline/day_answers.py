"""What the bars say of one day."""

from typing import Any, cast

from agent.domain.analysis.formats import moment, number
from agent.domain.offline.calculator_answers import DISCLAIMER
from contracts.languages import Language


def on_day(body: dict[str, Any], day: str, language: Language) -> str:
    """The bar of one day; where there is none, that, and the last session before it."""
    bars, said = cast("list[dict[str, Any]]", body.get("bars") or []), moment(day, language)
    until = [one for one in bars if str(one["time"])[:10] <= day]
    if not until:
        known = " – ".join(moment(str(one["time"])[:10], language) for one in (bars[:1] + bars[-1:])) or "–"
        return {
            "es": f"No tengo ningún dato de {body['symbol']} del {said}: queda fuera de lo que alcanzo ({known}).",
            "en": f"I have no {body['symbol']} figures for {said}: it is outside the days I have ({known}).",
        }[language]
    last = until[-1]
    first, high, low, close = (number(last[name], language) for name in ("open", "high", "low", "close"))
    source = {
        "es": f"(Fuente: {body.get('source')}.) {DISCLAIMER['es']}",
        "en": f"(Source: {body.get('source')}.) {DISCLAIMER['en']}",
    }[language]
    if (session := str(last["time"])[:10]) != day:
        before = moment(session, language)
        return {
            "es": f"{body['symbol']}: no tengo ninguna sesión del {said}; la última antes, del {before}, cerró a "
            f"{close}. ",
            "en": f"{body['symbol']}: I have no session of {said}; the last one before it, on {before}, closed at "
            f"{close}. ",
        }[language] + source
    return {
        "es": f"{body['symbol']}, {said}: apertura {first}, máximo {high}, mínimo {low}, cierre {close}. ",
        "en": f"{body['symbol']}, {said}: open {first}, high {high}, low {low}, close {close}. ",
    }[language] + source
