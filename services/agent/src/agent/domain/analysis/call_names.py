"""Names a tool call in words for people: "the indicators RSI, MACD (2008-01-01 – 2008-12-31)"."""

from typing import Any

from agent.domain.analysis.wanted_calls import INDICATORS
from agent.texts import TEXTS
from contracts.languages import Language

_LABELS = TEXTS.section("analysis.call")


def call_name(tool: str, arguments: dict[str, Any], language: Language) -> str:
    """Names the results of a call as a person would."""
    label = _LABELS[tool].in_language(language) if tool in _LABELS else tool
    if tool == INDICATORS:
        label += f" {', '.join(arguments.get('indicators', ()))}"
    if "start" in arguments or "end" in arguments:
        return f"{label} ({arguments.get('start', '…')} – {arguments.get('end', '…')})"
    return f"{label} ({arguments['period']})" if "period" in arguments else label
