"""What a customer wants of the copilot, by rules: orders, portfolio, watchlist, alerts, research, earlier talks."""

import re
from collections.abc import Callable, Collection
from typing import Any

from agent.domain.offline.reading import number_of, plain, symbols_in

Call = tuple[str, dict[str, Any]]

_NUMBER = r"\d[\d.,]*(?:\s?k\b)?"
_BUY = r"buy|compra|compras|comprar|compro|comprame"
_SELL = r"sell|vende|vendes|vender|vendo|vendeme"
_ORDER = re.compile(
    rf"^(?:[^\d?]{{0,40}}\b)?(?P<side>{_BUY}|{_SELL})\b(?!\s+(?:or|o)\b)(?:me)?\s*"
    rf"(?:(?P<quantity>{_NUMBER})\s*(?:shares?|acciones|units?|unidades|titulos)?)?",
)
_ADVICE = re.compile(
    r"\b(should i|shall i|when to|is it (?:good|wise)|deberia|debo|conviene|cuando|how (?:do|can)|como)\b"
)
_LIMIT = re.compile(
    rf"\b(?:limit(?:e)?|at most|no more than|como mucho|maximo|at|a|@|por)\s*(?:de |of |at |a )?\$?(?P<price>{_NUMBER})"
)
_STOP = re.compile(rf"\bstop(?:\s?-?loss)?\s*(?:at|a|en|of|de)?\s*\$?(?P<price>{_NUMBER})")
_MARKET = re.compile(r"\b(market|mercado)\b")
_PORTFOLIO = re.compile(
    r"\b(portfolio|positions?|holdings?|cash|what do i (?:own|hold|have)|cartera|portafolio|posiciones|"
    r"que tengo|mi efectivo|mis acciones)\b"
)
_MINE = re.compile(r"\b(my|i|mi|mis|tengo)\b")
_HISTORY = re.compile(r"\b(trade history|my trades|past trades|historial|mis operaciones|operaciones pasadas)\b")
_PENDING = re.compile(r"\b(pending orders?|open orders?|my orders?|ordenes (?:pendientes|abiertas)|mis ordenes)\b")
_CANCEL = re.compile(r"\b(?:cancel|cancela|cancelar|anula)\b.*\b(?:order|orden)\b(?:\s+(?P<id>[0-9a-f]{16,64}))?")
_WATCHLIST = re.compile(r"\b(watch ?list|lista de seguimiento|mi lista|favou?rites|favoritos)\b")
_ADD = re.compile(r"\b(add|follow|put|agrega|agregar|anade|anadir|sigue|seguir|pon)\b")
_REMOVE = re.compile(r"\b(remove|delete|unfollow|drop|take .* off|quita|quitar|elimina|borra|deja de seguir)\b")
_ALERT = re.compile(r"\b(alerts?|alertas?|notify me|tell me when|let me know (?:when|if)|avisame|avisa|notificame)\b")
_ABOVE = re.compile(
    r"\b(above|over|reaches|hits|exceeds|rises|goes up|>=?|encima|supere|pase|pasa|llegue|suba|alcance)\b|>=?"
)
_BELOW = re.compile(r"\b(below|under|falls?|drops?|goes down|debajo|baje|baja|caiga|cae)\b|<=?")
_DELETE_ALERT = re.compile(
    r"\b(?:delete|remove|cancel|borra|elimina|quita)\b.*\b(?:alert|alerta)\b\s+(?P<id>[0-9a-f]{16,64})"
)
_TALKED = re.compile(
    r"\b(?:did we (?:talk|speak|discuss)|what did (?:we|i) (?:say|talk|discuss|tell you)|we talked|"
    r"have i (?:told|said)|search (?:our|my) (?:conversations?|chats?|history)|de que hablamos|que hablamos|"
    r"que dijimos|que te (?:dije|conte)|hablamos de|busca en (?:nuestras|mis) (?:conversaciones|charlas))\b"
    r"(?: (?:about|for|on|de|sobre))?(?P<what>.*)"
)
_NEWS = re.compile(r"\b(news|headlines|noticias|titulares)\b")
_FIGURES = re.compile(
    r"\b(fundamentals?|p/?e|earnings|eps|revenue|market cap|fundamentales|beneficios|ingresos|capitalizacion)\b"
)
_INDICATOR = re.compile(r"\b(rsi|macd|bb|bollinger|sma|ema|atr|vwap|obv|adx)\b")
_CHART = re.compile(r"\b(chart|graph|candles|history of|grafico|grafica|velas|evolucion)\b")
_MOVES = re.compile(
    r"\b(compar\w+|versus|vs|perform\w*|how (?:did|has)|returns?|drawdown|rendimiento|rentabilidad|"
    r"como (?:le )?(?:fue|va|ha ido)|last (?:week|month|quarter|year)|(?:ultim[oa]|pasad[oa]) (?:semana|mes|ano))\b"
)
_SIGNALS = re.compile(r"\b(prediction|predict|forecast|ml|signals?|prediccion|pronostico|senales?)\b")
_EXPLAIN = re.compile(
    r"^\W*(?:what (?:is|are|does)|what\W?s|explain(?: to me)?|define|tell me about|que (?:es|son|significa)|"
    r"explica(?:me)?|define(?:me)?)(?: (?:an?|the|un|una|el|la|los|las))? (?P<what>[\w /-]{2,60}?)(?: mean| work)?\W*$"
)
_NAMES = {"bollinger": "BB"}
_INDICATORS = ("RSI", "MACD", "BB", "SMA", "EMA", "ATR", "VWAP", "OBV", "ADX")


def copilot_calls(text: str, offered: Collection[str]) -> tuple[tuple[Call, ...], str | None, tuple[str, ...]]:
    """(calls, tool that is not offered, missing figures) of what the text asks for; all empty: none of this."""
    said, symbols = plain(text), symbols_in(text)
    for find in _FINDERS:
        found = find(said, symbols)
        if found is None:
            continue
        calls, missing = found
        if calls and calls[0][0] not in offered:
            return (), calls[0][0], ()
        return calls, None, missing
    return (), None, ()


_Found = tuple[tuple[Call, ...], tuple[str, ...]] | None


def _order(said: str, symbols: list[str]) -> _Found:
    match = _ORDER.search(said)
    if match is None or len(symbols) != 1 or "?" in said or _ADVICE.search(said) or _ALERT.search(said):
        return None
    side = "buy" if re.fullmatch(_BUY, match["side"]) else "sell"
    rest = said[match.end() :]
    stop, limit = _STOP.search(rest), _LIMIT.search(_STOP.sub(" ", rest))
    if _MARKET.search(rest):
        limit = None
    arguments: dict[str, Any] = {"symbol": symbols[0], "side": side}
    if match["quantity"] is None:
        return (("create_paper_order", arguments),), ("quantity",)
    arguments["quantity"] = number_of(match["quantity"])
    kind = "stop_limit" if stop and limit else "stop" if stop else "limit" if limit else "market"
    arguments["order_type"] = kind
    if limit is not None:
        arguments["limit_price"] = number_of(limit["price"])
    if stop is not None:
        arguments["stop_price"] = number_of(stop["price"])
    return (("create_paper_order", arguments),), ()


def _orders(said: str, symbols: list[str]) -> _Found:
    del symbols
    cancel = _CANCEL.search(said)
    if cancel is not None and cancel["id"]:
        return (("cancel_paper_order", {"order_id": cancel["id"]}),), ()
    if cancel is not None or _PENDING.search(said):
        return (("get_pending_orders", {}),), ()
    return ((("get_trade_history", {}),), ()) if _HISTORY.search(said) else None


def _alerts(said: str, symbols: list[str]) -> _Found:
    delete = _DELETE_ALERT.search(said)
    if delete is not None:
        return (("delete_alert", {"alert_id": delete["id"]}),), ()
    if not _ALERT.search(said):
        return None
    numbers = [match[0] for match in re.finditer(_NUMBER, said)]
    if len(symbols) == 1 and numbers:
        condition = "<=" if _BELOW.search(said) else ">=" if _ABOVE.search(said) else "=="
        return (("create_alert", {"symbol": symbols[0], "condition": condition, "price": number_of(numbers[-1])}),), ()
    return (("list_alerts", {}),), ()


def _watchlist(said: str, symbols: list[str]) -> _Found:
    if not _WATCHLIST.search(said):
        return None
    if symbols and _REMOVE.search(said):
        return tuple(("remove_from_watchlist", {"symbol": symbol}) for symbol in symbols), ()
    if symbols and _ADD.search(said):
        return tuple(("add_to_watchlist", {"symbol": symbol}) for symbol in symbols), ()
    return (("get_watchlist", {}),), ()


def _portfolio(said: str, symbols: list[str]) -> _Found:
    del symbols
    return ((("get_portfolio", {}),), ()) if _PORTFOLIO.search(said) and _MINE.search(said) else None


def _talked(said: str, symbols: list[str]) -> _Found:
    del symbols
    match = _TALKED.search(said)
    what = match["what"].strip(" ?.!") if match else ""
    return ((("search_memory", {"query": what[:200]}),), ()) if len(what) > 1 else None


def _research(said: str, symbols: list[str]) -> _Found:
    if not symbols:
        return None
    symbol = symbols[0]
    if _NEWS.search(said):
        return (("get_news", {"symbol": symbol}),), ()
    if _FIGURES.search(said):
        return (("get_fundamentals", {"symbol": symbol}),), ()
    if _INDICATOR.search(said):
        named = [_NAMES.get(match[0], match[0].upper()) for match in _INDICATOR.finditer(said)]
        wanted = [name for name in _INDICATORS if name in named]
        return (("get_indicators", {"symbol": symbol, "indicators": wanted}),), ()
    if _SIGNALS.search(said):
        return (("get_ml_signals", {"symbol": symbol}),), ()
    if _MOVES.search(said):
        return (("market_snapshot", {"tickers": symbols}),), ()
    if _CHART.search(said):
        return (("get_ohlcv", {"symbol": symbol, "timeframe": "1d", "limit": 60}),), ()
    return None


def _explain(said: str, symbols: list[str]) -> _Found:
    del symbols
    match = _EXPLAIN.match(said)
    if match is None or not _CONCEPT.search(match["what"]):
        return None
    return (("explain_concept", {"concept": match["what"].strip()}),), ()


_CONCEPT = re.compile(
    r"\b(rsi|macd|sma|ema|atr|vwap|obv|adx|bollinger|bands?|stop|limit|order|drawdown|dividend\w*|p/?e|eps|beta|etf|"
    r"volatilit\w+|volatilidad|diversif\w+|liquid\w+|margin|spread|support|resistance|soporte|resistencia|risk|riesgo|"
    r"momentum|trend|tendencia|moving average|media movil|compound|interes|swing|scalping|day trading|position|"
    r"posicion|orden|short|corto|option\w*|opcion\w*|bono?s?|bonds?|inflation|inflacion|sharpe|correlation|correlacion|"
    r"overbought|oversold|divergenc\w+|capitali[sz]a\w+|hedg\w+|cobertura|leverage|apalancamiento|bull(?:ish)?|bear(?:ish)?|"
    r"alcista|bajista|candle\w*|velas?|slippage|deslizamiento|futures?|futuros?|ipo|take profit|breakout|ruptura|gaps?|"
    r"fibonacci|ichimoku|yield|splits?|fomo|staking|stablecoins?|defi|arbitrage|arbitraje|backtest\w*|overfitting)\b"
)
_FINDERS: tuple[Callable[[str, list[str]], _Found], ...] = (
    _alerts,
    _orders,
    _order,
    _watchlist,
    _talked,
    _research,
    _explain,
    _portfolio,
)
