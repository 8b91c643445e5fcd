"""Decides what to search in the company's knowledge, and records what an answer is based on."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.context.compression import PromptMessage
from agent.domain.knowledge import given_passages, with_valid_citations
from agent.domain.offline.answers import is_unknown
from agent.domain.offline.small_talk import talk_only
from agent.domain.tool_results import data_of, searches
from agent.domain.turn.journal import Journal, ModelAnswer
from contracts.knowledge import MAX_EARLIER, MAX_QUERY, Grounding, KnowledgeFound, KnowledgeQuery
from contracts.languages import Language

MAX_PASSAGES = 12
"""Passages of a search; as many of them as fit are in the prompt."""
MAX_PAGES = 20
"""Pages of the site that are listed for the model, as far as they fit."""


def knowledge_query(messages: Sequence[PromptMessage], basis: int, language: Language) -> KnowledgeQuery | None:
    """The search for the unanswered messages, with the question before them; None if nothing is asked or it is small
    talk."""
    unanswered = [message.text for message in messages if not message.mine and message.seq > basis]
    earlier = [message.text[:MAX_QUERY] for message in reversed(messages) if not message.mine and message.seq <= basis]
    text = "\n".join(unanswered)[-MAX_QUERY:]
    if not text.strip() or talk_only(text):
        return None
    return KnowledgeQuery(
        text=text, earlier=earlier[:MAX_EARLIER], language=language, limit=MAX_PASSAGES, pages=MAX_PAGES
    )


def with_grounding(
    reply: ModelAnswer, journal: Journal, knowledge: KnowledgeFound | None, query: KnowledgeQuery | None
) -> ModelAnswer:
    """The answer with only valid citations, and whether it is based on anything. An answer without a passage, page or
    tool counts as one that the company's knowledge does not contain."""
    search_results = searches(journal)
    if knowledge is None and not search_results:
        return reply
    results = [call.result for call in journal.calls if call.result is not None]
    text, citations = with_valid_citations(
        reply.text, given_passages(knowledge, search_results), [query.text if query else "", *results]
    )
    if query is None or (knowledge is not None and knowledge.reading and not citations):
        return replace(reply, text=text, citations=citations)  # what is not read yet is no gap
    is_known = not is_unknown(text) and (bool(citations) or any(map(data_of, results)))
    best = max((passage.score for passage in knowledge.passages), default=None) if knowledge else None
    grounding = Grounding(question=query.text, known=is_known, score=best, language=query.language)
    return replace(reply, text=text, citations=citations, grounding=grounding)
