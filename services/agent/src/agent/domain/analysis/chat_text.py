"""Shows a report in a chat: its summary, the sources of the figures, and what the reader must know about them."""

from typing import Any

from agent.domain.analysis.formats import day
from agent.texts import TEXTS
from contracts.languages import Language

MAX_LIMITATIONS = 4


def report_in_chat(report: dict[str, Any], language: Language) -> str:
    """Plain text with a few paragraphs; figures as the summary has them."""
    parts = [str(report["summary"])]
    sources: dict[str, list[str]] = {}
    for one in report["sources"]:
        reports = sources.setdefault(f"{one['ticker']}: {one['source']}, {day(one['as_of'], language)}", [])
        if one.get("report"):
            reports.append(str(one["report"]))
    if sources:
        lines = (f"- {'; '.join([told_from, *reports])}" for told_from, reports in sources.items())
        parts.append("\n".join([TEXTS["analysis.told.sources"].in_language(language), *lines]))
    limitations = [one for one in report["limitations"] if one not in parts[0]][:MAX_LIMITATIONS]
    if limitations and report["findings"]:
        parts.append(
            "\n".join([TEXTS["analysis.told.limitations"].in_language(language), *(f"- {one}" for one in limitations)])
        )
    parts.append(str(report["disclaimer"]))
    return "\n\n".join(parts)
