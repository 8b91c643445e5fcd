"""Passages of an invented site, and the answers that the offline assistant makes from them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from contracts.knowledge import KnowledgeFound, Passage
from contracts.languages import Language

READ = datetime(2026, 3, 1, tzinfo=UTC)


def passage(title: str, text: str, language: Language = "en", **changes: Any) -> Passage:
    """Returns a passage of a page with that title; `changes` override fields of the Passage."""
    fields: dict[str, Any] = {
        "id": title.replace(" ", "-"),
        "document_id": "d",
        "source": "site",
        "title": title,
        "url": f"https://x.test/{title.replace(' ', '-')}",
        "text": text,
        "language": language,
        "score": 0.7,
        "read_at": READ,
        "hash": "h",
    }
    return Passage(**{**fields, **changes})


def answered(
    question: str, found: Sequence[Passage], language: Language, *before: dict[str, Any], documents: int = 200
) -> str:
    """Returns the offline answer to a question, given the passages found in `documents` documents.

    `before`: the earlier messages. Raises TypeError if the assistant calls a tool instead."""
    knowledge = KnowledgeFound(passages=list(found), documents=documents)
    messages = [*before, {"role": "user", "content": question}]
    response = respond(messages, ("fetch_page",), language, introduced=True, knowledge=knowledge)
    if not isinstance(response, SayText):
        raise TypeError(f"no answer but {response}")
    return response.text
