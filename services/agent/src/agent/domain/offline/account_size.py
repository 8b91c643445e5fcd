"""Computes the size of a position from what is known without being told: the account's equity and the current price.

"risk 1 % of my account on TSLA, stop 15 dollars below" looks both up first. A change of the risk or of the stop
computes it anew, and an order for it takes the quantity from the calculation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.domain.analysis.formats import number
from agent.domain.offline.answers import answer_from, say
from agent.domain.offline.changes import percent_in
from agent.domain.offline.conditions import MONEY, distance_in
from agent.domain.offline.follow_up import FollowUp
from agent.domain.offline.slots import ParsedText, stop_share
from agent.domain.offline.step_results import (
    Body,
    Result,
    SayText,
    UseTools,
    cancellation_of,
    replacing_calls,
    results_in_words,
)
from agent.domain.offline.wishes import Calls, Intent, Way, Wish
from agent.domain.text_features import number_of
from contracts.expressions import expression
from contracts.languages import Language

_TOOL, _ORDER = "calculate_position_size", "create_paper_order"
_WAY: Way = "sized_by_account"
_HALF_PERCENT = expression(r"\b(?:half (?:an? |of )?(?:one )?(?:percent|per cent)|medio por ?ciento)\b|\bmedio ?%")
_AT_RISK = expression(rf"\b(?:risk\w*|arriesg\w*|riesgo)\W+(?:only |just |solo )?[$€]?(?P<sum>\d[\d.,]*)(?:{MONEY})")
_MAX_WORDS = 12
"""Maximum words of a change of the calculation."""
_STOP = expression(r"\bstop\b")
_ALONE = expression(r"(?<![%\d])(?P<figure>\d+(?:[.,]\d+)?)(?![\d%]| ?(?:%|per ?cent|por ?ciento))")
_PERCENT = expression(r"\d[\d.,]* ?(?:%|per ?cent|por ?ciento)")


def size_by_account(arguments: Mapping[str, Any], parsed: ParsedText, *, has_portfolio: bool) -> Wish | None:
    """The calculation for one share with the account's equity and the current price; None if the text gives no risk or
    no stop at a distance."""
    figures = _figures_in(parsed.plain)
    if not has_portfolio or len(parsed.symbols) != 1 or "capital" in arguments or "entry_price" in arguments:
        return None
    if not figures.keys() & {"risk_percent", "risk_amount"} or not figures.keys() & {"stop_away", "stop_share"}:
        return None
    return Wish(Intent.TOOL, ((_TOOL, {"symbol": parsed.symbols[0], **figures}),), way=_WAY)


def _figures_in(normalized: str) -> dict[str, float]:
    """The risk and the stop's distance that a text gives."""
    figures: dict[str, float] = {}
    stop_at = _STOP.search(normalized)
    stop_text = normalized[stop_at.start() :] if stop_at else ""
    if (share := stop_share(normalized)) is not None:
        figures["stop_share"] = share
    elif (distance := distance_in(stop_text)) is not None:
        figures["stop_away"] = distance
    risk_text = normalized[: stop_at.start()] if stop_at else normalized
    if risk := _AT_RISK.search(normalized):
        figures["risk_amount"] = number_of(risk["sum"])
    elif _HALF_PERCENT.search(risk_text):
        figures["risk_percent"] = 0.005
    elif (percent := percent_in(risk_text)) is not None:
        figures["risk_percent"] = percent / 100
    return figures


def resized(follow_up: FollowUp) -> Wish | None:
    """The calculation with another risk or stop, or its order at a distance from the price."""
    earlier, normalized = follow_up.earlier, follow_up.normalized
    if earlier.way != _WAY or follow_up.symbols or len(normalized.split()) > _MAX_WORDS:
        return None
    if follow_up.tool == _ORDER:
        distance = distance_in(normalized)
        if distance is None or distance >= 0:
            return None
        order = {**follow_up.arguments, "order_type": "limit", "away": distance}
        ended = {name: value for name, value in order.items() if name in ("symbol", "side")}
        return replace(earlier, calls=((_ORDER, order), earlier.calls[1], ("cancel_paper_order", ended)))
    if follow_up.phrase is not None and follow_up.phrase.tool != _TOOL:
        return None
    figures, arguments = _figures_in(normalized), dict(follow_up.arguments)
    if follow_up.phrase is not None and not re.search(r"\d", normalized) and not figures:
        return earlier  # how many that is
    alone = _ALONE.findall(_PERCENT.sub(" ", normalized))
    if not figures and len(alone) == 1:
        figures = _in_same_unit(arguments, number_of(alone[0]), of_stop=bool(_STOP.search(normalized)))
    for names in (("risk_percent", "risk_amount"), ("stop_away", "stop_share")):
        if figures.keys() & set(names):
            arguments = {name: value for name, value in arguments.items() if name not in names}
    return replace(earlier, calls=((_TOOL, {**arguments, **figures}),)) if figures else None


def _in_same_unit(arguments: Mapping[str, Any], figure: float, *, of_stop: bool) -> dict[str, float]:
    """A figure alone, in the unit of the stop or of the risk before."""
    if of_stop and "stop_share" in arguments:
        return {"stop_share": 1 + figure / 100 * (1 if arguments["stop_share"] > 1 else -1)}
    if of_stop:
        return {"stop_away": figure * (1 if arguments["stop_away"] > 0 else -1)}
    return {"risk_percent": figure / 100} if "risk_percent" in arguments else {"risk_amount": figure}


def order_of_size(earlier: Wish) -> Wish | None:
    """The order for the size that was computed from the account; None if none was."""
    if earlier.way != _WAY or earlier.calls[0][0] != _TOOL:
        return None
    symbol, side = earlier.calls[0][1]["symbol"], "sell" if _is_short(earlier.calls[0][1]) else "buy"
    order = {"symbol": symbol, "side": side, "order_type": "market"}
    return replace(earlier, calls=((_ORDER, order), earlier.calls[0]))


def _is_short(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("stop_share", 0) > 1 or arguments.get("stop_away", 0) > 0


def sized_step(wish: Wish, results: Sequence[Result], language: Language) -> SayText | UseTools:
    """The next step: equity and price, then the calculation, then its order if that was asked for."""
    calls = dict(wish.calls)
    sizing, order, ended = calls[_TOOL], calls.get(_ORDER), calls.get("cancel_paper_order")
    if not results:
        look_ups: Calls = (("get_portfolio", {}), ("get_price", {"symbol": sizing["symbol"]}))
        return UseTools((*look_ups, *((("get_pending_orders", {}),) if ended is not None else ())))
    bodies: dict[str, Body] = {tool: body for tool, _, body in results}
    equity, price = bodies["get_portfolio"].get("equity"), bodies["get_price"].get("price")
    if _ORDER in bodies or not equity or price is None:
        unknown = [result for result in results if "error" in result[2]]
        return results_in_words([result for result in results if result[0] == _ORDER] or unknown, language)
    price = round(float(price) + (order or {}).get("away", 0.0), 2)
    if _TOOL not in bodies:
        return UseTools(((_TOOL, _arguments(sizing, float(equity), price)),))
    quantity = float(bodies[_TOOL].get("quantity") or 0) // 1
    if order is None or not quantity:
        stop = _arguments(sizing, float(equity), price)["stop_loss_price"]
        parts = {"equity": number(equity, language), "price": number(price, language), "stop": number(stop, language)}
        return SayText(f"{answer_from(_TOOL, {}, bodies[_TOOL], '', language)}\n{say('sized_from', language, **parts)}")
    placed = {name: value for name, value in order.items() if name != "away"} | {"quantity": quantity}
    placed |= {"limit_price": price} if "away" in order else {}
    waiting = replace(wish, calls=((_ORDER, order), ("cancel_paper_order", ended or {})))
    cancellations = cancellation_of(waiting, bodies["get_pending_orders"]) if ended is not None else ()
    return replacing_calls(cancellations, ((_ORDER, placed),), [])


def _arguments(sizing: Mapping[str, Any], equity: float, price: float) -> dict[str, float]:
    """The arguments of the calculation, with the account's equity and this price."""
    stop = price * sizing["stop_share"] if "stop_share" in sizing else price + sizing["stop_away"]
    risk = sizing["risk_percent"] if "risk_percent" in sizing else sizing["risk_amount"] / equity
    return {"capital": equity, "entry_price": price, "stop_loss_price": round(stop, 4), "risk_percent": risk}
