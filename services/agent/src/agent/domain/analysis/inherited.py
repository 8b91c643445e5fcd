"""Completes a message with the parts that it leaves out and the question before it has: what is asked, and of when.

"and IBM in 2010?" asks what was asked of AAPL in 2009; "and AAPL's?", after "what is a Sharpe ratio?", for AAPL's.
"""

from agent.domain.analysis import follow_up_patterns as patterns
from agent.domain.analysis.amounts import amount_in
from agent.domain.analysis.asked import is_analysis
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_parts import period_of, with_tickers_as, words_left
from agent.domain.analysis.question_patterns import BACKTEST_REQUEST, HAD_BOUGHT, PER_RISK, RECOVERED
from agent.domain.analysis.stretches import BLANK, MARK, UnreadText, main_period, take_periods
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE, SNAPSHOT
from agent.domain.claims.lexer import folded
from agent.domain.text_features import plain
from agent.domain.tickers import tickers_in
from contracts.expressions import expression

_AMOUNT = expression(
    r"\W*(?:(?:and|y|what|if|it|i|were|was|had|been|put|with|only|si|fueran?|fuesen?|hubiera|puesto|con|solo|que|tal)\W+)*"
    r"[$€]?(?P<sum>\d[\d.,]*k?)(?: ?(?P<unit>dollars?|usd|euros?|dolares|[$€]))?\W*"
)
"""A message that only names another amount."""
_AT_RISK = expression(r"\b(?:risk\w*|arriesg\w*|stop)\b")
"""A question how large a position may be, whose amount is not invested."""
_SOLD = expression(r"\b(?:if|si)\b.*\b(?:sold|vendid[oa]s?|vendo|vendia|vendiera)\b")
_MAX_WORDS = 12
"""Maximum words of a message that leaves out a part of its question."""


def complete_term(text: str, question: str) -> str | None:
    """A message that names a ticker but no figure, with the figure or rule whose meaning was asked before."""
    definition = patterns.DEFINES.match(plain(question))
    if definition is None or tickers_in(question) or not patterns.OTHER_TICKER.fullmatch(_marked(text)):
        return None
    term = plain(question)[definition.end() :].strip(" ?.")
    completed = f"{text.strip(' ?.¿')}: {term}"
    is_measured = read_question(term, ()).figures or PER_RISK.search(term)
    return completed if is_measured or BACKTEST_REQUEST.search(folded(completed)) else None


def complete_parts(text: str, question: str) -> str | None:
    """A message that goes on with the analysis before it, with what that asked: its figures, if the message names only
    a ticker and a period, or its days, if it names only a ticker and a figure. A recovery is from a fall of before."""
    normalized, tickers = plain(text), tickers_in(text)
    goes_on = patterns.GOES_ON.search(normalized) or RECOVERED.search(normalized)
    if len(text.split()) > _MAX_WORDS or not goes_on or not is_analysis(question):
        return None
    reading, names_period = read_question(text, tuple(tickers)), main_period(normalize(text).text).period is not None
    before = tickers_in(normalize(question).text)
    if (
        reading.unread
        or names_period == bool(reading.figures)
        or len(tickers) != 1
        or not (len(before) == 1 or tickers[0] in before)
    ):
        return None
    if reading.figures:
        days = period_of(question, has_lengths=False)
        is_of_days = any(call.tool in (SNAPSHOT, PERFORMANCE, CORRELATION) for call in reading.calls)
        return f"{text.strip(' ?.')} {days}" if days and is_of_days else None
    question = normalize(question).text
    unread = UnreadText(folded(question))
    take_periods(unread)
    return f"{with_tickers_as(tickers[0], words_left(question, unread))}: {period_of(text)}"


def complete_amount(text: str, question: str) -> str | None:
    """The last question about an invested amount, with the other one that the message names: "if it were 5,000?"."""
    match, question = _AMOUNT.fullmatch(plain(text)), normalize(question).text
    unread = UnreadText(folded(question))
    if match is None or amount_in(unread) is None or _AT_RISK.search(plain(question)):
        return None
    first, last = unread.text.index(BLANK), unread.text.rindex(BLANK) + 1
    return f"{question[:first]}{match['sum']} {match['unit'] or 'usd'}{question[last:]}"


def complete_sale(text: str, question: str) -> str | None:
    """The last question about something bought, up to the day of the sale that the message imagines: "and if I had sold
    it in 2015?"."""
    bought, sold = main_period(normalize(question).text).arguments, main_period(normalize(text).text).arguments
    if not _SOLD.search(plain(text)) or not {"start"} <= bought.keys() or "end" not in sold:
        return None
    unread = UnreadText(folded(question))
    take_periods(unread)
    was_bought = amount_in(UnreadText(folded(question))) is not None or HAD_BOUGHT.search(folded(question))
    is_later = str(sold["end"]) > str(bought["start"])
    return (
        f"{words_left(question, unread)} during {bought['start']} to {sold['end']}" if was_bought and is_later else None
    )


def _marked(text: str) -> str:
    """The normalized message with a mark for each ticker."""
    return plain(with_tickers_as(MARK, text))
