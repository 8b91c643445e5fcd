"""Which words of a question each passage contains: in its text, its heading, its title, or its section.

A word counts fully in the sentence itself and less around it: under the heading "Delivery", "£4 within 5 miles" has
"deliver" almost as if it said so. Words that mean the same, and misspelt ones, count too.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, is_common
from agent.domain.offline.constraints import measured, shows_contact, states_duration
from agent.domain.offline.evidence import HOW_HEADING
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.questions import SOMEWHERE
from agent.domain.text_features import is_one_letter_apart, plain, stem

_RELATED = {"=discount": "=price"}
"""What tells a part of it."""
_AROUND = 0.85
"""What a word counts that stands in the heading."""
_TITLE_ALONE = 0.5
"""What a word counts that only the title of the page has, above a section about something else."""
SHORT = 3
SHOWN_ALONE = (shapes.FIGURE, shapes.PRICE, shapes.CLOCK, constraints.LENGTH, constraints.TAKES)
_FIGURES_AT_MOST = 0.8
_COMMON_NOWHERE = 0.15
"""What a word that anybody says counts where no page has it."""
_EVERYWHERE = 3
"""Pages from which on what all their titles say is no help to choose."""
_WEEKEND = frozenset(("=weekend",))
_WEEKDAY = frozenset(("=weekday",))
_MONTH = frozenset(("=month",))
_BESIDE = 0.75
"""What a word counts that another sentence of the section has."""
_TEXTS = 4_096
"""Sentences of pages, in all companies, whose words are not worked out again for the next question."""
_SECTION = 8
"""Sentences of a section that is read as one."""
_CUT_SHORT = 4
"""Letters that may be missing at the end of a word: "recep" is the reception."""
_MONEY = dict(shapes.SHAPES)["=price"]
_ONE_NAME = 3
"""Keys of a heading that is one word."""


class PassageIndex:
    """Which words each passage has: its own whole, its heading's and its title's for less."""

    def __init__(self, passages: Sequence[Excerpt], total: int = 0) -> None:
        self._own = [{*_keys(shapes.THE_WORD_WHERE.sub(" ", one.text)), *_shapes(one.text)} for one in passages]
        # Pages that were fetched are few and have names of one word; those of a whole company are told apart by theirs.
        self._over = [keys_in(one.above) if one.number else set[str]() for one in passages]
        self._around = [
            keys_in(f"{one.title} {one.heading}" if one.number else one.heading) | over
            for one, over in zip(passages, self._over, strict=True)
        ]
        self._above = frozenset[str]().union(*self._around)
        for one, around in zip(passages, self._around, strict=True):
            around |= {"=name"} if shapes.FULL_NAME.search(one.heading) else set()
            around |= keys_in(one.column)  # what the table calls its rows
        # A title stands above all of its page: of its parts, the one whose own heading says it is meant.
        self._headed = [keys_in(one.heading or (one.title if one.number else "")) for one in passages]
        self._under = [keys_in(one.heading) for one in passages]
        self._said = [one.text for one in passages]
        self._heading = [one.heading for one in passages]
        self._row = [one.row for one in passages]
        self._of_table = [one.row and not one.item for one in passages]
        self._cells = [list(zip(one.columns, one.cells, strict=False)) for one in passages]
        self._texts = [_words(one.text) for one in passages]
        self._written = [{stem(word) for word in one} for one in self._texts]
        self._sections = _section_texts(passages)
        self._named = [bool(one.number) for one in passages]
        # Where a page shows hours, "open" somewhere else speaks of something else.
        shown = frozenset[str]().union(*(_shapes(one.text) for one in passages))
        for one, own in zip(passages, self._own, strict=True):
            own -= shown - _shapes(one.text)
        for one, own in zip(passages, self._own, strict=True):
            if one.row and not shapes.FULL_NAME.search(one.text):
                own.discard("=name")  # a cell begins with a capital whatever it says
            own |= _said_as(f"{one.heading} {one.text}")
        for one, headed in zip(passages, self._headed, strict=True):
            headed |= {key for key, said in shapes.SAID_AS if key in shapes.TOLD_ITSELF and said.search(one.heading)}
        self._steps = [bool(HOW_HEADING.search(plain(one.heading))) for one in passages]
        for one, own in zip(passages, self._own, strict=True):
            own |= constraints.TAKES if states_duration(one.text) else set()
            own |= constraints.LENGTH if constraints.TELLS_LENGTH.search(plain(one.text)) else set()
            own |= constraints.WORTH if constraints.SAYS_WORTH.search(plain(one.text)) else set()
            own |= _WEEKDAY if constraints.A_DAY.search(plain(one.text)) else set()
            own |= constraints.MEASURE if measured(one.text) else set()
            own |= shows_contact(one.text)
            own |= SOMEWHERE if shapes.SAYS_WHERE.search(one.text) else set()
        self._names = {
            key
            for one in passages
            for name in (one.text.partition(":")[0] if one.row else "", one.heading, *one.columns)
            if len(words := words_of(name)) <= SHORT
            for word in words
            for key in keys_of(word)
        }
        titles = {one.url.partition("#")[0]: keys_in(one.title) for one in passages if one.number}
        said = Counter(key for keys in titles.values() for key in keys)
        self._sitewide = {key for key, count in said.items() if count == len(titles) >= _EVERYWHERE}
        """What the title of every page says: the company and its kind."""
        self._beside = self._sections_of(passages)
        self._places = [(one.url, one.heading, one.number) for one in passages]
        self._priced = {self._places[at] for at, own in enumerate(self._own) if own >= shapes.PRICE}
        held: dict[int, set[str]] = {}
        for at, (own, around) in enumerate(zip(self._own, self._around, strict=True)):
            held.setdefault(passages[at].number or -at - 1, set()).update(own, around)
        self._seen = Counter(key for keys in held.values() for key in keys)
        self._count = max(len(held), total)
        self._nearby: dict[frozenset[str], frozenset[str]] = {}

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
        had = {word: self.has(keys, at) for word, keys in asked.items()}
        had |= {word: max(had[word], _AROUND) for word, keys in asked.items() if keys & self._sitewide}
        whole = sum(map(self.weight, asked.values()))
        specific = [
            word
            for word, keys in asked.items()
            if word not in ("=figure", "=clock", "=length", "=takes") and not keys & COMMON and not word.isdigit()
        ]
        titled = [word for word in specific if had[word] == _TITLE_ALONE]
        told = self._steps[at] or any(word in shapes.TOLD_ITSELF and had[word] for word in asked)
        if (told or len(titled) < len(specific)) and all(
            had[word] >= _AROUND for word in specific if word not in titled
        ):
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
        shown = all(self.has(keys, at) for keys in asked.values() if keys & shapes.BARE)
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
            headed
            - 0.15 * self.scrap(at)
            + lean * min(self.share(before, at), 1.0)
            + same
            - 0.001 * len(self._written[at])
        )

    def scrap(self, at: int) -> bool:
        """Whether a passage is a few words and no sentence, as a button's are, or who owns the page."""
        few = len(self._texts[at]) <= SHORT and not any(character.isdigit() for character in self._said[at])
        few = few and not self._row[at] and not self._said[at].endswith((".", "!", "?"))
        return few or self._said[at].startswith("©")

    def words(self, at: int) -> Sequence[str]:
        """A passage's words, plain."""
        return self._texts[at]

    def section(self, at: int) -> str:
        """All that stands under a passage's heading, with the heading."""
        return self._sections[at]

    def unnamed(self, asked: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
        """The words of a question that are no name of anything here, as a short heading or a row's first cell is."""
        return [keys for keys in asked.values() if keys not in SHOWN_ALONE and not keys & self._names]

    def is_name_alone(self, asked: Mapping[str, frozenset[str]]) -> bool:
        """Whether a question is nothing but the name of something here, as "and Premium?"."""
        named = [keys for keys in asked.values() if not keys <= COMMON and keys not in SHOWN_ALONE]
        return bool(named) and len(named) == len(asked) and all(keys & self._names for keys in named)

    def has_any_word(self, words: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a passage or its section has one of the words."""
        return any(self.has(keys, at) for keys in words)

    def has_word_itself(self, words: Sequence[frozenset[str]], at: int) -> bool:
        """Whether one of the words stands in the passage, and not only around it."""
        return self._row[at] or any(
            keys & self._own[at] or (keys & self._under[at] and len(self._under[at]) <= _ONE_NAME) for keys in words
        )

    def has_word(self, keys: frozenset[str], at: int) -> bool:
        """Whether a passage or its own heading has a word."""
        return bool(keys & (self._own[at] | self._under[at]))

    def is_about_another_day(self, asked: Mapping[str, frozenset[str]], at: int) -> bool:
        """Whether a passage has a day of the question by telling of other days."""
        days = [keys & self._own[at] for keys in asked.values() if keys & _WEEKDAY]
        return any(shared and shared <= _WEEKDAY | _WEEKEND for shared in days)

    def is_headed(self, asked: Mapping[str, frozenset[str]], words: Sequence[str], at: int) -> bool:
        """Whether a passage's own heading has all of these words of a question."""
        return all(asked[word] & self._under[at] for word in words)

    def counts(self, keys: frozenset[str], at: int) -> bool:
        """Whether a passage says how many there are of something: a number before it, or a cell of a table."""
        if self._of_table[at]:
            name, _, said = self._said[at].partition(":")
            cells = self._cells[at] or [("", said)]
            return any(
                measured(cell) and keys & keys_in(f"{name} {column} {cell}") and not _MONEY.search(cell)
                for column, cell in cells
            )
        if (
            keys & self._under[at]
            and shapes.HOW_MANY.search(plain(self._heading[at]))
            and any(map(str.isdigit, self._said[at]))
        ):
            return True  # the heading asks the same
        said = plain(self._said[at])
        return any(keys & keys_of(word) for found in shapes.COUNTED.finditer(said) for word in found[0].split()[1:])

    def covers(self, needed: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a passage, or what stands above it, tells all that is needed; a price, where its section shows some,
        it tells itself."""
        own = self._own[at] | self._around[at]
        if self._priced:
            # Where prices show, a mere figure is none.
            needed = [keys - shapes.FIGURE if keys & shapes.PRICE else keys for keys in needed]
        priced = bool(self._own[at] & shapes.COST) or self._places[at] not in self._priced
        return all(
            keys & own if keys <= shapes.SHAPED else self.has(keys, at) and (priced or not keys & shapes.PRICE)
            for keys in needed
        )

    def has_more_words(self, asked: Mapping[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is more than one word of the question, as a menu's are."""
        more = len(self._texts[at]) != 1 or self._said[at].endswith(".")
        return more or not any(keys & keys_of(self._texts[at][0]) for keys in asked.values())

    def only_heading(self, asked: dict[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is found by its heading alone."""
        return not any(keys & self._own[at] for keys in asked.values())

    def has(self, keys: frozenset[str], at: int) -> float:
        """How much of a word a passage has: all where it says it itself, less where what stands around it does."""
        shared = keys & self._own[at]
        if shared and shared <= _WEEKDAY | _WEEKEND and any(self._seen[key] for key in keys - _WEEKDAY - _WEEKEND):
            return 0.0 if shared == _WEEKDAY else _BESIDE  # another day, where this one is told somewhere
        if shared == _MONTH and any(self._seen[key] for key in keys - _MONTH):
            return 0.0  # another month, where this one is told somewhere
        if shared == _WEEKEND and len(keys) > 1:
            return _BESIDE  # the other of its days
        if shared:
            return 1.0 if len(keys) == 1 or any(not key.startswith("=") for key in shared) else 0.93
        if keys & self._around[at] and (self._titled(keys, at) or self._meant_in_title(keys, at)):
            return _TITLE_ALONE
        if keys & self._around[at]:
            return 0.97 if self._named[at] and keys & self._headed[at] else 0.9 if self._named[at] else _AROUND
        if any(_RELATED.get(key) in self._own[at] for key in keys):
            return 0.4
        if keys & self._beside[at]:
            return _BESIDE
        near = self._near(keys)
        return 0.8 if near & (self._own[at] | self._around[at]) else 0.0

    def is_known(self, keys: frozenset[str]) -> bool:
        """Whether any passage has a word."""
        return any(self.has(keys, at) for at in range(len(self._own)))

    def _titled(self, keys: frozenset[str], at: int) -> bool:
        """Whether a word stands in the page's title alone, above a section that has a heading of its own."""
        headed = self._under[at] and not self._row[at]
        return bool(headed) and not keys & (self._under[at] | self._beside[at] | self._over[at])

    def _meant_in_title(self, keys: frozenset[str], at: int) -> bool:
        """Whether a word stands in the page's title alone, and there as another word of that meaning, though other
        titles or headings have the word itself: a workshop that mends is no course."""
        shared = keys & self._around[at]
        if shared & self._headed[at] or not all(key.startswith("=") for key in shared):
            return False
        return any(key in self._above for key in keys if not key.startswith("="))

    def _near(self, keys: frozenset[str]) -> frozenset[str]:
        """Words of the pages that are a letter away from what was written, or begin with it, where it is in none as it
        stands."""
        if keys not in self._nearby:
            self._nearby[keys] = self._misspelt(keys)
        return self._nearby[keys]

    def _misspelt(self, keys: frozenset[str]) -> frozenset[str]:
        if any(self._seen[key] or len(keys_of(key)) > 1 for key in keys):
            return frozenset()  # a word that the pages or the lexicon have is not misspelt
        long = [key for key in keys if len(key) >= 5 and key.isalpha()]
        return frozenset(
            word
            for word in self._seen
            for key in long
            if (len(word) >= 4 and is_one_letter_apart(word, key))
            or (word.startswith(key) and len(word) - len(key) <= _CUT_SHORT)
        )


@dataclass
class Candidates:
    """Passages that may answer a question; `total`: of how many documents they are the best; `foreign`: the numbers of
    those that are written in another language than it."""

    passages: Sequence[Excerpt]
    total: int = 0
    foreign: AbstractSet[int] = frozenset()

    @cached_property
    def index(self) -> PassageIndex:
        """Which words each has, worked out when it is first asked for."""
        return PassageIndex(self.passages, self.total)


@lru_cache(maxsize=_TEXTS)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words_of(text))


@lru_cache(maxsize=_TEXTS)
def _keys(text: str) -> frozenset[str]:
    return frozenset(keys_in(text))


@lru_cache(maxsize=_TEXTS)
def _shapes(text: str) -> frozenset[str]:
    return frozenset(key for key, shape in shapes.SHAPES if shape.search(text))


@lru_cache(maxsize=_TEXTS)
def _said_as(text: str) -> frozenset[str]:
    return frozenset(key for key, said in shapes.SAID_AS if said.search(text))


def _section_texts(passages: Sequence[Excerpt]) -> list[str]:
    """By passage: its heading, and all that stands below it there."""
    places = [(one.url, one.heading, one.number) for one in passages]
    texts: dict[tuple[str, str, int], str] = {}
    for place, one in zip(places, passages, strict=True):
        texts[place] = f"{texts.get(place, one.heading)}\n{one.text}"
    return [texts[place] for place in places]
