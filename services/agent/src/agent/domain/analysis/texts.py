"""The texts of an analysis: the tables [analysis…] of texts/<language>.toml."""

from agent.texts import TEXTS
from contracts.languages import Language


def analysis_text(key: str, language: Language, **parts: object) -> str:
    """The text `analysis.<key>`, with its parts."""
    return TEXTS["analysis." + key].in_language(language).format(**parts)


def note(key: str, language: Language, **parts: object) -> str:
    """A limitation or another remark, as a sentence."""
    return analysis_text("note." + key, language, **parts)


def reason_of(failure: str | None, language: Language) -> str:
    """The reason for which there is no model reply."""
    reasons = TEXTS.section("analysis.no_model")
    return reasons.get(failure or "", reasons["away"]).in_language(language)
