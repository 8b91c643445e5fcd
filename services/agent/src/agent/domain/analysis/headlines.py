"""Writes requested headlines, each with its source and date."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from agent.domain.analysis.formats import day
from agent.domain.analysis.texts import told
from contracts.languages import Language

_NEW_YORK = ZoneInfo("America/New_York")


def news_text(finding: Mapping[str, Any], language: Language) -> list[str]:
    items = cast("Sequence[Mapping[str, Any]]", finding.get("news") or ())
    if not items:
        return []
    return [
        told("told.headlines", language, ticker=finding["ticker"]),
        *(f"- {item['title']} ({item['source']}, {day(_published(str(item['time'])), language)})" for item in items),
    ]


def _published(moment: str) -> date:
    """The day in New York. Sources that only know the day give the end of that day."""
    time = datetime.fromisoformat(moment)
    return time.astimezone(_NEW_YORK).date() if time.tzinfo else time.date()
