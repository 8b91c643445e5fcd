"""How much of a section is quoted with an answer: the rest of a paragraph, or the section's likeliest sentences."""

from collections.abc import Sequence

from agent.domain.offline import shapes
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.questions import Query, topic_words
from agent.domain.offline.relevance import Section

MAX_QUOTED_CHARACTERS = 350
"""Maximum characters of a section or paragraph that is quoted in full."""


def with_paragraphs(
    chosen: Sequence[Excerpt], query: Query, required: Sequence[frozenset[str]], candidates: Candidates
) -> list[Excerpt]:
    """Return the chosen excerpts with the rest of their paragraphs, up to `MAX_QUOTED_CHARACTERS`, since conditions and
    exceptions stand there. A list item is returned alone if it has the figure asked for, or every word that the
    question is about."""
    figures, topic = [keys for keys in required if keys & shapes.SHOWN_FIGURES], topic_words(query)

    def stands_alone(position: int) -> bool:
        passage_keys = keys_in(candidates.passages[position].text)
        if figures:
            return all(candidates.index.has_word(keys, position) for keys in figures)
        return all(query[topic_word] & passage_keys for topic_word in topic)

    if any(passage in chosen and passage.item and stands_alone(i) for i, passage in enumerate(candidates.passages)):
        return list(chosen)
    paragraph_passages = in_paragraphs(chosen, candidates)
    if sum(len(passage.text) for passage in paragraph_passages) <= MAX_QUOTED_CHARACTERS:
        return paragraph_passages
    # Of a longer paragraph, add the following sentences that fit.
    shown = list(chosen)
    for passage in (
        paragraph_passages[paragraph_passages.index(shown[-1]) + 1 :]
        if shown[-1] in paragraph_passages and not shown[-1].row
        else ()
    ):
        if sum(len(excerpt.text) for excerpt in (*shown, passage)) > MAX_QUOTED_CHARACTERS:
            break
        shown.append(passage)
    return shown


def in_paragraphs(chosen: Sequence[Excerpt], candidates: Candidates) -> list[Excerpt]:
    """All excerpts of the paragraphs that these are in."""
    paragraphs = {_paragraph_id(passage) for passage in chosen}
    return [passage for passage in candidates.passages if _paragraph_id(passage) in paragraphs]


def _paragraph_id(excerpt: Excerpt) -> tuple[str, str, int, int]:
    return excerpt.url, excerpt.heading, excerpt.number, excerpt.paragraph


def section_extract(chosen: Sequence[Excerpt], section: Section, candidates: Candidates) -> list[Excerpt]:
    """Return the chosen excerpts of a section with as many of its other ones as fit into `MAX_QUOTED_CHARACTERS`, added
    in order of likelihood; in page order."""
    passages = [candidates.passages[i] for i in section.sentences if not candidates.index.is_fragment(i)]
    shown = list(chosen) or passages[:1]
    for passage in passages:
        is_short = sum(len(excerpt.text) for excerpt in [*shown, passage]) <= MAX_QUOTED_CHARACTERS
        if passage not in shown and passage.is_table_row == shown[0].is_table_row and is_short:
            shown.append(passage)
    return sorted(shown, key=lambda passage: (passage.location != section.location, passage.page_position))
