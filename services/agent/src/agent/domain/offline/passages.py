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

from agent.domain.offline.common_words import COMMON, is_common, telling
from agent.domain.offline.constraints import (
    A_DAY,
    ASKS_OPINION,
    FREE_OR_PAID,
    LENGTH,
    MEASURE,
    PART_OF_PRICE,
    SAYS_WORTH,
    TAKES,
    TELLS_LENGTH,
    WORTH,
    carried,
    is_part_of_price,
    measured,
    shows_contact,
    takes,
    without_how_long,
)
from agent.domain.offline.excerpts import Excerpt, SitePage, passages_of
from agent.domain.offline.kinds import listed
from agent.domain.offline.lexicon import keys_in, keys_of, one_apart, words_of
from agent.domain.offline.questions import is_bare, needed, terms
from agent.domain.offline.sections import all_shown, compared, included
from agent.domain.offline.shapes import (
    BARE,
    CLOCK,
    COUNTED,
    DO_YOU,
    DOES_OR_NOT,
    FIGURE,
    FULL_NAME,
    HOW_MANY,
    NAMES_WHICH,
    OBLIGED,
    OF_IT,
    PRICE,
    SAID_AS,
    SHAPED,
    SHAPES,
    SHOWN,
)
from agent.domain.offline.superlatives import asks_for_most, the_most
from agent.domain.text_features import plain

ENOUGH = 0.6
"""Of a question's weight, what a passage must cover to be its answer."""
_RELATED = {"=discount": "=price"}
"""What tells a part of it."""
_AROUND = 0.85
"""What a word counts that stands in the heading."""
_TITLE_ALONE = 0.5
"""What a word counts that only the title of the page has, above a section about something else."""
_SHORT = 3
SHOWN_ALONE = (FIGURE, PRICE, CLOCK, LENGTH, TAKES)
_FIGURES_AT_MOST = 0.8
_COMMON_NOWHERE = 0.15
"""What a word that anybody says counts where no page has it."""
_WEEKEND = frozenset(("=weekend",))
_WEEKDAY = frozenset(("=weekday",))
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
    question: str,
    before: str,
    passages: Sequence[Excerpt],
    enough: float = ENOUGH,
    total: int = 0,
    of_it: float = OF_IT,
) -> list[Excerpt]:
    """What answers the question, of one section, in the page's order; `before`: the question that it follows; `total`:
    of how many documents the passages are the best; `of_it`: how much of the earlier question a passage must cover that
    answers one for a price, or how long, of "it"."""
    question = FREE_OR_PAID.sub(" ", question)
    asked, earlier = terms(question), terms(before)
    sections = listed(question, passages)
    sections = sections or ([] if ASKS_OPINION.search(plain(question)) else compared(question, passages))
    if not sections and asks_for_most(question):
        return the_most(question, before, passages)
    sections = sections or included(question, passages)
    sections = sections or ([] if before else all_shown(plain(question), asked, passages))
    if sections or not passages or not asked or not (before or telling(question)):
        return sections
    if all(keys & PRICE for keys in asked.values()) and OBLIGED.search(plain(question)):
        return []  # whether it has to be paid, or when
    index = _Index(passages, total)
    leaning_on = carried(question, before) if before else []
    names_alone = bool(earlier) and index.names_alone(asked)
    must = [*needed(question), *leaning_on]
    part_alone = any(keys & PRICE for keys in asked.values()) and not PART_OF_PRICE.search(plain(question))
    shares = [
        index.share(asked, at) if index.holds(must, at) and index.says_more(asked, at) else 0.0
        for at in range(len(passages))
    ]
    if earlier and is_bare(asked):
        # "And how much is it?" is of what was asked before, and of nothing else.
        shares = [
            index.share_of_it(asked, earlier, at, of_it) if index.holds(must, at) else 0.0
            for at in range(len(passages))
        ]
    if (leaning_on or names_alone) and (topic := index.unnamed(terms(without_how_long(before)))):
        # "And on Pro?" is of what was asked of Premium.
        shares = [share if index.shares_any(topic, at) else 0.0 for at, share in enumerate(shares)]
    if TAKES in must and (topic := [keys for keys in asked.values() if keys not in SHOWN_ALONE]):
        # Under "Trial and refunds" each sentence has a time of its own.
        shares = [share if index.says_itself(topic, at) else 0.0 for at, share in enumerate(shares)]
    if part_alone:
        shares = [0.0 if is_part_of_price(one.text) else share for share, one in zip(shares, passages, strict=True)]
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
    if index.needs_section(asked, must, at) and sum(len(passages[other].text) for other in section) <= _TELLS:
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


class _Index:
    """Which words each passage has: its own whole, its heading's and its title's for less."""

    def __init__(self, passages: Sequence[Excerpt], total: int = 0) -> None:
        self._own = [keys_in(one.text) | {key for key, shape in SHAPES if shape.search(one.text)} for one in passages]
        # Pages that were fetched are few and have names of one word; those of a whole company are told apart by theirs.
        self._around = [keys_in(f"{one.title} {one.heading}" if one.number else one.heading) for one in passages]
        for one, around in zip(passages, self._around, strict=True):
            around |= {"=name"} if FULL_NAME.search(one.heading) else set()
        # A title stands above all of its page: of its parts, the one whose own heading says it is meant.
        self._headed = [keys_in(one.heading or (one.title if one.number else "")) for one in passages]
        self._under = [keys_in(one.heading) for one in passages]
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
            own |= TAKES if takes(one.text) else set()
            own |= LENGTH if TELLS_LENGTH.search(plain(one.text)) else set()
            own |= WORTH if SAYS_WORTH.search(plain(one.text)) else set()
            own |= _WEEKDAY if A_DAY.search(plain(one.text)) else set()
            own |= MEASURE if measured(one.text) else set()
            own |= shows_contact(one.text)
        self._names = {
            key
            for one in passages
            for name in (one.text.partition(":")[0] if one.row else "", one.heading)
            if len(words := words_of(name)) <= _SHORT
            for word in words
            for key in keys_of(word)
        }
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
        if is_common(keys) or all(key.isdigit() for key in keys):
            return min(worth, _FIGURES_AT_MOST) if having else _COMMON_NOWHERE
        return min(worth, _FIGURES_AT_MOST) if keys in SHOWN_ALONE else worth

    def share(self, asked: Mapping[str, frozenset[str]], at: int) -> float:
        """Of the question's weight, what a passage has."""
        whole = sum(map(self.weight, asked.values()))
        had = {word: self._has(keys, at) for word, keys in asked.items()}
        specific = [
            word
            for word, keys in asked.items()
            if word not in ("=figure", "=clock", "=length", "=takes") and not keys & COMMON and not word.isdigit()
        ]
        titled = [word for word in specific if had[word] == _TITLE_ALONE]
        if len(titled) < len(specific) and all(had[word] >= _AROUND for word in specific if word not in titled):
            # A section about all the rest of the question is about it of what the page is about.
            had |= dict.fromkeys(titled, _AROUND)
        telling = [had[word] > 0 and had[word] != _TITLE_ALONE for word in specific]
        if telling:
            by_count = sum(telling) / len(telling)
        else:
            # Of what anybody says all of it, or else what means something here.
            common = {word: had[word] for word, keys in asked.items() if keys & COMMON}
            meant = [share for word, share in common.items() if any(key.startswith("=") for key in asked[word])]
            by_count = max(meant) if meant else min(common.values(), default=1.0)
        by_weight = sum(self.weight(keys) * had[word] for word, keys in asked.items()) / whole if whole else 0.0
        return min(by_weight, by_count)

    def share_of_it(
        self, asked: Mapping[str, frozenset[str]], earlier: Mapping[str, frozenset[str]], at: int, of_it: float
    ) -> float:
        """Of what was asked before, what a passage has that shows what is asked for now."""
        shown = all(self._has(keys, at) for keys in asked.values() if keys & BARE)
        share = self.share(earlier, at)
        return 1.0 if shown and share >= of_it else 0.0

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

    def unnamed(self, asked: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
        """The words of a question that are no name of anything here, as a short heading or a row's first cell is."""
        return [keys for keys in asked.values() if keys not in SHOWN_ALONE and not keys & self._names]

    def names_alone(self, asked: Mapping[str, frozenset[str]]) -> bool:
        """Whether a question is nothing but the name of something here, as "and Premium?"."""
        named = [keys for keys in asked.values() if not keys <= COMMON and keys not in SHOWN_ALONE]
        return bool(named) and len(named) == len(asked) and all(keys & self._names for keys in named)

    def shares_any(self, words: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a passage or its section has one of the words."""
        return any(self._has(keys, at) for keys in words)

    def says_itself(self, words: Sequence[frozenset[str]], at: int) -> bool:
        """Whether one of the words stands in the passage, and not only around it."""
        return self._row[at] or any(keys & self._own[at] for keys in words)

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
        more = len(self._texts[at]) != 1 or self._said[at].endswith(".")
        return more or not any(keys & keys_of(self._texts[at][0]) for keys in asked.values())

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
        if shared and shared <= _WEEKDAY | _WEEKEND and any(self._seen[key] for key in keys - _WEEKDAY - _WEEKEND):
            return 0.0 if shared == _WEEKDAY else _BESIDE  # another day, where this one is told somewhere
        if shared == _WEEKEND and len(keys) > 1:
            return _BESIDE  # the other of its days
        if shared:
            return 1.0 if len(keys) == 1 or any(not key.startswith("=") for key in shared) else 0.93
        if keys & self._around[at] and self._titled(keys, at):
            return _TITLE_ALONE
        if keys & self._around[at]:
            return 0.97 if self._named[at] and keys & self._headed[at] else 0.9 if self._named[at] else _AROUND
        if any(_RELATED.get(key) in self._own[at] for key in keys):
            return 0.4
        if keys & self._beside[at]:
            return _BESIDE
        near = self._near(keys)
        return 0.8 if near & (self._own[at] | self._around[at]) else 0.0

    def _titled(self, keys: frozenset[str], at: int) -> bool:
        """Whether a word stands in the page's title alone, above a section that has a heading of its own."""
        headed = self._under[at] and not self._row[at]
        return bool(headed) and not keys & (self._under[at] | self._beside[at])

    def _near(self, keys: frozenset[str]) -> frozenset[str]:
        """Words of the pages that are a letter away from what was written, where it is in none as it stands."""
        if any(self._seen[key] for key in keys):
            return frozenset()
        long = [key for key in keys if len(key) >= 5 and key.isalpha()]
        return frozenset(word for word in self._seen for key in long if len(word) >= 4 and one_apart(word, key))
