"""What the bars say of one day, and whether the market is open."""

from collections.abc import Mapping
from typing import Any, cast

from agent.domain.analysis.formats import moment, number
from agent.domain.offline.calculator_answers import DISCLAIMER
from agent.domain.offline.talk_words import ANOTHER_DAY
from agent.domain.text_features import plain
from contracts.languages import Language

_STATUS: dict[str, dict[Language, str]] = {
    "open": {"es": "El mercado está abierto", "en": "The market is open"},
    "closed": {"es": "El mercado está cerrado", "en": "The market is closed"},
    "pre_market": {"es": "El mercado está en preapertura", "en": "The market is in pre-market trading"},
    "after_hours": {"es": "El mercado ya ha cerrado (fuera de horario)", "en": "The market is closed (after hours)"},
}
_NO_OTHER_DAY: dict[Language, str] = {
    "es": "De otros días no sé si abre: solo conozco el estado de ahora y la próxima sesión.",
    "en": "I do not know whether it opens on other days: I only know how it is now and its next session.",
}


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


def market_now(question: str, market: Mapping[str, Any] | None, language: Language) -> str | None:
    """Whether the market is open, and when it opens and closes next; None: not known. Of the day that a question names
    no more is known."""
    status = _STATUS.get(str((market or {}).get("status")))
    if market is None or status is None:
        return None
    words = {"open": {"es": "abre", "en": "opens"}, "close": {"es": "cierra", "en": "closes"}}
    ends = ("close", "open") if market["status"] == "open" else ("open", "close")
    told = [
        f"{words[end][language]} {'el' if language == 'es' else 'on'} {moment(market[f'next_{end}'], language)}"
        for end in ends
        if market.get(f"next_{end}")
    ]
    next_ones = "; ".join(["", {"es": " y ", "en": " and "}[language].join(told)]) if told else ""
    said = f"{status[language]}{next_ones}."
    return f"{_NO_OTHER_DAY[language]} {said}" if ANOTHER_DAY.search(plain(question)) else said
