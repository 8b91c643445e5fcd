"""Tools that are asked for by their words alone, in whatever order: "anything pending?", "¿cómo va mi cuenta?".

Where no phrase of the grammar fits, a question all of whose telling words belong to one tool asks for that tool. One
word more that says something is about something else.
"""

import re

from agent.domain.offline.common_words import is_common, telling
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.lexicon import keys_of
from agent.domain.text_features import stem, symbols_in

_WORDS: dict[str, str] = {
    "get_pending_orders": "pending waiting unfilled open pendiente espera abierto",
    "get_portfolio": "account balance invested holding stock share position portfolio cuenta saldo invertido accion "
    "posicion cartera titulo buying purchasing power cash money efectivo dinero liquidez",
    "get_trade_history": "bought sold traded trade comprado vendido compre vendi operacion",
}  # fmt: skip
_OF_SHARES: dict[str, str] = {
    "get_news": "news headline press story gossip rumour chisme article movida movidas noticia titular novedad "
    "rumor prensa",
    "fundamentals_events": "next time when earning result report figure announce release publish quarterly resultado "
    "publica presenta cuenta proximo proxima cuando trimestre fecha date day",
    "get_fundamentals": "dividend yield eps revenue sale profit margin cap capitalization valuation fundamental beta "
    "earning income debt ventas beneficio ganancia dividendo capitalizacion facturacion ingreso deuda market pe",
    "get_ohlcv": "chart graph plot candle bar grafico grafica vela history evolucion",
    "market_snapshot": "performance return drawdown volatility volatile risk risky rise fall gain drop move "
    "rendimiento rentabilidad caida volatil volatilidad arriesgado subida bajada",
    "get_sentiment": "sentiment mood vibe feeling animo sentimiento ambiente",
    "get_price": "price quote worth precio cotizacion cotiza valor",
}
"""Of a share that the text names."""
_BESIDE = "doing left now today current overall total llevo queda ahora hoy actual"
"""Said of any of them."""
_SHARE_ROWS = {tool: frozenset(map(stem, words.split())) for tool, words in _OF_SHARES.items()}
_ROWS = {tool: frozenset(map(stem, words.split())) for tool, words in _WORDS.items()}
_LEFT_OUT = frozenset(map(stem, _BESIDE.split()))
_OWN = re.compile(r"\b(?:my|i|i ve|we|our|mis?|me|nuestr[oa]s?|tengo|llevo|he|hemos)\b|\bany")
_TELL_ME = re.compile(r"\b(?:me|nos) cuent\w+", re.IGNORECASE)
"""What is told, and no account."""
_ABLE = re.compile(r"\b(?:can|could|puedo|podria|podemos)\b")
"""What could be done is not what is there."""
_ASKS = re.compile(
    r"\?|^\W*(?:(?:and|so|hey|ok|y|pues|oye) )*(?:any\w*|what\W?s?|which|how\W?s?|show|see|list|que|cual(?:es)?|como|"
    r"cuant[oa]s?|dime|ver|muestra\w*|ensena\w*|hay|algo)\b"
)


def by_words(text: str, said: str) -> ToolPhrase | None:
    """The tool that a question about what is one's own consists of the words of; `said`: the text, plain."""
    words = frozenset(map(stem, without_symbols(_TELL_ME.sub(" ", text)))) - _LEFT_OUT
    if not words or not _OWN.search(said) or not _ASKS.search(said) or _ABLE.search(said):
        return None
    tool = next((tool for tool, known in _ROWS.items() if words <= known), None)
    return ToolPhrase(tool, _ASKS) if tool else None


def by_share_words(text: str) -> ToolPhrase | None:
    """The look-up of a share that all telling words of a text belong to: "is there any gossip about IBM?"."""
    words = {stem(word): is_common(keys_of(word)) for word in without_symbols(text) if word != "its"}
    if not symbols_in(text):
        return None
    fitting = (tool for tool, known in _SHARE_ROWS.items() if known & words.keys())
    tool = next(
        (tool for tool in fitting if all(common or word in _SHARE_ROWS[tool] for word, common in words.items())), None
    )
    return ToolPhrase(tool, _ASKS, about=True) if tool else None


def without_symbols(text: str) -> list[str]:
    """The telling words of a text that name no share."""
    return [word for word in telling(text) if not symbols_in(word)]
