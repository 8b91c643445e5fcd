"""A concept of the glossary, and what a search returns or raises if it finds none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from contracts.languages import LANGUAGES, Language
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.texts import TEXTS

Level = Literal["beginner", "intermediate", "advanced"]
LEVELS: Final[tuple[Level, ...]] = ("beginner", "intermediate", "advanced")

_MAX_QUOTED_CHARS = 80


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept. `names` and `synonyms` of either language find it; `related` are ids of other concepts."""

    id: str
    names: Mapping[Language, str]
    synonyms: Mapping[Language, tuple[str, ...]]
    explanations: Mapping[Language, Mapping[Level, str]]
    related: tuple[str, ...]
    lookalikes: tuple[str, ...] = ()
    """Words that could be misspellings of this concept but mean something else."""

    def phrases(self) -> tuple[str, ...]:
        """Returns the names and synonyms in both languages, names first."""
        names = tuple(self.names[language] for language in LANGUAGES)
        return names + tuple(synonym for language in LANGUAGES for synonym in self.synonyms[language])


@dataclass(frozen=True, slots=True)
class NotFound:
    """The text names no concept for certain. `suggestions`: at most three similar concepts, the most similar first."""

    suggestions: tuple[Concept, ...] = ()


class Explained(TypedDict):
    """The result of explain_concept, in the caller's language; `related` holds names that the tool accepts."""

    concept: str
    explanation: str
    related: list[str]


class UnknownConceptError(ToolFailedError):
    """The glossary has no such concept.

    Args:
        text: the text that was looked up.
        suggestions: names of similar concepts, in `language`.
        language: the language of the message.
    """

    def __init__(self, text: str, suggestions: tuple[str, ...], language: Language) -> None:
        quote = " ".join(text.split())
        if len(quote) > _MAX_QUOTED_CHARS:
            quote = quote[: _MAX_QUOTED_CHARS - 1] + "…"
        message = TEXTS["glossary.unknown"].in_language(language).format(text=quote)
        if suggestions:
            message = (
                TEXTS["glossary.perhaps"].in_language(language).format(unknown=message, names=", ".join(suggestions))
            )
        super().__init__("unknown_concept", message)
        self.suggestions = suggestions
