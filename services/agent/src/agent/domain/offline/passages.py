"""Finds the sentence or table row that answers a question, or nothing.

Sentences are ranked as in BM25: a word counts more if fewer passages contain it. In the end, the share of the question
that a passage covers decides. A word that no page contains counts most, so a question about something else ("do you
sell boats?") finds nothing, whatever its other words are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, significant_words
from agent.domain.offline.constraints import carried, is_part_of_price, without_how_long
from agent.domain.offline.evidence import HOW_TO, has_evidence
from agent.domain.offline.excerpts import Excerpt, SitePage, passages_of
from agent.domain.offline.kinds import MOST_SHOWN, can_list, listed, name_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.passage_index import SHORT, SHOWN_ALONE, Candidates
from agent.domain.offline.questions import is_bare, is_of_leaving, is_vague, needed, specific_words, terms
from agent.domain.offline.sections import all_shown, compared, included
from agent.domain.offline.superlatives import is_superlative, the_most, whole_of
from agent.domain.text_features import plain, stem

ENOUGH = 0.6
"""Of a question's weight, what a passage must cover to be its answer."""
_MONEY = dict(shapes.SHAPES)["=price"]
_SAYS_SO = 0.03
_IN_MONEY = 0.5
"""What a price in money counts before a trial that is free, where a follow-up is for a price."""
TELLS = 350
"""Characters of a section that is told whole."""


def best_passages(question: str, before: str, pages: Sequence[SitePage], enough: float = ENOUGH) -> list[Excerpt]:
    """What the pages say that answers the question; nothing where they do not."""
    return rank(question, before, Candidates([one for page in pages for one in passages_of(page)]), enough)


def as_a_whole(question: str, before: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What answers a question for all there is of something: a kind's members, a difference, what something holds."""
    question = constraints.FREE_OR_PAID.sub(" ", question)
    asked = _asked(question, before, passages)
    sections = listed(question, passages)
    if not sections and not constraints.ASKS_OPINION.search(plain(question)):
        sections = compared(question, before, passages)
    if not sections and is_superlative(question):
        most = the_most(question, before, passages)
        said, last = (" ".join(words_of(one)) for one in (question, before.rpartition("\n")[2]))
        holds = shapes.INCLUDED.search(said) or (shapes.INCLUDED.search(last) and not shapes.HOW_MUCH.search(said))
        return whole_of(most[0], passages) if most and holds else most
    sections = sections or included(question, passages)
    return sections or ([] if before else all_shown(plain(question), asked, passages))


def rank(
    question: str, before: str, among: Candidates, enough: float = ENOUGH, of_it: float = shapes.OF_IT
) -> list[Excerpt]:
    """What answers the question, of one section, in the page's order; `before`: the question that it follows; `of_it`:
    how much of the earlier question a passage must cover that answers one for a price, or how long, of "it"."""
    passages = among.passages
    sections = as_a_whole(question, before, passages)
    question = constraints.FREE_OR_PAID.sub(" ", question)
    asked, earlier = _asked(question, before, passages), terms(before)
    if (
        sections
        or is_superlative(question)
        or not passages
        or not asked
        or not (before or significant_words(question) or "=directions" in asked)
    ):
        return sections
    if all(keys & shapes.PRICE for keys in asked.values()) and shapes.OBLIGED.search(plain(question)):
        return []  # whether it has to be paid, or when
    if not earlier and is_bare(asked) and not any(key in asked for key in shapes.TOLD_ITSELF):
        return []  # when, or for how much: of what is not said
    index = among.index
    leaning_on = carried(question, before) if before else []
    names_alone = bool(earlier) and index.is_name_alone(asked)
    must = [*needed(question), *leaning_on]
    part_alone = any(keys & shapes.PRICE for keys in asked.values()) and not constraints.PART_OF_PRICE.search(
        plain(question)
    )
    shares = [
        index.share(asked, at) if index.covers(must, at) and index.has_more_words(asked, at) else 0.0
        for at in range(len(passages))
    ]
    if earlier and is_bare(asked):
        # "And how much is it?" is of what was asked before, and of nothing else.
        shares = [
            index.share_of_it(asked, earlier, at, of_it) if index.covers(must, at) else 0.0
            for at in range(len(passages))
        ]
    if (leaning_on or names_alone) and (topic := index.unnamed(terms(without_how_long(before)))):
        # "And on Pro?" is of what was asked of Premium.
        shares = [share if index.has_any_word(topic, at) else 0.0 for at, share in enumerate(shares)]
    if (constraints.TAKES in must or shapes.CLOCK in must) and (
        topic := [keys for keys in asked.values() if keys not in SHOWN_ALONE]
    ):
        # Under "Trial and refunds" each sentence has a time of its own.
        shares = [share if index.has_word_itself(topic, at) else 0.0 for at, share in enumerate(shares)]
    if before and is_vague(asked):
        # "Can I add more?" is of what was asked before.
        shares = [share if index.share(earlier, at) >= of_it else 0.0 for at, share in enumerate(shares)]
    shares = [share if share and has_evidence(question, index.section(at)) else 0.0 for at, share in enumerate(shares)]
    shares = [share if can_list(question, one) else 0.0 for share, one in zip(shares, passages, strict=True)]
    if part_alone:
        shares = [0.0 if is_part_of_price(one.text) else share for share, one in zip(shares, passages, strict=True)]
    if (many := shapes.HOW_MANY.search(plain(question))) and not keys_of(many["what"]) & COMMON:
        shares = [share if index.counts(keys_of(many["what"]), at) else 0.0 for at, share in enumerate(shares)]
    # How to leave is told under "Cancelling": of joining, what stands elsewhere.
    elsewhere = [
        0.0 if is_of_leaving(name_of(one), f"{question} {before}") else share
        for share, one in zip(shares, passages, strict=True)
    ]
    shares = elsewhere if max(elsewhere) >= enough else shares
    if max(shares) < enough:
        return []
    asks = shapes.DO_YOU.search(plain(question))
    written = {stem(word) for word in words_of(question) if len(word) > SHORT}
    scores = [
        share
        + index.preferred(asked, earlier, written, at)
        + (_SAYS_SO if asks and shapes.DOES_OR_NOT.search(one.text) else 0)
        + (_IN_MONEY if shapes.COST in leaning_on and _MONEY.search(one.text) else 0)
        for at, (share, one) in enumerate(zip(shares, passages, strict=True))
    ]
    best = max(scores)
    at = scores.index(best)
    chosen = passages[at]
    section = [other for other, one in enumerate(passages) if (one.url, one.heading) == (chosen.url, chosen.heading)]
    if chosen.row and (every := _rows_of_kind(asked, passages, shares)):
        return every
    if not chosen.row and (shapes.COSTS.search(plain(question)) or shapes.COST in leaning_on):
        # What a table calls by that name has its price there; a sentence beside it tells of one case.
        of_name = [one for one, share in zip(passages, shares, strict=True) if share >= enough and has_name(asked, one)]
        if of_name:
            return of_name[:MOST_SHOWN]
    if index.only_heading(asked, at):
        # The heading asks it; what stands below, from its beginning, is the answer: a list as a whole.
        return [passages[other] for other in section[: MOST_SHOWN if chosen.item else 3]]
    if chosen.row and index.is_about_another_day(asked, at):
        # That a day is not among them shows by all of them.
        return [passages[other] for other in section if passages[other].row][:MOST_SHOWN]
    titled = keys_in(f"{chosen.title} {chosen.heading}")
    if chosen.item and HOW_TO.search(plain(question)) and any(keys & titled for keys in asked.values()):
        return [passages[other] for other in section if passages[other].item][:MOST_SHOWN]
    # What ties with the best in its section belongs to the answer; elsewhere it is another question's.
    also = [passages[other] for other in section if other != at and scores[other] >= best - 0.02]
    # Of the rows of a table each that ties is the answer to another question: all of them, or none, are this one's.
    tied = [chosen, *also]
    names = [one for one in tied if _is_named(asked, one)] if chosen.row and not chosen.item else []
    found = sorted((names or tied)[: MOST_SHOWN if chosen.row else 3], key=lambda one: one.place)
    if (
        shapes.NAMES_WHICH.search(plain(question))
        and chosen.item
        and not keys_in(chosen.heading) & frozenset().union(*asked.values())
    ):
        # An item of a list says what, and its heading says of which.
        return [replace(one, text=f"{one.heading}: {one.text}") if one.heading else one for one in found]
    return found


def has_name(asked: Mapping[str, frozenset[str]], one: Excerpt) -> bool:
    """Whether it is a table's row whose name has every word that the question is about."""
    called = keys_in(f"{one.text.partition(':')[0]} {one.column}")
    words = [word for word in asked if word[0] != "=" and not asked[word] & shapes.PRICE]
    words = [word for word in specific_words(asked) if word in words] or words
    return one.row and not one.item and bool(words) and all(asked[word] & called for word in words)


def _is_named(asked: Mapping[str, frozenset[str]], row: Excerpt) -> bool:
    """Whether a row's name has a word that the question is about."""
    called = keys_in(row.text.partition(":")[0])
    return any(asked[word] & called for word in specific_words(asked))


def _rows_of_kind(
    asked: Mapping[str, frozenset[str]], passages: Sequence[Excerpt], shares: Sequence[float]
) -> list[Excerpt]:
    """Of a question that names nothing but what a table calls its rows ("what is a course?"): all those rows."""
    kind = [asked[word] for word in specific_words(asked) if not asked[word] & shapes.BARE]
    rows = [one for one, share in zip(passages, shares, strict=True) if share and one.row and _are(one.column, kind)]
    other = [keys for word, keys in asked.items() if not (word[0] == "=" or keys in kind or keys & shapes.BARE)]
    named = any(keys & keys_in(one.text.partition(":")[0]) for keys in other for one in rows)
    return rows[:MOST_SHOWN] if kind and not named and len(rows) > 1 else []


def _are(column: str, kind: Sequence[frozenset[str]]) -> bool:
    called = keys_in(column)
    return all(keys & called for keys in kind)


def about(pages: Sequence[SitePage]) -> list[Excerpt]:
    """What the site says that it is: how its first page begins."""
    return [one for page in pages[:1] for one in passages_of(page)][:1]


def _asked(question: str, before: str, passages: Sequence[Excerpt]) -> dict[str, frozenset[str]]:
    rows = [name_of(one) for one in passages if one.row and not one.item]
    if asked := terms(question):
        return _names_said(question, rows) | asked
    names = [*rows, *(name for one in passages for name in (one.heading, *one.columns))]
    return _names_said(question, names) if before else {}


def _names_said(question: str, whole: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of a question that are the whole of one of these names, as "Business" of a plan: elsewhere they may say
    little."""
    names = {stem(word) for name in whole for word in _only_word(name)}
    return {stem(word): keys_of(word) for word in words_of(question) if stem(word) in names and len(word) > SHORT}


def is_row_name(question: str, one: Excerpt) -> bool:
    """Whether a question has the name of a table's row, which is one word."""
    return one.row and not one.item and bool(_names_said(question, [name_of(one)]))


def _only_word(name: str) -> list[str]:
    words = words_of(name)
    return words if len(words) == 1 else []
