"""The prompt with which a small model summarises a conversation."""

import json
from collections.abc import Iterable

from agent.domain.context.compression import PromptMessage
from agent.domain.prompt.messages import task_messages
from agent.texts import TEXTS
from contracts.json_values import JsonObject
from contracts.languages import Language

MAX_CHARACTERS = 60_000
"""Characters of all messages together; older ones are in the earlier summary."""
MAX_MESSAGE_CHARACTERS = 1_500


def summary_messages(earlier: str | None, messages: Iterable[PromptMessage], language: Language) -> list[JsonObject]:
    """The messages of the model call."""
    lines: list[dict[str, str]] = []
    room = MAX_CHARACTERS
    for message in reversed(list(messages)):
        text = message.text[:MAX_MESSAGE_CHARACTERS]
        room -= len(text)
        if room < 0:
            break
        lines.append({"by": "copilot" if message.mine else "customer", "text": text})
    transcript = {"earlierSummary": earlier, "messages": lines[::-1]}
    task = TEXTS["prompt.summary"].in_language(language)
    return task_messages(task, json.dumps(transcript, ensure_ascii=False))
