"""The glossary, loaded once at the start."""

from collections.abc import Iterable
from importlib.resources.abc import Traversable
from typing import Self

from contracts.languages import language_of_tags
from tool_executor.domain.glossary.concept import Concept, Explained, Level, NotFound, UnknownConceptError
from tool_executor.domain.glossary.finder import Finder
from tool_executor.domain.glossary.loader import load_concepts, packaged_files


class Glossary:
    """Concepts by id, and a way to find them. Immutable. A name takes some µs, nonsense about 1 ms."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concepts = {concept.id: concept for concept in concepts}
        self._finder = Finder(self._concepts.values())

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """The glossary of a folder of .toml files; without one, the glossary that comes with the package.

        Raises:
            GlossaryError: with one line for each mistake in the files.
        """
        return cls(load_concepts(packaged_files() if folder is None else folder))

    @property
    def concepts(self) -> tuple[Concept, ...]:
        """All concepts, theme by theme."""
        return tuple(self._concepts.values())

    def find(self, text: str) -> Concept | NotFound:
        """The concept named in a text: by name or synonym in either language, in a question, or misspelled."""
        return self._finder.find(text)

    def explain(self, concept_text: str, level: Level = "beginner", language: str = "es") -> Explained:
        """The explanation of what a text names, in `language` (a tag such as es, en or en-GB; Spanish if another).

        Raises:
            UnknownConceptError: the text names none; its message, in the same language, says what comes near.
        """
        spoken = language_of_tags(language)
        found = self.find(concept_text)
        if isinstance(found, NotFound):
            names = tuple(concept.names[spoken] for concept in found.suggestions)
            raise UnknownConceptError(concept_text, names, spoken)
        return {
            "concept": found.names[spoken],
            "explanation": found.explanations[spoken][level],
            "related": [self._concepts[other].names[spoken] for other in found.related],
        }
