"""Reads the arguments of a tool call from a text, by the names in the tool's own schema. Spanish and English.

Each number belongs to the words beside it: in "10k account, risk 1 %, stop 29" they are capital, risk_percent and
stop_loss_price. A number without such words is the tool's main argument: "buy 3 MSFT" is a quantity of 3.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent.domain.analysis.relative_days import DATES, date_in
from agent.domain.number_words import in_figures, large_in_figures
from agent.domain.offline.bar_range import bar_range, frame_in
from agent.domain.offline.changes import FRACTION
from agent.domain.offline.concepts import EXPLAIN, concept_in_match
from agent.domain.offline.conditions import OTHER_FIGURE, without_distance
from agent.domain.offline.order_words import ABOVE, BELOW, condition_in, order_prices, sides_in
from agent.domain.text_features import language_of, number_of, plain, symbols_in, word_set
from contracts.expressions import expression

Schema = Mapping[str, Any]
NUMBER = r"[-\u2212]?\d(?:[\d.,]*\d)?(?:e\d{1,2}\b|\s?k\b)?"
_STOP = r"stop(?:[ -]?loss)?|sl"
_ENTRY = (
    r"entry(?: price)?|enter(?:ing)?(?: \w+)?(?: at)?|"
    r"buy(?:ing)?(?: \w+)?(?: at| in at)?|bought(?: at)?|entrada|entro|entrar|entrando|"
    r"compr(?:o|ar|ando|e)(?: \w+)?(?: a| en)"
)
_WORDS_BEFORE: dict[str, str] = {
    "capital": r"capital|account|cuenta|balance|saldo|tengo|dispongo|i have|i ve got|have got|portfolio|with|with a|"
    r"con",
    "entry_price": _ENTRY,
    "stop_loss_price": _STOP,
    "take_profit_price": r"target|take[ -]?profit|tp|objetivo|profit|salida|salgo|exit|vend(?:o|er|iendo)|selling",
    "risk_percent": r"risk(?:ing)?|riesgo|arriesg\w+",
    "limit_price": r"limit(?:e)?|at most|no more than|como mucho|maximo",
    "stop_price": _STOP,
}
"""By argument: the words before a number that name it."""
_TRADES = r"(?:buy|sell|compr\w+|vend\w+|long|short)"
_BEFORE_QUANTITY = expression(rf"\b{_TRADES} $")
_BEFORE_QUANTITY_AND_PRICE = expression(rf"\b{_TRADES} (?:stop|limit) $")
"""Words right before a number that make it a quantity; with the kind in between if another number follows, which is the
price."""
PAID = expression(
    r"\b(?:teng[oa]|tenemos|compre|i (?:have|hold|own|bought|got)|holding)\b[^,;.\d]*(?<!\w)(?:at|a|@)\s*+$"
)
"""The price paid for shares that are held; it belongs to no order."""
NEGATED = expression(r"\b(?:not|and not|y no|instead of|rather than|en (?:vez|lugar) de)\s+(?:(?:at|for|a)\s+)?$")
"""Before a figure that is negated: 10, not 5."""
_INVESTING_BEFORE = expression(r"\b(?:put|invest\w*|invert\w*|inviert\w*|met\w+|pon\w*)\s*$")
_SPENT_BEFORE = expression(r"\b(?:buy|compr\w+|put|invest\w*|invert\w*|met\w+)\b(?: \w+)? (?:with|con)\s*[$€]?$")
_INTO_AFTER = expression(r"\s*(?:in|into|en)\b")
"""Words around a number that make it an amount of money: put 2000 in IBM."""
_SHARE_OR_MONEY_BEFORE = expression(
    r"(?:[$€£]|(?:%|\b(?:per ?cent|por ?ciento|half|third|quarter|twice|double|triple|mitad|tercio|doble|triple)\b)"
    r"[^.,;:!?]{0,20}?)\s?$"
)
_MONEY_OR_PERCENT_AFTER = expression(
    r"\s?(?:[$€£%]|(?:per ?cent|por ?ciento|usd|eur|dollars?|bucks|dolares|euros?|pounds?|libras|pesos)\b|"
    r"(?:\w+ )?worth\b)"
)
_CURRENCY_AFTER = expression(r"\s?(?:[$€]|(?:usd|eur|dollars?|bucks|quid|pavos|dolares|euros?)\b)")
_OPERATOR = expression(r"\s*(?:or|o|to|a|and|y|minus|plus|menos|mas|x|[-+*/])\s*")
"""Text before, after and between numbers that are not quantities: money, a share of something, a calculation."""
_PRICE_PREPOSITION = expression(r"(?<!\w)(?:at|a|@|por|for)\s*+(?:[$€]\s*+)?$")
"""Words before a price that has no other name."""
_WORDS_AFTER: dict[str, str] = {
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
_STOP_BEFORE = expression(rf"\b(?:{_STOP})\b[^,;.\d]{{0,12}}$")
_PERCENT = expression(r"\s?(?:%|per ?cent\b|por ?ciento\b)")
_PERCENT_STOP = expression(rf"{_PERCENT.pattern} (?:de )?(?:{_STOP})\b")
_NEXT_STOP = expression(rf"\b(?:{_STOP})\b[^,;]{{0,6}}$")
"""A stop that is named before the next number belongs to that number."""
_LINKS = (
    r"(?:\s*(?:at|of|a|en|de|del|el|la|the|is|es|to|price|precio|around|about|order|orden|=|:|\$|€|un|una|me|in)\b|\s|"
    r"[=:$€@])*$"
)
_BESIDE_FIGURES = word_set(
    "at of a en de del el la the is es to price precio order orden un una and with y con tops max "
    "most maximum maximo como mucho"
)
"""Words around figures and their names."""
MAIN_ARGUMENTS: dict[str, str] = {
    "create_paper_order": "quantity",
    "create_alert": "price",
    "calculate_position_size": "capital",
}
"""By tool: the argument that a number without a name belongs to."""
FIGURE_ALONE = expression(
    rf"\W*(?:(?:at|a|to|ok|with|con|of|de)\W+)*(?P<figure>{NUMBER})\s*"
    r"(?:[$€%]|per ?cent|por ?ciento|dollars?|euros?|dolares)?(?P<of> ?(?:of (?:them|those)|de (?:ellas|esas)|shares|"
    r"acciones)\b)?\W*(?:please|por favor)?\W*"
)
MOVES = expression(r"\b(?:raise|lower|move|bring|bump|sube|baja|mueve|(?:cambi|pas)al[oa]s? a)")
_MIN_RISK_IN_PERCENT = 0.2
"""A risk of at least this figure is in per cent, a smaller one is a share."""
_MAX_RISK_IN_PERCENT = 20
"""Above it, a risk that is not said to be in per cent is a sum of money."""
AN_ORDER = expression(r"\b(?:an?|una?) (?=(?:\w+ )?(?:order|orden|venta|compra|sale|stop|limit)\b)")
"""An article that is not the number 1."""
_INDICATORS = {
    "bollinger": "BB",
    "bandas": "BB",
    "moving": "SMA",
    "media": "SMA",
    "range": "ATR",
    "swing": "ATR",
    "rango": "ATR",
}


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text with its normalized form. `symbols` are its tickers, or else those that the conversation is about."""

    text: str
    plain: str
    symbols: tuple[str, ...]

    @classmethod
    def of(cls, text: str, symbols: Collection[str] = ()) -> "ParsedText":
        """Parse a text; `symbols` are used if it names none."""
        return cls(text, plain(text), tuple(symbols_in(text)) or tuple(symbols))


def arguments_for(tool: str, schema: Schema, parsed: ParsedText) -> dict[str, Any]:
    """The tool's arguments that the text gives."""
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    figures = figures_in(parsed.plain, tool, properties, has_decimal_point=language_of(parsed.text, "es") == "en")
    if tool == "create_alert" and OTHER_FIGURE.search(parsed.plain):
        figures.pop("price", None)
    arguments: dict[str, Any] = dict(figures)
    for name, property_schema in properties.items():
        if name == "side" and name not in schema["required"]:
            continue
        reader = _READERS.get(name)
        value = reader(parsed) if reader is not None and name not in arguments else None
        value = _indicators(parsed, property_schema) if name == "indicators" else value
        if value is not None:
            arguments[name] = value
    if "order_type" in properties:
        _order_type(arguments, parsed)
    if "timeframe" in properties and "limit" in properties:
        arguments |= bar_range(parsed.text, parsed.plain, date_in(parsed.plain), takes_days="start" in properties)
    elif "end" in properties and "indicators" in properties and (day := date_in(parsed.plain)) is not None:
        arguments["end"] = str(day)
    elif (frame := frame_in(parsed.plain)) and frame in properties.get("timeframe", {}).get("enum", [frame]):
        arguments |= (
            {"timeframe": frame} if "timeframe" in properties else {}
        )  # a timeframe that the tool lacks is left out
    return arguments


def missing_arguments(schema: Schema, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The required arguments that are not in `arguments`."""
    return tuple(name for name in schema.get("required") or () if name not in arguments)


def figures_in(text: str, tool: str, names: Collection[str], *, has_decimal_point: bool = False) -> dict[str, float]:
    """The numbers of a text by argument name, from the words beside them; one without such words is the tool's main
    argument. If `has_decimal_point`, 1.000 is one, except for a sum of money, which nobody writes with three decimals.
    """
    for pattern in DATES:
        text = pattern.sub(" ", text)
    text = FRACTION.sub(" ", AN_ORDER.sub("", text))
    text = without_distance(in_figures(text)) if "quantity" in names else large_in_figures(text)
    numbers = list(re.finditer(rf"(?<![\w.]){NUMBER}", text))
    figures: dict[str, float] = {}
    unnamed: list[float] = []
    is_expression, money_at_risk = False, 0.0
    names_with_word = [
        name
        for name in names
        if name in _WORDS_BEFORE and re.search(rf"(?<!\w)(?:{_WORDS_BEFORE[name]})\W{{1,3}}{NUMBER}", text)
    ]
    default_name = MAIN_ARGUMENTS.get(tool)
    for i, match in enumerate(numbers):
        before = text[numbers[i - 1].end() if i else 0 : match.start()]
        after = text[match.end() : numbers[i + 1].start() if i + 1 < len(numbers) else len(text)]
        if default_name is not None and i + 1 < len(numbers):
            after = _NEXT_STOP.sub("", after)
        if default_name == "quantity" and (
            PAID.search(before)
            or (_SPENT_BEFORE.search(before) and not re.match(_WORDS_AFTER["quantity"], after.lstrip()))
            or (_INVESTING_BEFORE.search(before) and _INTO_AFTER.match(after))
        ):
            continue
        if NEGATED.search(before):
            continue
        open_names = [name for name in names if name not in figures]
        if (_STOP_BEFORE.search(before) and _PERCENT.match(after)) or _PERCENT_STOP.match(text, match.end()):
            continue
        is_count = _BEFORE_QUANTITY.search(before) or (
            i + 1 < len(numbers) and _BEFORE_QUANTITY_AND_PRICE.search(before)
        )
        is_count = is_count and not (_MONEY_OR_PERCENT_AFTER.match(after) or _OPERATOR.fullmatch(after))
        is_quantity = is_count and "quantity" in open_names
        name = "quantity" if is_quantity else _argument_of(before, after, open_names, names_with_word)
        value = _signed_number(match[0], has_decimal_point=has_decimal_point and (name or default_name) != "capital")
        if (
            name is None
            and default_name == "quantity"
            and (_SHARE_OR_MONEY_BEFORE.search(before) or _MONEY_OR_PERCENT_AFTER.match(after))
        ):
            continue
        is_money = before.endswith(("$", "€")) or _CURRENCY_AFTER.match(after) or value > _MAX_RISK_IN_PERCENT
        if name == "risk_percent" and is_money and not _PERCENT.match(after):
            money_at_risk = value
        elif name is None:
            unnamed.append(value)
            if default_name == "quantity" and len(unnamed) > 1 and _OPERATOR.fullmatch(before):
                is_expression = True
        else:
            figures[name] = value
    if (
        default_name is not None
        and default_name in names
        and default_name not in figures
        and unnamed
        and not is_expression
    ):
        figures[default_name] = (
            max(unnamed) if default_name == "capital" else unnamed[-1] if default_name == "price" else unnamed.pop(0)
        )
    waiting_prices = order_prices(text) if default_name == "quantity" and len(unnamed) == 1 else []
    if len(waiting_prices) == 1 and waiting_prices[0] in names:
        figures.setdefault(waiting_prices[0], unnamed[0])  # "sell stop 5 MSFT 25"
    if money_at_risk and "capital" in figures:
        figures["risk_percent"] = money_at_risk / figures["capital"]
    if figures.get("risk_percent", 0) >= _MIN_RISK_IN_PERCENT:
        figures["risk_percent"] /= 100
    return figures


def stop_share(normalized: str) -> float | None:
    """The stop of a normalized text as a share of the entry price: 0.97 for "a stop 3 % below"; None if it has none."""
    for match in re.finditer(NUMBER, normalized):
        percent = _PERCENT.match(normalized, match.end())
        is_named = _PERCENT_STOP.match(normalized, match.end()) or _STOP_BEFORE.search(normalized[: match.start()])
        if percent and is_named:
            is_above = re.match(rf" (?:por )?(?:{ABOVE.pattern})", normalized[percent.end() :])
            return 1 + _signed_number(match[0], has_decimal_point=True) / 100 * (1 if is_above else -1)
    return None


def only_figures(normalized: str, schema: Schema) -> bool:
    """Whether a normalized text has only figures and their names: "limit 180", "15 shares at 30"."""
    patterns = [
        table[name] for table in (_WORDS_BEFORE, _WORDS_AFTER) for name in schema["properties"] if name in table
    ]
    patterns += [ABOVE.pattern, BELOW.pattern] if "condition" in schema["properties"] else []
    remainder, name_count = re.subn(rf"(?<!\w)(?:{'|'.join([*patterns, 'at', '@'])})(?!\w)", " ", normalized)
    remainder, figure_count = re.subn(NUMBER, " ", remainder)
    return bool(name_count and figure_count) and _BESIDE_FIGURES.issuperset(re.findall(r"\w+", remainder))


def tool_value(name: str, figure: str) -> float:
    """A figure that the user was asked for, in the tool's unit."""
    value = _signed_number(figure, has_decimal_point=False)
    return value / 100 if name == "risk_percent" and value >= _MIN_RISK_IN_PERCENT else value


def _signed_number(figures: str, *, has_decimal_point: bool) -> float:
    """A number with its sign (the tool refuses a wrong one) and its power of ten: -5, 1e3."""
    number, _, exponent = figures.lstrip("-\u2212").partition("e")
    return number_of(number, point=has_decimal_point) * 10.0 ** int(exponent or 0) * (1 if figures[0].isdigit() else -1)


def _argument_of(before: str, after: str, names: Collection[str], names_with_word: Collection[str]) -> str | None:
    """The argument that a number belongs to, from the text around it. `names_with_word` are the arguments that another
    number has by an explicit word."""
    if "risk_percent" in names and _PERCENT.match(after):
        return "risk_percent"
    best: tuple[int, str] | None = None
    for name in names:
        pattern = _WORDS_BEFORE.get(name)
        for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", before) if pattern else ():
            if re.match(_LINKS, before[match.end() :]) and (best is None or match.end() > best[0]):
                best = match.end(), name
    if best is not None:
        return best[1]
    for name in names:
        if name in _WORDS_AFTER and re.match(rf"\s?(?:{_WORDS_AFTER[name]})\b", after):
            return name
    for name in ("limit_price", "entry_price"):
        is_quantity = (
            "quantity" in names and before.endswith("for ") and symbols_in(after.lstrip()[:20].partition(" ")[0])
        )
        if name in names and _PRICE_PREPOSITION.search(before) and name not in names_with_word and not is_quantity:
            return name
    # Further away, as in "risk no more than", if nothing else is in between.
    for name in names:
        pattern = _WORDS_BEFORE.get(name)
        if (
            pattern
            and name not in ("limit_price", "capital")
            and re.search(rf"\b(?:{pattern})\b[^,;.]{{0,25}}$", before)
        ):
            return name
    return None


def _order_type(arguments: dict[str, Any], parsed: ParsedText) -> None:
    if re.search(r"\b(market|mercado)\b", parsed.plain):
        arguments.pop("limit_price", None)
    if order_prices(parsed.plain) == ["stop_price"] and "limit_price" in arguments and "stop_price" not in arguments:
        arguments["stop_price"] = arguments.pop("limit_price")  # "sell stop 5 MSFT @ 25"
    kinds = [name for name in ("stop", "limit") if f"{name}_price" in arguments]
    arguments["order_type"] = (
        "_".join(kinds or [name.removesuffix("_price") for name in order_prices(parsed.plain)]) or "market"
    )


def _indicators(parsed: ParsedText, schema: Schema) -> list[str] | None:
    items = cast("Schema", schema.get("items") or {})
    known: list[str] = list(items.get("enum") or ())
    named = {_INDICATORS.get(word, word.upper()) for word in re.findall(r"\w+", parsed.plain)}
    return [name for name in known if name in named] or (["RSI"] if "RSI" in known else None)


def _concept(parsed: ParsedText) -> str | None:
    match = EXPLAIN.match(parsed.plain)
    return concept_in_match(match) if match else None


def _query(parsed: ParsedText) -> str | None:
    match = CONVERSATION_SEARCH.search(parsed.plain)
    topic = match["what"].strip(" ?.!") if match else ""
    return topic[:200] if len(topic) > 1 else None


CONVERSATION_SEARCH = expression(
    r"\b(?:did we (?:talk|speak|discuss)|what did (?:we|i|you) (?:say|talk|discuss|ask(?: you)?|tell (?:you|me))|"
    r"we talked|have i (?:told|said)|search (?:our|my) (?:conversations?|chats?|history)|de que hablamos|que hablamos|"
    r"que dijimos|que (?:te |me )?(?:dije|dijiste|conte|contaste)(?: antes)?|hablamos de|"
    r"busca en (?:nuestras|mis) (?:conversaciones|charlas))\b(?: (?:about|for|on|de|sobre))?(?P<what>.*)"
)
_ID = expression(r"\b(?=[a-f]*\d)[0-9a-f]{16,64}\b")


def _id(parsed: ParsedText) -> str | None:
    match = _ID.search(parsed.plain)
    return match[0] if match else None


_READERS: dict[str, Callable[[ParsedText], Any]] = {
    "order_id": _id,
    "alert_id": _id,
    "symbol": lambda parsed: next(iter(parsed.symbols), None),
    "tickers": lambda parsed: list(parsed.symbols) or None,
    "concept": _concept,
    "query": _query,
    "side": lambda parsed: next((side for side, _ in sides_in(parsed.plain)), None),
    "condition": lambda parsed: condition_in(parsed.plain),
}
