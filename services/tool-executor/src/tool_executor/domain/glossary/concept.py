"""A concept of the glossary, and the answer if there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from contracts.languages import LANGUAGES, Language
from tool_executor.texts import TEXTS

Level = Literal["beginner", "intermediate", "advanced"]
LEVELS: Final[tuple[Level, ...]] = ("beginner", "intermediate", "advanced")

_LONGEST_QUOTE = 80


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept. `names` and `synonyms` of either language find it; `related` are ids of other concepts."""

    id: str
    names: Mapping[Language, str]
    synonyms: Mapping[Language, tuple[str, ...]]
    explanations: Mapping[Language, Mapping[Level, str]]
    related: tuple[str, ...]
    lookalikes: tuple[str, ...] = ()
    """Words a misspelling away from this concept that mean something else."""

    def phrases(self) -> tuple[str, ...]:
        """Every name and synonym, of both languages; names first."""
        names = tuple(self.names[language] for language in LANGUAGES)
        return names + tuple(synonym for language in LANGUAGES for synonym in self.synonyms[language])


@dataclass(frozen=True, slots=True)
class NotFound:
    """The text names no concept beyond doubt. `suggestions`: at most three that come near, the nearest first."""

    suggestions: tuple[Concept, ...] = ()


class Explained(TypedDict):
    """The data of a call of explain_concept: texts in the caller's language, `related` as names that can be asked."""

    concept: str
    explanation: str
    related: list[str]


class UnknownConceptError(LookupError):
    """The glossary has no such concept.

    Args:
        text: what was asked for.
        suggestions: names, in `language`, of concepts that come near.
        language: of the message.
    """

    def __init__(self, text: str, suggestions: tuple[str, ...], language: Language) -> None:
        asked = " ".join(text.split())
        if len(asked) > _LONGEST_QUOTE:
            asked = asked[: _LONGEST_QUOTE - 1] + "…"
        message = TEXTS["glossary.unknown"].in_language(language).format(text=asked)
        if suggestions:
            message = (
                TEXTS["glossary.perhaps"].in_language(language).format(unknown=message, names=", ".join(suggestions))
            )
        super().__init__(message)
        self.suggestions = suggestions
        self.message = message
