"""Helps human agents without a model: suggests three replies to a message, and tidies up a draft ("hi  , ok" → "Hi,
ok.")."""

import json
import re

from agent.domain.offline.intents import wish_in
from agent.domain.offline.wishes import Intent
from agent.domain.text_features import language_of
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language, rule_language

_KINDS = (Intent.GREETING, Intent.THANKS, Intent.HANDOFF)
_SENTENCE = expression(r"(^|[.!?]\s+)([a-záéíóúüñ])")


def suggestions(question: str, language: Language) -> tuple[str, ...]:
    """Three replies to the newest message, in its language, or else in `language`."""
    reply_language = rule_language(language_of(question, language))
    intent = wish_in(question, ()).intent if question.strip() else Intent.GREETING
    replies = TEXTS.section(f"offline.replies.{intent.name.lower() if intent in _KINDS else 'other'}")
    return tuple(reply.in_language(reply_language) for reply in replies.values())


def suggestions_json(question: str, language: Language) -> str:
    """The suggestions in the form that a model is asked for: a JSON array."""
    return json.dumps(suggestions(question, language), ensure_ascii=False)


def improved(draft: str) -> str:
    """The draft with correct spaces, capitals and full stop; its words stay as they are."""
    lines = [" ".join(line.split()) for line in draft.strip().splitlines()]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    text = re.sub(r"(?<!\s)\s++([,.;:!?])", r"\1", text)
    text = _SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)
    return text if not text or not (text[-1].isalnum() or text[-1] == ")") else f"{text}."
