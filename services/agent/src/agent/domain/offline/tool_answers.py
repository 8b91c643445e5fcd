"""Puts a tool's result into words: "Your alerts: AAPL at 200 or more", "MSFT: 30.1 USD, as of …".

A table maps each tool to the function for its result; the fields of other tools' results are listed. Every figure is
quoted from the result. The texts are in texts/<language>.toml, in the table `[offline.results]`.
"""

from collections.abc import Callable
from typing import Any, cast

from agent.domain.analysis.chat_text import report_in_chat
from agent.domain.analysis.comparison import PERIODS
from agent.domain.analysis.derived import derived_text
from agent.domain.analysis.episodes import published_on
from agent.domain.analysis.formats import figure, figure_name, moment, number, percent, period_name, signed
from agent.domain.offline.day_answers import market_hours
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

Fields = dict[str, Any]
_MAX_ROWS = 10
_MAX_FEATURES = 5
_PERCENT_FIGURES = ("gross_margin", "net_margin", "dividend_yield", "max_drawdown", "current_drawdown", "volatility")
_SNAPSHOT_FIGURES = ("volatility", "max_drawdown", "sma_20", "sma_50", "sma_200")


def needs_a_plan(tool: str, language: Language, *, customer: bool = False) -> str:
    """The answer for a tool that the requester is not offered; customers have signed in already."""
    if not customer:
        return _say("sign_in", language)
    return _say("other_plan", language, plan="Premium" if tool == "get_ml_features" else "Pro")


def how_many(arguments: Fields, language: Language) -> str:
    """The question how many shares an order is for."""
    verb = TEXTS[f"offline.verbs.{arguments['side']}"].in_language(language)
    return _say("how_many", language, verb=verb, symbol=arguments["symbol"])


def tool_answer(tool: str, body: Fields, language: Language) -> str:
    """One result in a few lines."""
    if tool in _FIXED_ANSWERS:
        return _say(_FIXED_ANSWERS[tool], language)
    if tool in _FUNCTIONS:
        return _FUNCTIONS[tool](body, language)
    return "; ".join(f"{name}: {moment(value, language)}" for name, value in body.items())


def _say(key: str, language: Language, **parts: object) -> str:
    return TEXTS[f"offline.results.{key}"].in_language(language).format(**parts)


def _price(body: Fields, language: Language) -> str:
    moves = [body.get(name) for name in ("change", "change_percent")]
    known = [signed(figure(round(move, 2), language)) for move in moves if move is not None]
    move_text = f" ({known[0]}, {known[1]} %)" if len(known) == len(moves) else ""
    return _say(
        "price", language, symbol=body.get("symbol"), price=figure(body["price"], language),
        currency=body.get("currency") or "USD", moved=move_text, as_of=moment(body.get("as_of"), language),
        source=body.get("source"),
    )  # fmt: skip


def _position_size(body: Fields, language: Language) -> str:
    quantity, value, risk = (figure(body[name], language) for name in ("quantity", "position_value", "risk_amount"))
    limit = _say("capped_by_cash", language) if body.get("capped_by_cash") else ""
    return _say("position_size", language, quantity=quantity, value=value, risk=risk, limit=limit)


def _risk_reward(body: Fields, language: Language) -> str:
    ratio, risk, reward = (figure(body[name], language) for name in ("ratio", "risk", "reward"))
    rate = body.get("break_even_win_rate")
    even = percent(rate, language) if isinstance(rate, int | float) else "?"
    return _say("risk_reward", language, ratio=ratio, risk=risk, reward=reward, even=even)


def _order(body: Fields, language: Language) -> str:
    estimate: Fields = body["estimate"]
    price, amount, cash_left = (number(estimate[name], language) for name in ("price", "amount", "cash_after"))
    parts = {"summary": body["summary"], "currency": estimate["currency"]}
    return _say("order", language, **parts, price=price, amount=amount, left=cash_left)


def _portfolio(body: Fields, language: Language) -> str:
    lines = _first_lines(body, "positions", language, _position)
    cash, equity = (number(body[name], language) for name in ("cash", "equity"))
    as_of, currency = moment(body["as_of"], language), body["currency"]
    head = _say("portfolio", language, as_of=as_of, cash=cash, equity=equity, currency=currency)
    return "\n".join([head, *lines]) if lines else f"{head} {_say('no_positions', language)}"


def _position(position: Fields, language: Language) -> str:
    average_price = number(position["average_price"], language)
    holding = f"- {figure(position['quantity'], language)} {position['symbol']} · {average_price}"
    if position.get("price") is None:
        return holding
    return f"{holding} → {number(position['price'], language)} ({signed(number(position['unrealized'], language))})"


def _history(body: Fields, language: Language) -> str:
    return _listed("history", _first_lines(body, "trades", language, _trade), language)


def _trade(trade: Fields, language: Language) -> str:
    realized = f" ({signed(number(trade['realized'], language))})" if trade.get("realized") else ""
    return (
        f"- {moment(trade['time'], language)}: {_said(trade['side'], language)} {figure(trade['quantity'], language)} "
        f"{trade['symbol']} · {number(trade['price'], language)}{realized}"
    )


def _orders(body: Fields, language: Language) -> str:
    lines = _first_lines(body, "orders", language, _order_line)
    if any(order["status"] == "pending_confirmation" for order in body.get("orders") or ()):
        lines.append(f"\n{_say('unconfirmed', language)}")
    return _listed("orders", lines, language)


def _order_line(order: Fields, language: Language) -> str:
    return (
        f"- {_said(order['side'], language)} {figure(order['quantity'], language)} {order['symbol']} "
        f"{_price_type(order, language)}: {_said(order['status'], language)}"
    )


def _price_type(order: Fields, language: Language) -> str:
    """The kind of an order with the prices that it waits for."""
    prices = [number(order[name], language) for name in ("stop_price", "limit_price") if order.get(name) is not None]
    return f"{_said(order['order_type'], language)} {' / '.join(prices)}".rstrip()


def _said(code: str, language: Language) -> str:
    """A tool's code in people's words; an unknown one as it is."""
    known = TEXTS.section("offline.said").get(code)
    return known.in_language(language) if known else code.replace("_", " ")


def _watchlist(body: Fields, language: Language) -> str:
    symbols = ", ".join(map(str, body.get("symbols") or ())) or "–"
    return _say("watchlist", language, symbols=symbols)


def _alert(body: Fields, language: Language) -> str:
    level = _level(body, language)
    now = number(body["current_price"], language) if body.get("current_price") is not None else "?"
    already = _say("already_true", language) if body.get("already_true") else ""
    return _say("alert", language, level=level, now=now, already=already)


def _alerts(body: Fields, language: Language) -> str:
    lines = _first_lines(body, "alerts", language, lambda alert, language: f"- {_level(alert, language)}")
    return _listed("alerts", lines, language)


def _level(alert: Fields, language: Language) -> str:
    """The price that an alert waits for."""
    key = {">=": "level_or_more", "<=": "level_or_less"}.get(str(alert["condition"]), "level_touched")
    return _say(key, language, symbol=alert["symbol"], price=number(alert["price"], language))


_ASKED_BACK = expression(
    r"\b(?:what did (?:we|i)|what have i|have i (?:told|said)|que (?:te )?(?:dije|conte|he dicho))\b"
)


def _passages(body: Fields, language: Language) -> str:
    passages = _list(body, "passages")
    # Of what was found, the user's own statements say it; what they asked only speaks of it, and what they asked of
    # their memory says nothing: it may name what was forgotten since.
    statements = [
        passage
        for passage in passages
        if passage.get("speaker") != "assistant" and not _ASKED_BACK.search(plain(passage["text"]))
    ]
    user_statements = [passage for passage in statements if "?" not in str(passage["text"])] or statements
    best = max((float(passage.get("score") or 0) for passage in user_statements), default=0.0)
    note = _say("past", language)
    lines = [
        f"- {_day(passage, language)}: “{str(passage['text'])[:300]}”{note if passage.get('superseded') else ''}"
        for passage in user_statements
        if float(passage.get("score") or 0) >= best / 2
    ]
    return _listed("passages", lines, language)


def _news(body: Fields, language: Language) -> str:
    lines = [
        f"- {moment(str(published_on(str(item['time']))), language)}: {item['title']} ({item['source']})"
        for item in _list(body, "items")
    ]
    return _listed("news", lines, language, symbol=body["symbol"])


def _figures(body: Fields, language: Language) -> str:
    names = ("pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield", "beta")
    known = [_named(name, body[name], language) for name in names if body.get(name) is not None]
    unknown = [figure_name(name, language) for name in names if body.get(name) is None]
    missing = f" ({_say('lacks', language, names=', '.join(unknown))})" if unknown else ""
    return f"{body['symbol']}, {body.get('period')}: {'; '.join(known)}{missing}. {_source(body, language)}"


def _named(name: str, value: float, language: Language) -> str:
    """A figure with its name; shares as percentages."""
    share = name in _PERCENT_FIGURES
    return f"{figure_name(name, language)} {percent(value, language) if share else figure(round(value, 2), language)}"


def _indicators(body: Fields, language: Language) -> str:
    parts: list[str] = []
    for name, values in cast("dict[str, Any]", body.get("indicators") or {}).items():
        fields = cast("dict[str, Any]", values) if isinstance(values, dict) else {"value": values}
        shown = [
            number(value, language) if key == "value" else f"{key} {number(value, language)}"
            for key, value in fields.items()
            if isinstance(value, float)
        ]
        parts.append(f"{name} {', '.join(shown) or '–'}")
    return f"{body['symbol']} ({body['timeframe']}): {'; '.join(parts)}. {_source(body, language)}"


def rsi_state(body: Fields, language: Language) -> str:
    """Whether the RSI of a result is overbought, oversold or neither; "" if it has none."""
    indicator = cast("Fields", body.get("indicators") or {}).get("RSI")
    rsi = cast("Fields", indicator).get("value") if isinstance(indicator, dict) else indicator
    if not isinstance(rsi, int | float):
        return ""
    return _say("overbought" if rsi > 70 else "oversold" if rsi < 30 else "neither_overdone", language)


def _snapshot(body: Fields, language: Language) -> str:
    lines: list[str] = []
    for symbol, figures in cast("dict[str, Fields]", body.get("tickers") or {}).items():
        returns = cast("Fields", figures.get("returns") or {})
        moved = [
            f"{period_name(name, language)} {signed(percent(returns[name], language))}"
            for name in PERIODS[1:]  # a day's move is told with the price
            if returns.get(name) is not None
        ]
        further = [_named(name, figures[name], language) for name in _SNAPSHOT_FIGURES if figures.get(name) is not None]
        lines.append(f"- {symbol}: {', '.join(moved) or '–'}" + "".join(f"; {figure_text}" for figure_text in further))
    unknown = ", ".join(str(figures["ticker"]) for figures in _list(body, "errors"))
    if unknown:
        lines.append(f"- {_say('no_data_of', language, symbol=unknown)}")
    return "\n".join([_say("moves", language), *lines, "", _source(body, language)])


def _performance(body: Fields, language: Language) -> str:
    figures = cast("list[Fields]", body.get("figures") or [])
    text = derived_text(
        [
            {"ticker": ticker, "derived": figures}
            for ticker in dict.fromkeys(str(figure["ticker"]) for figure in figures)
        ],
        language,
    )
    unknown = [f"- {entry['ticker']}: {entry['error']}" for entry in _list(body, "errors")]
    return "\n".join([text or _say("no_data", language), *unknown, "", _source(body, language)])


def _bars(body: Fields, language: Language) -> str:
    bars = cast("list[Fields]", body.get("bars") or [])
    if not bars:
        return _say("no_data", language)
    first, last = bars[0], bars[-1]
    begun, ended = number(first["close"], language), number(last["close"], language)
    start, end = _day(first, language), _day(last, language)
    if start == end:
        start, end = moment(first["time"], language), moment(last["time"], language)
    elif body.get("timeframe") == "1w":  # a bar bears its week's first day, and its close is of the last
        start, end = (_say("week_of", language, day=day) for day in (start, end))
    stretch = {"begun": begun, "start": start, "ended": ended, "end": end}
    return _say("bars", language, symbol=body["symbol"], **stretch, source=_source(body, language))


def _dates(body: Fields, language: Language) -> str:
    lines: list[str] = []
    for symbol, dates in cast("dict[str, Fields]", body.get("tickers") or {}).items():
        known = {kind: dates.get(f"next_{kind}_date") for kind in ("earnings", "dividend")}
        lines_of_symbol = [_say(kind, language, day=moment(str(day), language) if day else _say("undated", language))
                for kind, day in known.items()]  # fmt: skip
        lines.append(f"- {symbol}: {', '.join(lines_of_symbol) if any(known.values()) else _say('no_date', language)}")
    lines += [f"- {_say('no_data_of', language, symbol=dates['ticker'])}" for dates in _list(body, "errors")]
    return "\n".join([_say("dates", language), *lines, "", _source(body, language)])


def _sentiment(body: Fields, language: Language) -> str:
    label = _said(str(body["label"]), language)
    score = number(body["score"], language)
    return _say("sentiment", language, symbol=body["symbol"], label=label, score=score, source=_source(body, language))


def _signals(body: Fields, language: Language) -> str:
    prediction = _said(str(body["prediction"]), language)
    accuracy, skill = (percent(body[name], language) for name in ("accuracy", "skill_vs_base"))
    parts = {
        "symbol": body["symbol"],
        "horizon": body["horizon"],
        "meant": prediction,
        "accuracy": accuracy,
        "skill": skill,
    }
    return _say("signals", language, **parts, source=_source(body, language))


def _features(body: Fields, language: Language) -> str:
    names = ", ".join(
        f"{feature['name']} ({percent(feature['importance'], language)})"
        for feature in _list(body, "features")[:_MAX_FEATURES]
    )
    return _say("features", language, symbol=body["symbol"], names=names, source=_source(body, language))


def _concept(body: Fields, language: Language) -> str:
    related = ", ".join(map(str, body.get("related") or ()))
    more = _say("related", language, names=related) if related else ""
    return f"{body['concept']}: {body['explanation']}{more}"


def _source(body: Fields, language: Language) -> str:
    return _say("source", language, as_of=moment(body.get("as_of"), language), source=body.get("source"))


def _day(item: Fields, language: Language) -> str:
    return moment(str(item["time"])[:10], language)


def _listed(kind: str, lines: list[str], language: Language, **parts: object) -> str:
    """The lines under their title, or the remark that there is nothing of the kind."""
    return "\n".join([_say(kind, language, **parts), *lines]) if lines else _say(f"no_{kind}", language)


def _first_lines(body: Fields, name: str, language: Language, line: Callable[[Fields, Language], str]) -> list[str]:
    """A line for each of the first items, and how many more there are."""
    lines = [line(item, language) for item in _list(body, name)]
    further = len(body.get(name) or ()) - len(lines)
    return [*lines, _say("further", language, count=further)] if further > 0 else lines


def _list(body: Fields, name: str) -> list[Fields]:
    return cast("list[Fields]", body.get(name) or [])[:_MAX_ROWS]


_FIXED_ANSWERS = {"cancel_paper_order": "cancelled", "delete_alert": "deleted"}
"""Tools whose result is always given in the same words."""
_FUNCTIONS: dict[str, Callable[[Fields, Language], str]] = {
    "market_analysis": report_in_chat,
    "get_price": _price,
    "calculate_position_size": _position_size,
    "calculate_risk_reward": _risk_reward,
    "create_paper_order": _order,
    "get_portfolio": _portfolio,
    "get_trade_history": _history,
    "get_pending_orders": _orders,
    "get_watchlist": _watchlist,
    "add_to_watchlist": _watchlist,
    "remove_from_watchlist": _watchlist,
    "create_alert": _alert,
    "list_alerts": _alerts,
    "search_memory": _passages,
    "get_news": _news,
    "get_fundamentals": _figures,
    "get_indicators": _indicators,
    "get_ohlcv": _bars,
    "market_snapshot": _snapshot,
    "get_correlation": _performance,
    "get_performance": _performance,
    "get_ml_signals": _signals,
    "get_ml_features": _features,
    "get_sentiment": _sentiment,
    "fundamentals_events": _dates,
    "explain_concept": _concept,
    "get_market_hours": market_hours,
}
