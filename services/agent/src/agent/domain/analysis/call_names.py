"""Names a tool call in words for people: "the indicators RSI, MACD (2008-01-01 – 2008-12-31)"."""

from typing import Any

from agent.domain.analysis.wanted_calls import (
    BACKTEST,
    COMPANY,
    CORRELATION,
    CROSSINGS,
    INDICATORS,
    NEWS,
    PERFORMANCE,
    SENTIMENT,
    SNAPSHOT,
)
from contracts.languages import Language


def named(tool: str, arguments: dict[str, Any], language: Language) -> str:
    """What a person calls what was asked for."""
    labels = {
        SNAPSHOT: {"es": "las cifras", "en": "the figures"},
        COMPANY: {"es": "las cifras", "en": "the figures"},
        PERFORMANCE: {"es": "las cifras del periodo", "en": "the figures of the period"},
        CORRELATION: {"es": "la correlación o la beta", "en": "the correlation or beta"},
        CROSSINGS: {"es": "los cruces de medias", "en": "the crossings of averages"},
        BACKTEST: {"es": "la prueba de la regla", "en": "the trial of the rule"},
        NEWS: {"es": "las noticias", "en": "the news"},
        SENTIMENT: {"es": "el tono de las noticias", "en": "the tone of the news"},
        INDICATORS: {"es": "los indicadores", "en": "the indicators"},
    }
    label = labels.get(tool, {"es": tool, "en": tool})[language]
    if tool == INDICATORS:
        label += f" {', '.join(arguments.get('indicators', ()))}"
    if "start" in arguments or "end" in arguments:
        return f"{label} ({arguments.get('start', '…')} – {arguments.get('end', '…')})"
    return f"{label} ({arguments['period']})" if "period" in arguments else label
