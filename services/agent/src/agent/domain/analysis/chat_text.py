"""Writes a report for a chat: its summary, the sources of the figures, and their limitations."""

from typing import Any

from agent.domain.analysis.formats import day
from agent.domain.analysis.texts import analysis_text
from contracts.languages import Language

MAX_LIMITATIONS = 4


def report_in_chat(report: dict[str, Any], language: Language) -> str:
    """Returns plain text of a few paragraphs, with the figures as in the summary."""
    paragraphs = [str(report["summary"])]
    sources: dict[str, list[str]] = {}
    for source in report["sources"]:
        reports = sources.setdefault(f"{source['ticker']}: {source['source']}, {day(source['as_of'], language)}", [])
        if source.get("report"):
            reports.append(str(source["report"]))
    if sources:
        lines = (f"- {'; '.join([origin, *reports])}" for origin, reports in sources.items())
        paragraphs.append("\n".join([analysis_text("told.sources", language), *lines]))
    limitations = [f"- {limitation}" for limitation in report["limitations"] if limitation not in paragraphs[0]]
    if limitations and report["findings"]:
        paragraphs.append("\n".join([analysis_text("told.limitations", language), *limitations[:MAX_LIMITATIONS]]))
    paragraphs.append(str(report["disclaimer"]))
    return "\n\n".join(paragraphs)
