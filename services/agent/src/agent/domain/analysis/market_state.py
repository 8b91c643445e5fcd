"""Questions how the market as a whole is doing: "how did the market do yesterday?", "¿cómo va la bolsa?"."""

from agent.domain.analysis.asked import language_in
from agent.domain.analysis.question_parts import words_left
from agent.domain.analysis.stretches import UnreadText, take_periods
from agent.domain.claims.lexer import folded
from agent.domain.text_features import plain
from contracts.expressions import expression

_MARKETS = (
    r"(?:(?:all|the|today'?s|el|la|los|las|todas las|de|del|a la|al) )*(?:(?:stock|share|overall|whole) )?"
    r"(?:markets?|stocks|shares|mercados?|bolsas?|acciones)"
)
_FALLS_OR_RISES = r"(?:sub\w+|baj\w+|ca(?:e|en|yo|yeron))"
_MARKET_STATE_WORDS = (
    r"(?:doing|do|done|going|been|behav\w+|perform\w*|look\w*|mov\w+|today|yesterday|now|right|lately|so far|this|"
    r"since|over|during|in \d{4}|in general|hoy|ayer|ahora|est[ae]|desde|durante|en \d{4}|ultimamente|en general)"
)
MARKET_STATE = expression(
    r"\b(?:how(?:'s| (?:is|are|was|were|did|has|have))|que tal(?: (?:le )?(?:va|van|anda|esta|fue|ha ido))?|"
    r"como (?:le |les )?"
    r"(?:va|van|iba|anda|andan|esta|estan|fue|fueron|ha ido|han ido|cerro|cerraron|abrio|abrieron))(?: hoy| ayer)? "
    rf"{_MARKETS}(?=\W*$|[?!.,;]| {_MARKET_STATE_WORDS}\b)"
    rf"|\b(?:is|are|was|were|did|has|have) {_MARKETS} "
    r"(?:up|down|rising|falling|risen|fallen|rise|fall|in the (?:red|green))\b"
    rf"|\bwhat(?:\W?s| is| are| was) {_MARKETS} (?:doing|up to)\b"
    rf"|\b{_FALLS_OR_RISES}(?: o {_FALLS_OR_RISES})? (?:hoy |ayer )?(?:el mercado|la bolsa|las bolsas|los mercados)\b"
    rf"|\b(?:el mercado|la bolsa|las bolsas|los mercados) (?:{_FALLS_OR_RISES}|esta en (?:verde|rojo))\b"
    r"|\bmarkets? (?:summary|overview|recap|update|report)\b|\b(?:summary|overview|recap) of (?:the )?markets?\b"
    r"|\bresumen (?:del mercado|de (?:la bolsa|los mercados))\b"
    r"|\b(?:what(?:'s| is| has| was)?|anything|something) (?:been )?"
    rf"(?:happen\w*|going on|mov(?:ed|ing)|new|interesting) (?:(?:today|yesterday) )?(?:in|on|with) {_MARKETS}\b"
    r"|^\W*what(?:'s| is| has)? mov(?:ed|ing)(?: today| yesterday)?\W*$"
    rf"|\bque (?:pasa|paso|ha pasado|hay|se mueve|se movio)(?: de nuevo)?(?: hoy| ayer)? (?:en|con) {_MARKETS}\b"
)


def market_question(text: str) -> str | None:
    """A question how the market is doing, as one for the moves of all tickers over the period that it names, or the
    last session. None if the text asks something else."""
    if not MARKET_STATE.search(plain(text)):
        return None
    unread = UnreadText(folded(text))
    take_periods(unread)
    period = words_left(text, unread, taken=True)
    if language_in(text, "en") == "es":
        return f"¿Qué acciones han subido más {period or 'hoy'}?"
    return f"Which stocks rose most {period or 'today'}?"
