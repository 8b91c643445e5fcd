"""Which words of a question each passage contains: in its text, its heading, its title, or its section.

A word counts fully in the sentence itself and less around it: under the heading "Delivery", "£4 within 5 miles" has
"deliver" almost as if it said so. Synonyms and misspelt words count, too.
"""

import math
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, is_common
from agent.domain.offline.evidence import HOW_HEADING
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.passage_keys import asked_in_heading, keys_of_sections, section_texts, text_keys, words_in
from agent.domain.offline.questions import Query
from agent.domain.text_features import is_one_letter_apart, plain, stem

_PARTIAL_KEYS = {"=discount": "=price"}
"""Keys that count as a part of another one."""
_HEADING_STRENGTH = 0.85
"""Strength (0 to 1) of a word that only the heading has, in pages fetched now."""
_TITLE_STRENGTH = 0.5
"""Strength of a word that only the page's title has, above a section with a heading of its own."""
MAX_NAME_WORDS = 3
"""Maximum words of a name or a fragment; a question's word counts as written if it has more letters."""
TERMS_BY_FORM = (shapes.FIGURE, shapes.PRICE, shapes.CLOCK, constraints.LENGTH, constraints.TAKES)
"""Terms that a passage has by its form alone, such as a price; they name no topic."""
_MAX_COMMON_WEIGHT = 0.8
"""Maximum weight of a common word, a number, or a term of `SHOWN_ALONE`."""
_UNKNOWN_COMMON_WEIGHT = 0.15
"""Weight of a common word that no page has."""
_MIN_SITEWIDE_PAGES = 3
"""Number of pages from which on words in all of their titles are ignored as the company's name."""
_WEEKEND = frozenset(("=weekend",))
_WEEKDAY = frozenset(("=weekday",))
_MONTH = frozenset(("=month",))
_PET = frozenset(("=pet",))
ANIMALS = (keys_of("dog") | keys_of("cat")) - _PET
"""Keys of animals: what is said of pets is said of each of them, but what is said of one is not said of another."""
SECTION_STRENGTH = 0.75
"""Strength of a word that another sentence of the section has."""
_MAX_MISSING_LETTERS = 4
"""Letters that may be missing at a word's end: "recep" is the reception."""
_MAX_KEYS_OF_ONE_WORD = 3
"""Maximum keys of a heading that is one word."""


class PassageIndex:
    """Which words each passage has, and how strongly: the most in its own text, less in heading, title and section."""

    def __init__(self, passages: Sequence[Excerpt], total: int = 0) -> None:
        self._passages = passages
        self._text_keys = text_keys(passages)
        # Pages fetched now are few, with titles of one word. A company's stored pages are told apart by their titles.
        self._outer_heading_keys = [keys_in(passage.above) if passage.number else set[str]() for passage in passages]
        self._context_keys = [
            keys_in(f"{passage.title} {passage.heading}" if passage.number else passage.heading) | outer_keys
            for passage, outer_keys in zip(passages, self._outer_heading_keys, strict=True)
        ]
        self._all_context_keys = frozenset[str]().union(*self._context_keys)
        for passage, context_keys in zip(passages, self._context_keys, strict=True):
            context_keys |= {"=name"} if shapes.FULL_NAME.search(passage.heading) else set()
            context_keys |= keys_in(passage.column)  # the header of the table's first column
        # A title stands above the whole page; it only counts as heading of the part without a heading of its own.
        self._title_or_heading_keys = [
            keys_in(passage.heading or (passage.title if passage.number else "")) | asked_in_heading(passage.heading)
            for passage in passages
        ]
        self._heading_keys = [keys_in(passage.heading) for passage in passages]
        self._words = [words_in(passage.text) for passage in passages]
        self._stems = [{stem(word) for word in words} for words in self._words]
        self._section_texts = section_texts(passages)
        self._explains_how = [bool(HOW_HEADING.search(plain(passage.heading))) for passage in passages]
        self._name_keys = {
            key
            for passage in passages
            for name in (passage.text.partition(":")[0] if passage.row else "", passage.heading, *passage.columns)
            if len(words := words_of(name)) <= MAX_NAME_WORDS
            for word in words
            for key in keys_of(word)
        }
        title_keys = {passage.url.partition("#")[0]: keys_in(passage.title) for passage in passages if passage.number}
        title_counts = Counter(key for keys in title_keys.values() for key in keys)
        self._sitewide_keys = {
            key for key, count in title_counts.items() if count == len(title_keys) >= _MIN_SITEWIDE_PAGES
        }
        """What the title of every page says: the company and its kind."""
        self._section_keys = keys_of_sections(passages, self._text_keys)
        self._section_ids = [passage.section_id for passage in passages]
        self._priced_sections = {self._section_ids[i] for i, keys in enumerate(self._text_keys) if keys >= shapes.PRICE}
        keys_by_document: dict[int, set[str]] = {}
        for i, passage in enumerate(passages):
            document = keys_by_document.setdefault(passage.number or -i - 1, set())
            document.update(self._text_keys[i], self._context_keys[i])
        self._document_counts = Counter(key for keys in keys_by_document.values() for key in keys)
        self._documents = max(len(keys_by_document), total)
        self._similar_words: dict[frozenset[str], frozenset[str]] = {}

    def weight(self, keys: frozenset[str]) -> float:
        """How much a word of the question counts: the rarer, the more; the most if no page has it."""
        documents_with = max((self._document_counts[key] for key in keys), default=0)
        documents_with = documents_with or max(
            (self._document_counts[similar_key] for similar_key in self._similar(keys)), default=0
        )
        weight = math.log(1 + (self._documents - documents_with + 0.5) / (documents_with + 0.5)) + 0.5
        # A matching figure helps to choose, but the lack of one is no reason to find nothing.
        if is_common(keys) or all(key.isdigit() for key in keys):
            return min(weight, _MAX_COMMON_WEIGHT) if documents_with else _UNKNOWN_COMMON_WEIGHT
        return min(weight, _MAX_COMMON_WEIGHT) if keys in TERMS_BY_FORM else weight

    def coverage(self, query: Query, position: int) -> float:
        """The share (0 to 1) of a question that a passage covers: the lesser of the share of its weight and the share
        of its specific words."""
        strengths = {word: self.strength(keys, position) for word, keys in query.items()}
        strengths |= {
            word: max(strengths[word], _HEADING_STRENGTH) for word, keys in query.items() if keys & self._sitewide_keys
        }
        total_weight = sum(map(self.weight, query.values()))
        topic_words = [
            word
            for word, keys in query.items()
            if word not in ("=figure", "=clock", "=length", "=takes") and not keys & COMMON and not word.isdigit()
        ]
        title_only_words = [word for word in topic_words if strengths[word] == _TITLE_STRENGTH]
        is_direct = self._explains_how[position] or any(
            word in shapes.ANSWERED_BY_HEADING and strengths[word] for word in query
        )
        if (is_direct or len(title_only_words) < len(topic_words)) and all(
            strengths[word] >= _HEADING_STRENGTH for word in topic_words if word not in title_only_words
        ):
            # A section about all other words of the question is about the word in the page's title, too.
            strengths |= dict.fromkeys(title_only_words, _HEADING_STRENGTH)
        is_present = [strengths[word] > 0 and strengths[word] != _TITLE_STRENGTH for word in topic_words]
        if is_present:
            share_of_words = sum(is_present) / len(is_present)
        else:
            # Of common words only: the best that has a meaning here, or else the worst.
            common_strengths = {word: strengths[word] for word, keys in query.items() if keys & COMMON}
            meaning_strengths = [
                strength
                for word, strength in common_strengths.items()
                if any(key.startswith("=") for key in query[word])
            ]
            share_of_words = (
                max(meaning_strengths) if meaning_strengths else min(common_strengths.values(), default=1.0)
            )
        share_of_weight = (
            sum(self.weight(keys) * strengths[word] for word, keys in query.items()) / total_weight
            if total_weight
            else 0.0
        )
        return min(share_of_weight, share_of_words)

    def antecedent_coverage(self, query: Query, antecedent: Query, position: int, min_coverage: float) -> float:
        """1.0 if a passage shows the price or time that is asked for now, and covers at least `min_coverage` of the
        question that this one refers to; else 0.0."""
        shows_all = all(self.strength(keys, position) for keys in query.values() if keys & shapes.PRICE_OR_TIME)
        coverage = self.coverage(antecedent, position)
        return 1.0 if shows_all and coverage >= min_coverage else 0.0

    def tie_break_score(
        self, query: Query, antecedent: Query, question_stems: AbstractSet[str], position: int
    ) -> float:
        """Added to the coverage to choose among passages of similar coverage: more for a heading with a word of the
        question, for words of the question that this one refers to, for the exact wording, and for few words."""
        heading_bonus = 0.05 * any(keys & self._title_or_heading_keys[position] for keys in query.values())
        other_terms = {key: keys for key, keys in antecedent.items() if key not in query}
        share_in_text = sum(bool(keys & self._text_keys[position]) for keys in query.values()) / max(len(query), 1)
        wording_bonus = 0.2 * share_in_text + 0.02 * len(question_stems & self._stems[position]) / max(
            len(question_stems), 1
        )
        antecedent_factor = 0.3 if len(query) <= 1 else 0.1
        return (
            heading_bonus
            - 0.15 * self.is_fragment(position)
            + antecedent_factor * min(self.coverage(other_terms, position), 1.0)
            + wording_bonus
            - 0.001 * len(self._stems[position])
        )

    def is_fragment(self, position: int) -> bool:
        """Whether a passage is a few words without a sentence, such as a button's, or a copyright notice."""
        is_short = len(self._words[position]) <= MAX_NAME_WORDS and not any(
            character.isdigit() for character in self._passages[position].text
        )
        is_short = (
            is_short
            and not self._passages[position].row
            and not self._passages[position].text.endswith((".", "!", "?"))
        )
        return is_short or self._passages[position].text.startswith("©")

    def words(self, position: int) -> Sequence[str]:
        """A passage's words, normalized."""
        return self._words[position]

    def section_text(self, position: int) -> str:
        """The text of a passage's section, heading included."""
        return self._section_texts[position]

    def terms_without_names(self, query: Query) -> list[frozenset[str]]:
        """The terms of a question that are not in the name of anything here: a short heading, column header or row
        name."""
        return [keys for keys in query.values() if keys not in TERMS_BY_FORM and not keys & self._name_keys]

    def is_name_alone(self, query: Query) -> bool:
        """Whether a question is nothing but such names, as "and Premium?"."""
        name_terms = [keys for keys in query.values() if not keys <= COMMON and keys not in TERMS_BY_FORM]
        return bool(name_terms) and len(name_terms) == len(query) and all(keys & self._name_keys for keys in name_terms)

    def has_any_word(self, words: Sequence[frozenset[str]], position: int) -> bool:
        """Whether a passage, or what stands around it, has one of the words."""
        return any(self.strength(keys, position) for keys in words)

    def has_word_itself(self, words: Sequence[frozenset[str]], position: int) -> bool:
        """Whether a passage has one of the words in its own text, or in a heading of one word; always true for rows."""
        return self._passages[position].row or any(
            keys & self._text_keys[position]
            or (keys & self._heading_keys[position] and len(self._heading_keys[position]) <= _MAX_KEYS_OF_ONE_WORD)
            for keys in words
        )

    def has_word(self, keys: frozenset[str], position: int) -> bool:
        """Whether a passage's text or its own heading has a word."""
        return bool(keys & (self._text_keys[position] | self._heading_keys[position]))

    def is_about_another_day(self, query: Query, position: int) -> bool:
        """Whether a passage matches a day of the question only by naming other days."""
        shared_by_day = [keys & self._text_keys[position] for keys in query.values() if keys & _WEEKDAY]
        return any(shared and shared <= _WEEKDAY | _WEEKEND for shared in shared_by_day)

    def names_day(self, query: Query, position: int) -> bool:
        """Whether a passage names a day of the question."""
        return any(
            (keys - _WEEKDAY - _WEEKEND) & self._text_keys[position] for keys in query.values() if keys & _WEEKDAY
        )

    def has_all(self, required: Sequence[frozenset[str]], position: int) -> bool:
        """Whether a passage, or what stands above it, has one of each of these keys. A price must be in the passage
        itself if its section shows any."""
        passage_keys = self._text_keys[position] | self._context_keys[position]
        if self._priced_sections:
            # If any passage shows a price, a mere figure is not one.
            required = [keys - shapes.FIGURE if keys & shapes.PRICE else keys for keys in required]
        has_own_price = (
            bool(self._text_keys[position] & shapes.COST) or self._section_ids[position] not in self._priced_sections
        )
        return all(
            keys & passage_keys
            if keys <= shapes.SHAPED
            else self.strength(keys, position) and (has_own_price or not keys & shapes.PRICE)
            for keys in required
        )

    def has_more_words(self, query: Query, position: int) -> bool:
        """Whether a passage is more than a single word of the question, as menu entries are. Stored pages have none, so
        a list item there says that the thing is on the list."""
        passage = self._passages[position]
        is_said = len(self._words[position]) != 1 or passage.text.endswith(".") or bool(passage.item and passage.number)
        return is_said or not any(keys & keys_of(self._words[position][0]) for keys in query.values())

    def matches_heading_only(self, query: Query, position: int) -> bool:
        """Whether a passage's text has no word of the question, so that only its heading matches."""
        return not any(keys & self._text_keys[position] for keys in query.values())

    def strength(self, keys: frozenset[str], position: int) -> float:
        """How strongly a passage has a word (0 to 1): 1 in its own text, less in heading, title, or other sentences of
        the section, and for synonyms and misspelt words."""
        if keys & ANIMALS:
            own_keys = self._text_keys[position] | self._heading_keys[position]
            animals = ANIMALS & (
                own_keys if self._text_keys[position] & _PET else own_keys | self._section_keys[position]
            )
            keys = keys - _PET if animals and not keys & animals else keys  # another animal
        shared = keys & self._text_keys[position]
        if (
            shared
            and shared <= _WEEKDAY | _WEEKEND
            and any(self._document_counts[key] for key in keys - _WEEKDAY - _WEEKEND)
        ):
            return 0.0 if shared == _WEEKDAY else SECTION_STRENGTH  # another day, although some passage has this one
        if shared == _MONTH and any(self._document_counts[key] for key in keys - _MONTH):
            return 0.0  # another month, although some passage has this one
        if shared == _WEEKEND and len(keys) > 1:
            return SECTION_STRENGTH  # the other day of the weekend
        if shared:
            return 1.0 if len(keys) == 1 or any(not key.startswith("=") for key in shared) else 0.93
        if keys & self._context_keys[position] and (
            self._is_in_title_only(keys, position) or self._is_synonym_in_title_only(keys, position)
        ):
            return _TITLE_STRENGTH
        if keys & self._context_keys[position]:
            return (
                0.97
                if self._passages[position].number and keys & self._title_or_heading_keys[position]
                else 0.9
                if self._passages[position].number
                else _HEADING_STRENGTH
            )
        if any(_PARTIAL_KEYS.get(key) in self._text_keys[position] for key in keys):
            return 0.4
        if keys & self._section_keys[position]:
            return SECTION_STRENGTH
        similar = self._similar(keys)
        return 0.8 if similar & (self._text_keys[position] | self._context_keys[position]) else 0.0

    def is_known(self, keys: frozenset[str]) -> bool:
        """Whether any passage has a word."""
        return any(self.strength(keys, position) for position in range(len(self._text_keys)))

    def _is_in_title_only(self, keys: frozenset[str], position: int) -> bool:
        """Whether only the page's title has a word, above a section with a heading of its own."""
        has_heading = self._heading_keys[position] and not self._passages[position].row
        return bool(has_heading) and not keys & (
            self._heading_keys[position] | self._section_keys[position] | self._outer_heading_keys[position]
        )

    def _is_synonym_in_title_only(self, keys: frozenset[str], position: int) -> bool:
        """Whether only the page's title has a synonym of a word, although some title or heading has the word itself: a
        workshop that mends is not a course."""
        shared = keys & self._context_keys[position]
        if shared & self._title_or_heading_keys[position] or not all(key.startswith("=") for key in shared):
            return False
        return any(key in self._all_context_keys for key in keys if not key.startswith("="))

    def _similar(self, keys: frozenset[str]) -> frozenset[str]:
        """Words of the pages that are one letter away from a word, or begin with it, if no page has the word itself."""
        if keys not in self._similar_words:
            self._similar_words[keys] = self._find_similar(keys)
        return self._similar_words[keys]

    def _find_similar(self, keys: frozenset[str]) -> frozenset[str]:
        if any(self._document_counts[key] or len(keys_of(key)) > 1 for key in keys):
            return frozenset()  # a word that the pages or the lexicon have is not misspelt
        long_keys = [key for key in keys if len(key) >= 5 and key.isalpha()]
        return frozenset(
            word
            for word in self._document_counts
            for key in long_keys
            if (len(word) >= 4 and is_one_letter_apart(word, key))
            or (word.startswith(key) and len(word) - len(key) <= _MAX_MISSING_LETTERS)
        )


@dataclass
class Candidates:
    """Passages that may answer a question. `total` is the number of documents that they were chosen from, `foreign` the
    numbers of the passages in another language than the question's."""

    passages: Sequence[Excerpt]
    total: int = 0
    foreign: AbstractSet[int] = frozenset()

    @cached_property
    def index(self) -> PassageIndex:
        """The index of the passages, built at first use."""
        return PassageIndex(self.passages, self.total)
