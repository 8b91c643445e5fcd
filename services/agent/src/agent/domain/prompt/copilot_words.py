"""The words of the copilot's sections, by language and key: the tables [copilot…] of texts/<language>.toml."""

from collections.abc import Mapping

from agent.texts import TEXTS
from contracts.languages import LANGUAGES, Language

Words = Mapping[str, str]
_CODED = ("risks", "experiences", "styles", "languages")

WORDS: Mapping[Language, Words] = {
    language: {key: text.in_language(language) for key, text in TEXTS.section("copilot").items()}
    for language in LANGUAGES
}
VALUES: Mapping[Language, Words] = {
    language: {key.rpartition(".")[2]: text for key, text in words.items() if key.split(".")[0] in _CODED}
    for language, words in WORDS.items()
}
"""The words for the values that a memory stores as codes."""
_RULES = ("tools", "warning", "level", "plan", "concise", "missing", "thread", "order", "data")
INSTRUCTIONS = tuple(f"instructions.{rule}" for rule in _RULES)
SUPPORT = ("support.tools", *(f"instructions.{rule}" for rule in ("concise", "missing", "thread", "data")))
"""The instructions of a company that is no trading platform."""
