"""The texts of an analysis besides its figures: refusals, limitations, the disclaimer (texts/<language>.toml)."""

from agent.texts import TEXTS
from contracts.languages import Language


def disclaimer(language: Language) -> str:
    """Returns the text below every analysis."""
    return TEXTS["analysis.disclaimer"].in_language(language)


def plain_reason(key: str, language: Language) -> str:
    """The reason for which something is not answered."""
    return TEXTS[f"analysis.not_answered.{key}"].in_language(language)


def reason_of(failure: str | None, language: Language) -> str:
    """The reason for which there is no model reply."""
    reasons = TEXTS.section("analysis.no_model")
    return reasons.get(failure or "", reasons["away"]).in_language(language)


def note(key: str, language: Language, **parts: object) -> str:
    """A limitation or another remark, as a sentence."""
    return TEXTS[f"analysis.note.{key}"].in_language(language).format(**parts)


def plain_summary(key: str, language: Language, **parts: object) -> str:
    """The summary of an answer that has no figures."""
    return TEXTS[f"analysis.summary.{key}"].in_language(language).format(**parts)
