"""The glossary of the service, loaded once at the start."""

from collections.abc import Iterable
from importlib.resources.abc import Traversable
from typing import Self

from contracts.languages import language_of_tags
from tool_executor.domain.glossary.concept import Concept, Explained, Level, NotFound, UnknownConceptError
from tool_executor.domain.glossary.finder import Finder
from tool_executor.domain.glossary.loader import load_concepts, packaged_files


class Glossary:
    """Concepts by id, and a search for them. Immutable. Finding a name takes some µs, finding nothing about 1 ms."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concepts = {concept.id: concept for concept in concepts}
        self._finder = Finder(self._concepts.values())

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Loads the glossary from a folder of .toml files, by default the one that comes with the package.

        Raises:
            GlossaryError: with one line for each mistake in the files.
        """
        return cls(load_concepts(packaged_files() if folder is None else folder))

    @property
    def concepts(self) -> tuple[Concept, ...]:
        """All concepts, theme by theme."""
        return tuple(self._concepts.values())

    def find(self, text: str) -> Concept | NotFound:
        """Finds the concept that a text names: by name or synonym in either language, in a question, or misspelled."""
        return self._finder.find(text)

    def explain(self, concept_text: str, level: Level = "beginner", language: str = "es") -> Explained:
        """Explains the concept that a text names, in `language` (a tag such as es, en or en-GB; Spanish for others).

        Raises:
            UnknownConceptError: the text names none; its message, in the same language, suggests similar ones.
        """
        text_language = language_of_tags(language)
        concept = self.find(concept_text)
        if isinstance(concept, NotFound):
            names = tuple(similar.names[text_language] for similar in concept.suggestions)
            raise UnknownConceptError(concept_text, names, text_language)
        return {
            "concept": concept.names[text_language],
            "explanation": concept.explanations[text_language][level],
            "related": [self._concepts[related_id].names[text_language] for related_id in concept.related],
        }
