"""Trading concepts, explained in Spanish and English at three levels, and found in any spelling."""

from tool_executor.domain.glossary.concept import LEVELS, Concept, Explained, Level, NotFound, UnknownConceptError
from tool_executor.domain.glossary.glossary import Glossary
from tool_executor.domain.glossary.loader import GlossaryError

__all__ = [
    "LEVELS",
    "Concept",
    "Explained",
    "Glossary",
    "GlossaryError",
    "Level",
    "NotFound",
    "UnknownConceptError",
]
