"""What a person wants, by rules: each intent says which tools to call, if they are offered."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from agent.domain.offline.copilot_intents import copilot_calls
from agent.domain.offline.reading import number_near, plain, symbols_in


class Intent(Enum):
    """The questions that the rules understand."""

    HANDOFF = auto()
    ANALYSIS = auto()
    POSITION_SIZE = auto()
    RISK_REWARD = auto()
    PAGE = auto()
    PRICE = auto()
    ABILITIES = auto()
    GREETING = auto()
    THANKS = auto()
    STATED = auto()
    COPILOT = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent with the tool calls that serve it; `missing`: figures that the person has to give first (`calls` is
    what there is of the call so far); `withheld`: the tool that it needs, and that the asker is not offered.
    """

    intent: Intent
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    missing: tuple[str, ...] = ()
    withheld: str | None = None


_HANDOFF = re.compile(
    r"\b(human|person|agent|someone|representative|operator|persona|humano|agente|asesor|operador|alguien)\b"
)
_TALK = re.compile(r"\b(talk|speak|chat|contact|hand ?off|real|hablar|comunicar|pasar|pasame|atienda|contactar)\w*\b")
_SIZE = re.compile(
    r"\b(position siz\w*|size of (the|my) position|how many shares|tamano de (la |mi )?posicion|cuantas acciones)\b"
)
_RATIO = re.compile(
    r"\b(risk.{0,5}reward|reward.{0,5}risk|r/r|riesgo.{0,5}beneficio|beneficio.{0,5}riesgo|risk ratio)\b"
)
_PRICE = re.compile(
    r"\b(price|trading|trade|quote|worth|stock|share|precio|cotiza\w*|cotizacion|vale|accion|acciones|cuanto esta)\b"
)
_ABILITIES = re.compile(
    r"\b(what (can|could) (you|i)( \w+)? (do|ask)( \w+)?|what do you (do|know)|how can you help|what are you able|"
    r"who are you|are you (a |an )?(bot|robot|ai|human|real|person)|"
    r"que (puedes|sabes|podrias|puedo) (hacer|preguntar\w*)|que haces|en que (me )?(puedes|podrias) ayudar\w*|"
    r"como (me )?puedes ayudar\w*|para que sirves|quien eres|eres (un |una )?(bot|robot|ia|humano|humana|persona))\b"
)
_GREETING = re.compile(r"^\W*(hi|hello|hey|good (morning|afternoon|evening)|hola|buenas?|buenos dias|que tal)\b")
_THANKS = re.compile(r"^\W*(thanks?|thank you|thx|gracias|muchas gracias|perfecto|ok)\b")
_STATED = re.compile(
    r"^(?:(?:and|but|well|actually|now|y|pero|bueno|ahora)[, ]+)*"
    r"(?:i(?:'d)? (?:(?:really|now) )?(?:prefer|rather)\b|i (?:(?:really|now) )?(?:like|love)\b|i always\b|"
    r"my name is\b|call me\b|"
    r"(?:yo )?(?:siempre |ahora )?prefiero\b|(?:a mi )?(?:ahora )?me gustan?\b|me llamo\b|mi nombre es\b|llamame\b|"
    r"my (?:risk (?:profile|tolerance)|level|experience|(?:trading )?style|time ?zone) is\b|"
    r"mi (?:perfil(?: de \w+)?|nivel(?: de experiencia)?|experiencia|estilo(?: de \w+)?|zona horaria) es\b|"
    r"i(?:'m| am) (?:now |no longer )?(?:an? )?(?:\w+ )?(?:trader|investor|beginner|novice|conservative|moderate|"
    r"aggressive|intermediate|advanced)\b|(?:ya no |ahora )?soy (?:una? )?(?:\w+ )?(?:trader|inversora?|operadora?|"
    r"principiante|conservadora?|moderad[oa]|agresiv[oa]|intermedi[oa]|avanzad[oa])\b|"
    r"(?:i (?:now )?(?:do|trade|moved|switched|changed)|(?:ahora )?(?:hago|opero|pase|cambie|me pase))\b.*"
    r"\b(?:swing|day[ -]?trad\w+|intraday|intradia|scalping|long[ -]term|largo plazo))"
)
"""What a customer says of themselves, in sentences of the kind that memory learns from."""
_ABOUT_PEOPLE = "search_memory"
"""A tool of customers: visitors are not remembered."""
_PAGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What is about a plan and yet not about its price, first.
    (
        "/help",
        re.compile(r"\b(cancel\w*|(change|switch|cambi\w+)( \w+){0,2} plan|real trading|trading real)\b"),
    ),
    (
        "/guide",
        re.compile(
            r"\b(order types?|types? of orders?|orders? (last|expire)|alerts? work|paper orders?|tipos de ordenes|"
            r"(duran|caducan|expiran) las ordenes|ordenes (duran|caducan|expiran|simuladas)|funcionan las alertas)\b"
        ),
    ),
    (
        "/pricing",
        re.compile(
            r"\b(plans?|planes|pricing|subscription|suscripcion|premium|free trial|trial|cost|costs|cuesta\w*|tarifas?|"
            r"prueba|mensual|monthly|refunds?|reembolsos?|precios|credit card|tarjeta|annual\w*|yearly|anual\w*|"
            r"discounts?|descuentos?)\b"
        ),
    ),
    (
        "/help",
        re.compile(
            r"\b(help|opening hours|support|faq|ayuda|cambiar|horarios?|soporte|dinero|money back|account|cuenta)\b"
        ),
    ),
    (
        "/guide",
        re.compile(
            r"\b(guide|get started|getting started|start|how does it work|guia|empezar|empiezo|comenzar|"
            r"comienzo|como funciona)\b"
        ),
    ),
    (
        "/",
        re.compile(r"\b(what (do|is) (you|this|nexus)|about|company|quienes son|que es|empresa|ofrecen)\b"),
    ),
)
_SIZE_PARTS = {
    "capital": r"capital|account|cuenta|portfolio|balance|saldo",
    "entry_price": r"entry(?: price)?(?: at| of)?|enter(?:ing)?(?: at)?|buy(?:ing)?(?: at)?|entrada(?: a| en)?|"
    r"compro(?: a)?|entro(?: a)?",
    "stop_loss_price": r"stop(?: ?-?loss)?(?: at| of| a| en)?",
    "risk_percent": r"risk(?:ing)?(?: of)?|riesgo(?: del?)?|arriesg\w+(?: el| un)?",
}
_RATIO_PARTS = {
    "entry_price": _SIZE_PARTS["entry_price"],
    "stop_loss_price": _SIZE_PARTS["stop_loss_price"],
    "take_profit_price": r"target(?: at| of)?|take ?-?profit(?: at| of)?|tp|objetivo(?: a| en)?|profit(?: at)?",
}


_PERSONAL = ("create_paper_order", "create_alert", "get_portfolio", "get_pending_orders", "get_trade_history")


def wish_in(text: str, offered: Collection[str], *, site_prefix: str = "") -> Wish:
    """What the text asks for. `offered`: the tools there are; `site_prefix`: where the visitor's language lives."""
    said = plain(text)
    if _HANDOFF.search(said) and _TALK.search(said):
        return Wish(Intent.HANDOFF)
    if _ABILITIES.search(said):
        return Wish(Intent.ABILITIES)
    if _RATIO.search(said):
        return _figures(Intent.RISK_REWARD, "calculate_risk_reward", text, _RATIO_PARTS, offered)
    if _SIZE.search(said):
        return _figures(Intent.POSITION_SIZE, "calculate_position_size", text, _SIZE_PARTS, offered)
    # Offered in a turn that asks for one, and in no other.
    if "market_analysis" in offered:
        return Wish(Intent.ANALYSIS, (("market_analysis", {"query": text}),))
    calls, withheld, missing = copilot_calls(text, offered)
    # A visitor's site has pages about portfolios and alerts: what they may not use is no reason not to read there.
    if calls or (withheld in _PERSONAL):
        return Wish(Intent.COPILOT, calls, missing, withheld)
    symbols = symbols_in(text)
    page = _page(said, symbols)
    if page is not None and "fetch_page" in offered:
        path = f"{site_prefix}{page}" if page != "/" else site_prefix or "/"
        return Wish(Intent.PAGE, (("fetch_page", {"path": path}),))
    if symbols and (_PRICE.search(said) or len(said.split()) <= 3) and "get_price" in offered:
        return Wish(Intent.PRICE, tuple(("get_price", {"symbol": symbol}) for symbol in symbols))
    if _ABOUT_PEOPLE in offered and "?" not in said and _STATED.search(said):
        return Wish(Intent.STATED)
    if _THANKS.search(said):
        return Wish(Intent.THANKS)
    if _GREETING.search(said):
        return Wish(Intent.GREETING)
    return Wish(Intent.UNKNOWN)


def _page(said: str, symbols: list[str]) -> str | None:
    for path, words in _PAGES:
        if words.search(said) and not (symbols and path in ("/", "/guide")):
            return path
    return None


def _figures(intent: Intent, tool: str, text: str, parts: dict[str, str], offered: Collection[str]) -> Wish:
    if tool not in offered:
        return Wish(Intent.UNKNOWN)
    found: dict[str, Any] = {}
    for name, labels in parts.items():
        value = number_near(text, labels)
        if value is not None:
            found[name] = value
    if "risk_percent" in found and found["risk_percent"] >= 0.2:
        found["risk_percent"] /= 100
    missing = tuple(name for name in parts if name not in found)
    return Wish(intent, missing=missing) if missing else Wish(intent, ((tool, found),))
