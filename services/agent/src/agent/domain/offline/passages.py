"""What pages say that answers a question: the sentence or the table row, or nothing.

Sentences are ranked like BM25 does it: a word weighs the more, the fewer passages have it. What counts at the end is
how much of the question a passage covers. A word that no page has weighs most, so that a question about something else
finds nothing, however many of its other words are there.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from agent.domain.offline.common_words import ASKING, COMMON, telling
from agent.domain.offline.excerpts import Excerpt, SitePage, passages_of
from agent.domain.offline.lexicon import keys_in, keys_of, meanings_of, one_apart, words_of
from agent.domain.offline.sections import all_shown, compared, included
from agent.domain.offline.shapes import (
    ASIDE,
    BARE,
    BEGIN,
    CLOCK,
    COUNTED,
    DO_YOU,
    DOES_OR_NOT,
    DURATION,
    FIGURE,
    FOR_WHOM,
    FREE_OF,
    FULL_NAME,
    HOW_LONG,
    HOW_MANY,
    HOW_MUCH,
    HOW_PRICED,
    MADE_OF,
    MAY,
    NAMES_WHICH,
    OF_IT,
    PHRASES,
    PLACE,
    PRICE,
    SAID_AS,
    SHAPED,
    SHAPES,
    SHOWN,
    THE_PLACE,
    TO_ANOTHER,
    TOLD_OTHERWISE,
    WHAT_TIME,
    WHEN,
    WHERE_IS,
    WHO,
)
from agent.domain.offline.text_features import plain, stem

ENOUGH = 0.6
"""Of a question's weight, what a passage must cover to be its answer."""
_RELATED = {"=discount": "=price"}
"""What tells a part of it."""
_SHORT = 3
_FIGURES_AT_MOST = 0.8
_COMMON_NOWHERE = 0.15
"""What a word that anybody says counts where no page has it."""
_WEEKEND = frozenset(("=weekend",))
_BESIDE = 0.75
"""What a word counts that another sentence of the section has."""
_SECTION = 8
"""Sentences of a section that is read as one."""
_SAYS_SO = 0.03
_TELLS = 350
"""Characters of a section that is told whole."""


def best_passages(question: str, before: str, pages: Sequence[SitePage], enough: float = ENOUGH) -> list[Excerpt]:
    """What the pages say that answers the question; nothing where they do not."""
    return rank(question, before, [one for page in pages for one in passages_of(page)], enough)


def rank(
    question: str, before: str, passages: Sequence[Excerpt], enough: float = ENOUGH, total: int = 0
) -> list[Excerpt]:
    """What answers the question, of one section, in the page's order; `before`: the question that it follows; `total`:
    of how many documents the passages are the best."""
    asked, earlier = _terms(question), _terms(before)
    sections = compared(question, passages) or included(question, passages)
    sections = sections or ([] if before else all_shown(plain(question), asked, passages))
    if sections or not passages or not asked or not (before or telling(question)):
        return sections
    index = _Index(passages, total)
    needed = _needed(question)
    shares = [
        index.share(asked, at) if index.holds(needed, at) and index.says_more(asked, at) else 0.0
        for at in range(len(passages))
    ]
    if earlier and _is_bare(asked):
        # "And how much is it?" is of what was asked before, and of nothing else.
        shares = [
            index.share_of_it(asked, earlier, at) if index.holds(needed, at) else 0.0 for at in range(len(passages))
        ]
    if (many := HOW_MANY.search(plain(question))) and not keys_of(many["what"]) & COMMON:
        shares = [share if index.counts(keys_of(many["what"]), at) else 0.0 for at, share in enumerate(shares)]
    if max(shares) < enough:
        return []
    asks = DO_YOU.search(plain(question))
    written = {word.rstrip("s") for word in words_of(question) if len(word) > _SHORT}
    scores = [
        share
        + index.preferred(asked, earlier, written, at)
        + (_SAYS_SO if asks and DOES_OR_NOT.search(one.text) else 0)
        for at, (share, one) in enumerate(zip(shares, passages, strict=True))
    ]
    best = max(scores)
    at = scores.index(best)
    chosen = passages[at]
    section = [other for other, one in enumerate(passages) if (one.url, one.heading) == (chosen.url, chosen.heading)]
    if index.only_heading(asked, at):
        # The heading asks it; what stands below, from its beginning, is the answer.
        return [passages[other] for other in section[:3]]
    if index.needs_section(asked, needed, at) and sum(len(passages[other].text) for other in section) <= _TELLS:
        return [passages[other] for other in section if not (index.scrap(other) or passages[other].row)]
    # What ties with the best in its section belongs to the answer; elsewhere it is another question's.
    also = [passages[other] for other in section if other != at and scores[other] >= best - 0.02]
    found = sorted([chosen, *also][:3], key=lambda one: one.place)
    if (
        NAMES_WHICH.search(plain(question))
        and chosen.item
        and not keys_in(chosen.heading) & frozenset().union(*asked.values())
    ):
        # An item of a list says what, and its heading says of which.
        return [replace(one, text=f"{one.heading}: {one.text}") if one.heading else one for one in found]
    return found


def about(pages: Sequence[SitePage]) -> list[Excerpt]:
    """What the site says that it is: how its first page begins."""
    return [one for page in pages[:1] for one in passages_of(page)][:1]


def leans(text: str) -> bool:
    """Whether a question is for a price, or how long, and does not say of what."""
    terms = _terms(text)
    return _is_bare(terms)


def _is_bare(asked: Mapping[str, frozenset[str]]) -> bool:
    said = asked.values()
    return any(keys & BARE for keys in said) and all(keys & (BARE | BEGIN) or keys & COMMON for keys in said)


_WHERE = frozenset(map(stem, ASKING))


def _needed(question: str) -> list[frozenset[str]]:
    """What a passage must tell to be an answer at all, however much else it shares with the question: a time of day,
    where that is asked; of what may be done, the doing, where other words for it are known."""
    said = " ".join(words_of(question))
    needed: list[frozenset[str]] = [CLOCK] if WHAT_TIME.search(said) else []
    needed += [DURATION] if HOW_LONG.search(said) else []
    needed += [frozenset(("=when",))] if WHEN.search(said) else []
    needed += [PLACE] if WHERE_IS.search(said) else []
    needed += [frozenset(("=include",))] if MADE_OF.search(said) else []
    needed += [frozenset(("=name",))] if WHO.search(said) else []
    if may := MAY.search(said):
        doing = next(iter(telling(said[may.end() :])), "")
        another = TO_ANOTHER.match(said, may.end())
        meant = {"change"} if another else meanings_of(doing)
        needed.append(frozenset(f"={name}" for name in meant) - TOLD_OTHERWISE)
    return [keys for keys in needed if keys]


def _terms(text: str) -> dict[str, frozenset[str]]:
    shaped: dict[str, frozenset[str]] = {}
    text = ASIDE.sub(" ", FOR_WHOM.sub(" ", FREE_OF.sub(r"\1", text)))
    if WHERE_IS.search(plain(text)):
        shaped["=where"], text = PLACE, THE_PLACE.sub(" ", WHERE_IS.sub(" ", plain(text)))
    if WHAT_TIME.search(plain(text)):
        shaped["=clock"], text = CLOCK, WHAT_TIME.sub(" ", plain(text))
    for key, shape in PHRASES:
        if shape.search(text):
            shaped[key], text = frozenset((key,)), shape.sub(" ", text)
    if HOW_MUCH.search(" ".join(words_of(text))):
        # "How much is it?" alone is for its price.
        priced = not telling(text) or HOW_PRICED.search(" ".join(words_of(text)))
        shaped["=figure"] = PRICE if priced else FIGURE
    keys = {stem(word): keys_of(word) | {f"={name}" for name in meanings_of(word)} for word in telling(text)}
    # "Open" in a question for hours is not the one of "open your account", nor "where" all of "where do I sign up".
    telling_more = {word: found for word, found in keys.items() if word not in _WHERE}
    keys = telling_more if telling_more or shaped else keys
    looked_for = {"=hours", "=contact"}
    return shaped | {word: found - {word} if looked_for & found else found for word, found in keys.items()}


class _Index:
    """Which words each passage has: its own whole, its heading's and its title's for less."""

    def __init__(self, passages: Sequence[Excerpt], total: int = 0) -> None:
        self._own = [keys_in(one.text) | {key for key, shape in SHAPES if shape.search(one.text)} for one in passages]
        # Pages that were fetched are few and have names of one word; those of a whole company are told apart by theirs.
        self._around = [keys_in(f"{one.title} {one.heading}" if one.number else one.heading) for one in passages]
        # A title stands above all of its page: of its parts, the one whose own heading says it is meant.
        self._headed = [keys_in(one.heading or (one.title if one.number else "")) for one in passages]
        self._said = [one.text for one in passages]
        self._row = [one.row for one in passages]
        self._texts = [words_of(one.text) for one in passages]
        self._written = [{word.rstrip("s") for word in one} for one in self._texts]
        self._named = [bool(one.number) for one in passages]
        for key, shape in SHAPES:
            # Where a page shows hours, "open" somewhere else speaks of something else.
            shaped = [bool(shape.search(one.text)) for one in passages]
            if any(shaped):
                for own, is_shaped in zip(self._own, shaped, strict=True):
                    own -= set() if is_shaped else {key}
        for one, own in zip(passages, self._own, strict=True):
            if one.row and not FULL_NAME.search(one.text):
                own.discard("=name")  # a cell begins with a capital whatever it says
            own |= {key for key, said in SAID_AS if said.search(f"{one.heading} {one.text}")}
        self._beside = self._sections_of(passages)
        held: dict[int, set[str]] = {}
        for at, (own, around) in enumerate(zip(self._own, self._around, strict=True)):
            held.setdefault(passages[at].number or -at - 1, set()).update(own, around)
        self._seen = Counter(key for keys in held.values() for key in keys)
        self._count = max(len(held), total)

    def _sections_of(self, passages: Sequence[Excerpt]) -> list[set[str]]:
        """What the other sentences of a passage's section say; rows of a table stand by themselves."""
        whole: dict[tuple[str, str, int], set[str]] = {}
        lengths = Counter((one.url, one.heading, one.number) for one in passages)
        for one, own in zip(passages, self._own, strict=True):
            if not one.row:
                whole.setdefault((one.url, one.heading, one.number), set()).update(own)
        return [
            set[str]() if one.row or lengths[one.url, one.heading, one.number] > _SECTION
            else whole[one.url, one.heading, one.number]
            for one in passages
        ]  # fmt: skip

    def weight(self, keys: frozenset[str]) -> float:
        """How much a word of the question tells: the most where no page has it."""
        having = max((self._seen[key] for key in keys), default=0)
        having = having or max((self._seen[near] for near in self._near(keys)), default=0)
        worth = math.log(1 + (self._count - having + 0.5) / (having + 0.5)) + 0.5
        # That something is told in figures helps to choose; that it is not is no reason for silence.
        if keys & COMMON or all(key.isdigit() for key in keys):
            return min(worth, _FIGURES_AT_MOST) if having else _COMMON_NOWHERE
        return min(worth, _FIGURES_AT_MOST) if keys in (FIGURE, PRICE, CLOCK) else worth

    def share(self, asked: Mapping[str, frozenset[str]], at: int) -> float:
        """Of the question's weight, what a passage has."""
        whole = sum(map(self.weight, asked.values()))
        had = {word: self._has(keys, at) for word, keys in asked.items()}
        telling = [
            has > 0
            for word, has in had.items()
            if word not in ("=figure", "=clock") and not asked[word] & COMMON and not word.isdigit()
        ]
        if telling:
            by_count = sum(telling) / len(telling)
        else:
            # Of what anybody says, something at least.
            common = [had[word] for word, keys in asked.items() if keys & COMMON]
            by_count = max(common, default=1.0)
        by_weight = sum(self.weight(keys) * had[word] for word, keys in asked.items()) / whole if whole else 0.0
        return min(by_weight, by_count)

    def share_of_it(self, asked: Mapping[str, frozenset[str]], earlier: Mapping[str, frozenset[str]], at: int) -> float:
        """Of what was asked before, what a passage has that shows what is asked for now."""
        shown = all(self._has(keys, at) for keys in asked.values() if keys & BARE)
        share = self.share(earlier, at)
        return 1.0 if shown and share >= OF_IT else 0.0

    def preferred(
        self,
        asked: Mapping[str, frozenset[str]],
        earlier: Mapping[str, frozenset[str]],
        written: AbstractSet[str],
        at: int,
    ) -> float:
        """What chooses among those that have much the same: a heading that is all about it, what was asked before, the
        very words of the question, and few words."""
        headed = 0.05 * any(keys & self._headed[at] for keys in asked.values())
        before = {key: keys for key, keys in earlier.items() if key not in asked}
        own = sum(bool(keys & self._own[at]) for keys in asked.values()) / max(len(asked), 1)
        same = 0.2 * own + 0.02 * len(written & self._written[at]) / max(len(written), 1)
        lean = 0.3 if len(asked) <= 1 else 0.1
        return (
            headed - 0.15 * self.scrap(at) + lean * min(self.share(before, at), 1.0) + same - 0.001 * len(self._own[at])
        )

    def scrap(self, at: int) -> bool:
        """Whether a passage is a few words and no sentence, as a button's are."""
        few = len(self._texts[at]) <= _SHORT and not any(character.isdigit() for character in self._said[at])
        return few and not self._row[at] and not self._said[at].endswith((".", "!", "?"))

    def counts(self, keys: frozenset[str], at: int) -> bool:
        """Whether a passage says how many there are of something: a number before it, or a cell of a table."""
        if self._row[at] and keys & self._own[at] and any(map(str.isdigit, self._said[at])):
            return True
        said = plain(self._said[at])
        return any(keys & keys_of(word) for found in COUNTED.finditer(said) for word in found[0].split()[1:])

    def holds(self, needed: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a passage, or what stands above it, tells all that is needed."""
        own = self._own[at] | self._around[at]
        return all(keys & own if keys <= SHAPED else self._has(keys, at) for keys in needed)

    def says_more(self, asked: Mapping[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is more than one word of the question, as a menu's are."""
        return len(self._texts[at]) != 1 or not any(keys & keys_of(self._texts[at][0]) for keys in asked.values())

    def needs_section(self, asked: Mapping[str, frozenset[str]], needed: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a sentence answers only together with those around it: they have words of the question that it has
        not, or it is asked for no figure that stands in it."""
        if not self._beside[at]:
            return False
        missing = [keys for keys in (*asked.values(), *needed) if not keys & (self._own[at] | self._around[at])]
        if any(keys & self._beside[at] for keys in missing) or not any(map(str.isdigit, self._said[at])):
            return True
        return not any(keys <= SHOWN and keys & self._own[at] for keys in (*asked.values(), *needed))

    def only_heading(self, asked: dict[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is found by its heading alone."""
        return not any(keys & self._own[at] for keys in asked.values())

    def _has(self, keys: frozenset[str], at: int) -> float:
        shared = keys & self._own[at]
        if shared == _WEEKEND and len(keys) > 1:
            return _BESIDE  # the other of its days
        if shared:
            return 1.0 if len(keys) == 1 or any(not key.startswith("=") for key in shared) else 0.93
        if keys & self._around[at]:
            return 0.97 if self._named[at] and keys & self._headed[at] else 0.9 if self._named[at] else 0.85
        if any(_RELATED.get(key) in self._own[at] for key in keys):
            return 0.4
        if keys & self._beside[at]:
            return _BESIDE
        near = self._near(keys)
        return 0.8 if near & (self._own[at] | self._around[at]) else 0.0

    def _near(self, keys: frozenset[str]) -> frozenset[str]:
        """Words of the pages that are a letter away from what was written, where it is in none as it stands."""
        if any(self._seen[key] for key in keys):
            return frozenset()
        long = [key for key in keys if len(key) >= 5 and key.isalpha()]
        return frozenset(word for word in self._seen for key in long if len(word) >= 4 and one_apart(word, key))
