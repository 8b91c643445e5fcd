"""The assistant's own sentences, outside a model's answer."""

from agent.texts import TEXTS
from contracts.languages import Language


def without_thoughts(text: str) -> str:
    """A model's answer without its thoughts, as far as they are closed. Linear time for any text."""
    kept: list[str] = []
    said = 0
    while (begin := text.find("<think>", said)) >= 0 and (end := text.find("</think>", begin)) >= 0:
        kept.append(text[said:begin])
        said = end + len("</think>")
    return "".join([*kept, text[said:]])


def failure_text(code: str, language: Language) -> str:
    """The visible text of a turn that ended without an answer."""
    return TEXTS.section("failure").get(code, TEXTS["failure.INTERNAL"]).in_language(language)


def declined_text(language: Language) -> str:
    """The answer when the provider's rules about content withhold the model's."""
    return TEXTS["model.declined"].in_language(language)
