"""The executor's texts for people and models; one file for each language."""

from typing import TypedDict

from contracts.text import Text, read_texts

TEXTS = read_texts("tool_executor.texts")


class ToolTexts(TypedDict):
    """A tool's name, its description for models, and the text that a person reads while it runs."""

    name: str
    description: Text
    label: Text


def named(tool: str) -> ToolTexts:
    return {"name": tool, "description": TEXTS[f"tools.{tool}.description"], "label": TEXTS[f"tools.{tool}.label"]}


def in_language(message: Text | str, language: str) -> str:
    """The text in that language; a plain string is one already."""
    return message.in_language(language) if isinstance(message, Text) else message
