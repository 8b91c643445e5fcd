"""Reads the arguments of a tool call from a text, by the names in the tool's own schema. Spanish and English.

Each number belongs to what is said beside it: in "10k account, risk 1 %, stop 29" they are capital, risk_percent and
stop_loss_price. A number that nothing is said of is what the tool asks for first: "buy 3 MSFT" is a quantity of 3.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent.domain.number_words import in_figures, large_in_figures
from agent.domain.offline.bar_range import bar_range, frame_in
from agent.domain.offline.concepts import EXPLAIN, explained
from agent.domain.offline.relative_days import DATES, date_in
from agent.domain.text_features import language_of, number_of, plain, symbols_in, word_set
from contracts.calendar_names import NUMBERS

Schema = Mapping[str, Any]
NUMBER = r"[-\u2212]?\d(?:[\d.,]*\d)?(?:e\d{1,2}\b|\s?k\b)?"
_STOP = r"stop(?:[ -]?loss)?|sl"
_ENTRY = (
    r"entry(?: price)?|enter(?:ing)?(?: \w+)?(?: at)?|"
    r"buy(?:ing)?(?: \w+)?(?: at| in at)?|bought(?: at)?|entrada|entro|entrar|entrando|"
    r"compr(?:o|ar|ando|e)(?: \w+)?(?: a| en)"
)
_BEFORE: dict[str, str] = {
    "capital": r"capital|account|cuenta|balance|saldo|tengo|dispongo|i have|i ve got|have got|portfolio|with|with a|"
    r"con",
    "entry_price": _ENTRY,
    "stop_loss_price": _STOP,
    "take_profit_price": r"target|take[ -]?profit|tp|objetivo|profit|salida|salgo|exit|vend(?:o|er|iendo)|selling",
    "risk_percent": r"risk(?:ing)?|riesgo|arriesg\w+",
    "limit_price": r"limit(?:e)?|at most|no more than|como mucho|maximo",
    "stop_price": _STOP,
}
"""What stands before a number and says what it is."""
_TRADES = r"(?:buy|sell|compr\w+|vend\w+|long|short)"
_COUNTS = re.compile(rf"\b{_TRADES} $")
_KIND_COUNTS = re.compile(rf"\b{_TRADES} (?:stop|limit) $")
"""Right before a number, it says how many; the kind in between, where another number follows that is the price."""
PAID = re.compile(
    r"\b(?:teng[oa]|tenemos|compre|i (?:have|hold|own|bought|got)|holding)\b[^,;.\d]*(?<!\w)(?:at|a|@)\s*+$"
)
"""What was paid for what is held is the price of no order."""
NEGATED = re.compile(r"\b(?:not|and not|y no|instead of|rather than|en (?:vez|lugar) de)\s+(?:(?:at|for|a)\s+)?$")
"""The figure that is not meant: 10, not 5."""
_PUTS = re.compile(r"\b(?:put|invest\w*|invert\w*|inviert\w*|met\w+|pon\w*)\s*$")
_INTO = re.compile(r"\s*(?:in|into|en)\b")
"""Around a number they make it money: put 2000 in IBM."""
_PART_OF = re.compile(
    r"(?:[$€£]|(?:%|\b(?:per ?cent|por ?ciento|half|third|quarter|twice|double|triple|mitad|tercio|doble|triple)\b)"
    r"[^.,;:!?]{0,20}?)\s?$"
)
_OF_MONEY = re.compile(
    r"\s?(?:[$€£%]|(?:per ?cent|por ?ciento|usd|eur|dollars?|bucks|dolares|euros?|pounds?|libras|pesos)\b|"
    r"(?:\w+ )?worth\b)"
)
_MONEY = re.compile(r"\s?(?:[$€]|(?:usd|eur|dollars?|bucks|quid|pavos|dolares|euros?)\b)")
_OR = re.compile(r"\s*(?:or|o|to|a|and|y|minus|plus|menos|mas|x|[-+*/])\s*")
"""What is said before, behind and between numbers that are not how many: money, a share of something, a sum."""
_AT = re.compile(r"(?<!\w)(?:at|a|@|por|for)\s*+(?:[$€]\s*+)?$")
"""A price for which nothing else is said."""
_AFTER: dict[str, str] = {
    "capital": r"capital|usd|dollars?|bucks|quid|pavos|pounds?|dolares|euros?|eur|pesos|account|cuenta|in (?:my|"
    r"the) account|de capital",
    "entry_price": r"entry|entrada|de entrada",
    "stop_loss_price": _STOP,
    "take_profit_price": r"target|objetivo|take[ -]?profit",
    "risk_percent": r"risk|riesgo|de riesgo|per ?cent|por ciento",
    "stop_price": _STOP,
    "limit_price": r"limit(?:e)?|(?:as|como|de) (?:(?:a|the|un|el) )?limite?",
    "quantity": r"shares?|acciones|units?|unidades|titulos?|stocks?",
}
_OF_STOP = re.compile(rf"\b(?:{_STOP})\b[^,;.\d]{{0,12}}$")
_PERCENT = re.compile(r"\s?(?:%|per ?cent\b|por ?ciento\b)")
_NEXT_STOP = re.compile(rf"\b(?:{_STOP})\b[^,;]{{0,6}}$")
"""A stop that is said before the next number is that one."""
_LINKS = (
    r"(?:\s*(?:at|of|a|en|de|del|el|la|the|is|es|to|price|precio|around|about|order|orden|=|:|\$|€|un|una|me|in)\b|\s|"
    r"[=:$€@])*$"
)
_BESIDE_FIGURES = word_set(
    "at of a en de del el la the is es to price precio order orden un una and with y con tops max "
    "most maximum maximo como mucho"
)
"""What is said around figures and their names."""
ALONE: dict[str, str] = {
    "create_paper_order": "quantity",
    "create_alert": "price",
    "calculate_position_size": "capital",
}
"""What a number is that nothing is said of."""
FIGURE_ALONE = re.compile(
    rf"\W*(?:(?:at|a|to|ok|with|con|of|de)\W+)*(?P<figure>{NUMBER})\s*"
    r"(?:[$€%]|per ?cent|por ?ciento|dollars?|euros?|dolares)?(?P<of> ?(?:of (?:them|those)|de (?:ellas|esas)|shares|"
    r"acciones)\b)?\W*(?:please|por favor)?\W*"
)
MOVES = re.compile(r"\b(?:raise|lower|move|bring|bump|sube|baja|mueve|(?:cambi|pas)al[oa]s? a)")
SAYS_SIDE = re.compile(r"\b(?:buy\w*|sell\w*|purchase|compr\w+|vend\w+)\b")
AT_MARKET = re.compile(
    r"\b(?:(?:at|to|a) (?:the )?(?:market|mercado)|(?:market|mercado) order|"
    r"(?:no|without|remove the|drop the|sin|quita(?:le)? el) limite?(?! (?:orders?|price|de)\b))\b|"
    r"^\W*(?:(?:actually|no|wait|sorry|ok|mejor|perdon|espera)\W+)*(?:market|mercado)\b"
)
_KINDS = {"stop_price": re.compile(r"\bstop\b"), "limit_price": re.compile(r"\blimit(?:ed|e|ad[oa])?\b")}
"""What an order is called that waits for a price."""
_WHOLE_PERCENT = 0.2
"""A risk from which on it is told in per cent, and not as a share."""
AN_ORDER = re.compile(r"\b(?:an?|una?) (?=(?:\w+ )?(?:order|orden|venta|compra|sale|stop|limit)\b)")
"""It counts no shares."""
_COUNT = rf"(?:\d+|{'|'.join(NUMBERS)}|(?:half )?an? dozen|(?:una|media) docena)"
TAKES = (
    rf"(?:(?:pick up|grab|get me|put me|ponme|lemme get|let me (?:get|have)|i ll (?:get|have))(?: me)?(?= {_COUNT})|"
    r"(?:i(?:\W?ll take| want| will take)|give me|quiero|dame|pilla(?:me)?|coge(?:me)?)"
    rf"(?= {_COUNT}(?:\W*$|(?: (?!percent|por|per)\w+)? (?:shares?|stocks?|acciones|titulos)(?:\W*$| (?:of|de)\b)|"
    r" (?:of|de|more|mas)\b(?! (?:those|these|es[oa]s) \w)))"
    r"|(?:i(?: want|\W?ll take|\W?d like)|give me|get me|quiero|dame|pilla(?:me)?|coge(?:me)?|pon(?:me)?|mete)"
    r"(?= [$€]? ?\d[\d.,]*k? ?(?:[$€]|dollars?['’]?|bucks|usd|dolares|euros?|eur|pavos)?(?: worth)? (?:of|de|in|en)\b"
    r"(?! (?:those|these|es[oa]s) \w)))"
)
"""Orders so many without the word buy."""
TAKES_PROFIT = re.compile(r"\b(?:take[ -]?profits?|(?:toma|recoge)\w* (?:de )?(?:los )?beneficios)\b")
_SIDES = {
    "sell": re.compile(r"\b(sell\w*|vend\w+|venta|short(?= \d))\b"),
    "buy": re.compile(
        rf"\b(buy\w*|purchase|long(?= \d)|compr\w+|{TAKES}|"
        r"(?:put|invest|invertir|invierte|mete|meter|pon)\b.{0,12}"
        r"(?:\d|\b(?:half|all|mitad|todo)\b).{0,20}\b(?:in|into|en))\b"
    ),
}
_NOT_MEANT = re.compile(
    r"\b(?:not|no|don\W?t|instead of|rather than|en (?:vez|lugar) de) (?:to |me )?(?:buy|sell|compr|vend)\w*"
)
"""The side that an order is not of."""
_OVER = re.compile(r"\b(above|over|encima|mas de|al alza)\b|>|(?<!\w)\+\d")
_UNDER = re.compile(r"\b(below|under|debajo|menos de|a la baja)\b|<|(?<!\w)[-\u2212]\d[\d.,]*\s?%")
"""Which side of the price is meant, whatever the verb: breaks above, rompe por debajo."""
_RISING = re.compile(
    r"\b(exceeds?|surpass\w*|tops?|ris(?:es?|ing)|goes up|up (?=\d)|up by|go(?:es)? past|climbs?|super(?:a|e)\w*|"
    r"(?:sobre)?pas[ae]\w*|rebas[ae]\w*|exced[ae]\w*|suba|sube)\b"
)
_FALLING = re.compile(
    r"\b(down (?=\d)|down by|falls?|drops?|goes down|dips?|loses|baje|baja|caiga|cae|desciend[ae]|pierd[ae])\b"
)
_INDICATORS = {"bollinger": "BB", "bandas": "BB", "moving": "SMA", "media": "SMA", "stochastic": "RSI"}


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text as the readers of arguments see it. `symbols`: its own, or those that it is about by what went before."""

    text: str
    plain: str
    symbols: tuple[str, ...]

    @classmethod
    def of(cls, text: str, symbols: Collection[str] = ()) -> "ParsedText":
        """A text, with what it is about where it names nothing."""
        return cls(text, plain(text), tuple(symbols_in(text)) or tuple(symbols))


def arguments_for(tool: str, schema: Schema, said: ParsedText) -> dict[str, Any]:
    """What the text says of the tool's arguments."""
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    figures = figures_in(said.plain, tool, properties, point=language_of(said.text, "es") == "en")
    found: dict[str, Any] = dict(figures)
    for name, of in properties.items():
        if name == "side" and name not in schema["required"]:
            continue
        reader = _READERS.get(name)
        value = reader(said, of) if reader is not None and name not in found else None
        if value is not None:
            found[name] = value
    if "order_type" in properties:
        _order_type(found, said)
    if "timeframe" in properties and "limit" in properties:
        found |= bar_range(said.text, said.plain, date_in(said.plain), days="start" in properties)
    elif "end" in properties and "indicators" in properties and (day := date_in(said.plain)) is not None:
        found["end"] = str(day)
    elif (frame := frame_in(said.plain)) and frame in properties.get("timeframe", {}).get("enum", [frame]):
        found |= {"timeframe": frame} if "timeframe" in properties else {}  # one that the tool lacks is left out
    return found


def missing_arguments(schema: Schema, found: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that the tool needs and the text does not tell."""
    return tuple(name for name in schema.get("required") or () if name not in found)


def figures_in(said: str, tool: str, wanted: Collection[str], *, point: bool = False) -> dict[str, float]:
    """Each number by what is said beside it, in any order; one that nothing is said of is what the tool asks first.
    `point`: 1.000 is one, unless it is a sum of money, of which nobody writes three decimals."""
    for pattern in DATES:
        said = pattern.sub(" ", said)
    said = AN_ORDER.sub("", said)
    said = in_figures(said) if "quantity" in wanted else large_in_figures(said)
    numbers = list(re.finditer(rf"(?<![\w.]){NUMBER}", said))
    found: dict[str, float] = {}
    alone: list[float] = []
    uncounted, at_risk = False, 0.0
    worded = [
        one for one in wanted if one in _BEFORE and re.search(rf"(?<!\w)(?:{_BEFORE[one]})\W{{1,3}}{NUMBER}", said)
    ]
    first = ALONE.get(tool)
    for at, match in enumerate(numbers):
        before = said[numbers[at - 1].end() if at else 0 : match.start()]
        after = said[match.end() : numbers[at + 1].start() if at + 1 < len(numbers) else len(said)]
        if first is not None and at + 1 < len(numbers):
            after = _NEXT_STOP.sub("", after)
        if first == "quantity" and (PAID.search(before) or (_PUTS.search(before) and _INTO.match(after))):
            continue
        if NEGATED.search(before):
            continue
        open_ones = [one for one in wanted if one not in found]
        if _OF_STOP.search(before) and _PERCENT.match(after):
            continue
        counting = _COUNTS.search(before) or (at + 1 < len(numbers) and _KIND_COUNTS.search(before))
        counting = counting and not (_OF_MONEY.match(after) or _OR.fullmatch(after))
        counts = counting and "quantity" in open_ones
        name = "quantity" if counts else _named(before, after, open_ones, worded)
        value = _value(match[0], point=point and (name or first) != "capital")
        if name is None and first == "quantity" and (_PART_OF.search(before) or _OF_MONEY.match(after)):
            continue
        if name == "risk_percent" and (before.endswith(("$", "€")) or _MONEY.match(after)):
            at_risk = value
        elif name is None:
            alone.append(value)
            if first == "quantity" and len(alone) > 1 and _OR.fullmatch(before):
                uncounted = True
        else:
            found[name] = value
    if first is not None and first in wanted and first not in found and alone and not uncounted:
        found[first] = max(alone) if first == "capital" else alone[-1] if first == "price" else alone.pop(0)
    kinds = _kinds_said(said) if first == "quantity" and len(alone) == 1 else []
    if len(kinds) == 1 and kinds[0] in wanted:
        found.setdefault(kinds[0], alone[0])  # "sell stop 5 MSFT 25"
    if at_risk and "capital" in found:
        found["risk_percent"] = at_risk / found["capital"]
    if found.get("risk_percent", 0) >= _WHOLE_PERCENT:
        found["risk_percent"] /= 100
    return found


def stop_share(said: str) -> float | None:
    """At how much of the entry a text (plain) has its stop: 0.97 for "a stop 3 % below"."""
    for match in re.finditer(NUMBER, said):
        percent = _PERCENT.match(said, match.end())
        if percent and _OF_STOP.search(said[: match.start()]):
            above = re.match(rf" (?:por )?(?:{_OVER.pattern})", said[percent.end() :])
            return 1 + _value(match[0], point=True) / 100 * (1 if above else -1)
    return None


def only_figures(said: str, schema: Schema) -> bool:
    """Whether a text (plain) is nothing but figures, each with what it is: "limit 180", "15 shares at 30"."""
    names = [names[one] for names in (_BEFORE, _AFTER) for one in schema["properties"] if one in names]
    names += [_OVER.pattern, _UNDER.pattern] if "condition" in schema["properties"] else []
    rest, named = re.subn(rf"(?<!\w)(?:{'|'.join([*names, 'at', '@'])})(?!\w)", " ", said)
    rest, figures = re.subn(NUMBER, " ", rest)
    return bool(named and figures) and _BESIDE_FIGURES.issuperset(re.findall(r"\w+", rest))


def tool_value(name: str, figures: str) -> float:
    """A figure that was asked for, as the tool takes it."""
    value = _value(figures, point=False)
    return value / 100 if name == "risk_percent" and value >= _WHOLE_PERCENT else value


def _value(figures: str, *, point: bool) -> float:
    """With its sign, which the tool refuses where it means nothing, and its power of ten: -5, 1e3."""
    number, _, power = figures.lstrip("-\u2212").partition("e")
    return number_of(number, point=point) * 10.0 ** int(power or 0) * (1 if figures[0].isdigit() else -1)


def _named(before: str, after: str, wanted: Collection[str], worded: Collection[str]) -> str | None:
    """What a number is by what is said around it. `worded`: what another number is called by its own word."""
    if "risk_percent" in wanted and _PERCENT.match(after):
        return "risk_percent"
    best: tuple[int, str] | None = None
    for name in wanted:
        pattern = _BEFORE.get(name)
        for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", before) if pattern else ():
            if re.match(_LINKS, before[match.end() :]) and (best is None or match.end() > best[0]):
                best = match.end(), name
    if best is not None:
        return best[1]
    for name in wanted:
        if name in _AFTER and re.match(rf"\s?(?:{_AFTER[name]})\b", after):
            return name
    for name in ("limit_price", "entry_price"):
        counts = "quantity" in wanted and before.endswith("for ") and symbols_in(after.lstrip()[:20].partition(" ")[0])
        if name in wanted and _AT.search(before) and name not in worded and not counts:
            return name
    # A longer way off, as in "risk no more than", if nothing else is said in between.
    for name in wanted:
        pattern = _BEFORE.get(name)
        if (
            pattern
            and name not in ("limit_price", "capital")
            and re.search(rf"\b(?:{pattern})\b[^,;.]{{0,25}}$", before)
        ):
            return name
    return None


def _kinds_said(said: str) -> list[str]:
    """The prices that an order waits for by the kind that a text (plain) calls it."""
    return [] if AT_MARKET.search(said) else [name for name, kind in _KINDS.items() if kind.search(said)]


def unpriced(found: Mapping[str, Any], said: str) -> tuple[str, ...]:
    """The prices that are missing of an order that is called a limit or stop order."""
    return () if any(name in found for name in _KINDS) else tuple(_kinds_said(said))


def order_named(said: str) -> dict[str, str]:
    """The side and the kind of the order that a text (plain) speaks of, where it says them: "the stop"."""
    kinds = [name.removesuffix("_price") for name in _kinds_said(said)]
    sides = [side for side, words in _SIDES.items() if words.search(said)]
    return ({"order_type": kinds[0]} if kinds else {}) | ({"side": sides[0]} if len(sides) == 1 else {})


def _order_type(found: dict[str, Any], said: ParsedText) -> None:
    if re.search(r"\b(market|mercado)\b", said.plain):
        found.pop("limit_price", None)
    if _kinds_said(said.plain) == ["stop_price"] and "limit_price" in found and "stop_price" not in found:
        found["stop_price"] = found.pop("limit_price")  # "sell stop 5 MSFT @ 25"
    kinds = [name for name in ("stop", "limit") if f"{name}_price" in found]
    found["order_type"] = (
        "_".join(kinds or [name.removesuffix("_price") for name in _kinds_said(said.plain)]) or "market"
    )


def _indicators(said: ParsedText, schema: Schema) -> list[str] | None:
    items = cast("Schema", schema.get("items") or {})
    known: list[str] = list(items.get("enum") or ())
    named = {_INDICATORS.get(word, word.upper()) for word in re.findall(r"\w+", said.plain)}
    return [name for name in known if name in named] or (["RSI"] if "RSI" in known else None)


def _concept(said: ParsedText, schema: Schema) -> str | None:
    del schema
    match = EXPLAIN.match(said.plain)
    return explained(match) if match else None


def _query(said: ParsedText, schema: Schema) -> str | None:
    del schema
    match = TALKED.search(said.plain)
    what = match["what"].strip(" ?.!") if match else ""
    return what[:200] if len(what) > 1 else None


def sides_in(said: str) -> list[tuple[str, str]]:
    """The sides that a text (plain) names, in their order, each with its word."""
    meant = _NOT_MEANT.sub(" ", said)
    found = [(match.start(), side, match[0]) for side, words in _SIDES.items() if (match := words.search(meant))]
    return [(side, word) for _, side, word in sorted(found)]


def _side(said: ParsedText, schema: Schema) -> str | None:
    del schema
    return next((side for side, _ in sides_in(said.plain)), None)


def condition_in(said: str) -> str:
    """Which side of a price a text (plain) speaks of; "==": of none."""
    over, under = _OVER.search(said), _UNDER.search(said)
    if bool(over) != bool(under):
        return ">=" if over else "<="
    return "<=" if _FALLING.search(said) else ">=" if _RISING.search(said) else "=="


TALKED = re.compile(
    r"\b(?:did we (?:talk|speak|discuss)|what did (?:we|i|you) (?:say|talk|discuss|ask(?: you)?|tell (?:you|me))|"
    r"we talked|have i (?:told|said)|search (?:our|my) (?:conversations?|chats?|history)|de que hablamos|que hablamos|"
    r"que dijimos|que (?:te |me )?(?:dije|dijiste|conte|contaste)(?: antes)?|hablamos de|"
    r"busca en (?:nuestras|mis) (?:conversaciones|charlas))\b(?: (?:about|for|on|de|sobre))?(?P<what>.*)"
)
_ID = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{16,64}\b")


def _id(said: ParsedText, schema: Schema) -> str | None:
    del schema
    match = _ID.search(said.plain)
    return match[0] if match else None


_READERS: dict[str, Callable[[ParsedText, Schema], Any]] = {
    "order_id": _id,
    "alert_id": _id,
    "symbol": lambda said, _: said.symbols[0] if said.symbols else None,
    "tickers": lambda said, _: list(said.symbols) or None,
    "indicators": _indicators,
    "concept": _concept,
    "query": _query,
    "side": _side,
    "condition": lambda said, _: condition_in(said.plain),
}
