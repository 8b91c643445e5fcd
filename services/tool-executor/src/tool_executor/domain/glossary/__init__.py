"""Trading concepts explained in Spanish and English at three levels, and found however they are spelled."""

from tool_executor.domain.glossary.concept import (
    LANGUAGES,
    LEVELS,
    Concept,
    Explained,
    Language,
    Level,
    NotFound,
    UnknownConcept,
    language_of,
)
from tool_executor.domain.glossary.glossary import Glossary
from tool_executor.domain.glossary.loader import GlossaryError

__all__ = [
    "LANGUAGES",
    "LEVELS",
    "Concept",
    "Explained",
    "Glossary",
    "GlossaryError",
    "Language",
    "Level",
    "NotFound",
    "UnknownConcept",
    "language_of",
]
