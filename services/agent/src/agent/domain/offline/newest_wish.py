"""Reads the newest message as a wish, with the days that it names relative to today as dates."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from agent.domain.analysis.relative_days import dated_in_turn, days_ago
from agent.domain.offline.calls import OF_PUBLICATION, of_this_year
from agent.domain.offline.intents import wish_in
from agent.domain.offline.listed import chosen_item
from agent.domain.offline.questions import terms
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import symbols_in

_TOOLS_WITH_DAY = (
    *OF_PUBLICATION, "get_ohlcv", "get_indicators", "get_price", "market_snapshot", "get_performance",
    "market_analysis",
)  # fmt: skip
"""Tools that can be asked about a past day: yesterday, last Friday."""


def read_wish(
    question: str,
    earlier_questions: Sequence[str],
    last_reply: str,
    offered: Collection[str],
    market: Mapping[str, Any] | None,
    *,
    trades: bool,
) -> tuple[str, Wish]:
    """Return the question as it was read ("and on Friday?" with its date), and what it asks for.

    `last_reply` is the newest answer; the question may choose an item of its list.
    """
    if trades and last_reply and (chosen_wish := chosen_item(question, last_reply, offered, earlier_questions)):
        return question, chosen_wish
    if not trades:
        return question, wish_in(question, offered, earlier_questions, trades=False)
    current_time = (market or {}).get("current_time")
    market_closed = (market or {}).get("status") in ("after_hours", "closed")
    today = date.fromisoformat(str(current_time)[:10]) if current_time else date.today()
    *dated, dated_question = dated_in_turn([*earlier_questions, question], today, is_session_over=market_closed)
    earlier_questions = dated if current_time else earlier_questions
    wish = wish_in(question, offered, earlier_questions)
    if wish.intent is Intent.REMINDER:
        return question, wish
    if (past_day := days_ago(question, today)) is not None:
        undated, day = past_day
        undated_wish = wish_in(
            undated if terms(undated) or symbols_in(undated) or not earlier_questions else earlier_questions[-1],
            offered,
            earlier_questions,
        )
        # "What did it cost a year ago?" is about that day, "how did it do?" about the year since.
        dated_question = (
            f"{undated} {day}"
            if [tool for tool, _ in undated_wish.calls] == ["get_price"] and not undated_wish.way
            else dated_question
        )
    wish = of_this_year(wish, question, today)
    dated_wish = wish_in(dated_question, offered, earlier_questions) if dated_question != question else wish
    if dated_question == question or not dated_wish.calls or dated_wish.calls[0][0] not in _TOOLS_WITH_DAY:
        return question, wish
    return (dated_question, dated_wish) if current_time else (question, Wish(Intent.NO_DAY))
