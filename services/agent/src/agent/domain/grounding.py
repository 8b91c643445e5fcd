"""Decides what to search in the company's knowledge, and records what an answer is based on."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.context.compression import PromptMessage
from agent.domain.knowledge import sources, with_valid_citations
from agent.domain.offline.answers import is_unknown
from agent.domain.offline.small_talk import talk_only
from agent.domain.tool_results import data_of, searches
from agent.domain.turn.journal import Journal, ModelAnswer
from contracts.knowledge import MAX_EARLIER, MAX_QUERY, Grounding, KnowledgeFound, KnowledgeQuery
from contracts.languages import Language

MAX_PASSAGES = 12
"""Passages; a prompt holds as many of them as have room."""
MAX_PAGES = 20
"""Pages of the site that are named to the model, as far as there is room."""


def knowledge_query(messages: Sequence[PromptMessage], basis: int, language: Language) -> KnowledgeQuery | None:
    """The search for the unanswered messages, together with the question before them; None: nothing is asked, or it
    is small talk."""
    asked = [one.text for one in messages if not one.mine and one.seq > basis]
    earlier = [one.text[:MAX_QUERY] for one in reversed(messages) if not one.mine and one.seq <= basis]
    text = "\n".join(asked)[-MAX_QUERY:]
    if not text.strip() or talk_only(text):
        return None
    return KnowledgeQuery(
        text=text, earlier=earlier[:MAX_EARLIER], language=language, limit=MAX_PASSAGES, pages=MAX_PAGES
    )


def with_grounding(
    reply: ModelAnswer, journal: Journal, found: KnowledgeFound | None, query: KnowledgeQuery | None
) -> ModelAnswer:
    """The answer with only those citations that were given, and whether it is based on anything: an answer without a
    passage, page or tool counts as something that the company does not tell."""
    found_more = searches(journal)
    if found is None and not found_more:
        return reply
    results = [call.result for call in journal.calls if call.result is not None]
    text, citations = with_valid_citations(
        reply.text, sources(found, found_more), [query.text if query else "", *results]
    )
    if query is None:
        return replace(reply, text=text, citations=citations)
    known = not is_unknown(text) and (bool(citations) or any(map(data_of, results)))
    best = max((one.score for one in found.passages), default=None) if found else None
    grounding = Grounding(question=query.text, known=known, score=best, language=query.language)
    return replace(reply, text=text, citations=citations, grounding=grounding)
