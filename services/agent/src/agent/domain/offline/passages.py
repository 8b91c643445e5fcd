"""What pages say that answers a question: the sentence or the table row, or nothing.

Sentences are ranked like BM25 does it: a word weighs the more, the fewer passages have it. What counts at the end is
how much of the question a passage covers. A word that no page has weighs most, so that a question about something else
finds nothing, however many of its other words are there.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from agent.domain.offline.common_words import COMMON, LIGHT
from agent.domain.offline.lexicon import keys_of, meanings_of, one_apart, swapped, words_of
from agent.domain.offline.text_features import stem

ENOUGH = 0.6
"""Of a question's weight, what a passage must cover to be its answer."""
_ENDED = re.compile(r"(?<=[.!?])\s+(?=[¿¡\"“«(]?[A-ZÁÉÍÓÚÑ0-9])")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[|\s:-]+")
_ACCOUNT_OPENED = re.compile(
    r"\b(?:create|open|crea|crear|abre|abro|abrir)\w* (?:an?|your|una|tu) (?:\w+ )?(?:account|cuenta)", re.IGNORECASE
)
_PHRASES = (
    ("=register", _ACCOUNT_OPENED),
    ("=refund", re.compile(r"\b(?:money|cash) back\b|\bdinero de vuelta\b|\bmi dinero\b", re.IGNORECASE)),
    ("=contact", re.compile(r"\b(?:tele)?phone numbers?\b|\bn[uú]meros? de (?:tel[eé]fono|m[oó]vil)\b", re.IGNORECASE)),
)
"""What a question says in several words."""
_SHAPES = (
    ("=register", _ACCOUNT_OPENED),
    ("=hours", re.compile(r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
                          r"\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)", re.IGNORECASE)),
    ("=price", re.compile(r"[$€£]\s?\d|\d\s?(?:[$€£]|usd\b|eur\b|euros?\b|mxn\b|pesos\b|dollars?\b)", re.IGNORECASE)),
    ("=contact", re.compile(r"\S@\S+\.\w|^(?!.*\b(?:tax|vat|nif|cif|iva|iban|regist\w+|licen[cs]\w+)\b).*"
                            r"(?:\+|\b)\d[\d ()-]{7,}\d", re.IGNORECASE | re.DOTALL)),
    ("=figure", re.compile(r"(?<![\w-])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|"
                           r"thirty|fifty|sixty|hundred|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|"
                           r"treinta|cincuenta|sesenta|cien|ciento|quinient[ao]s|setecient[ao]s)\b", re.IGNORECASE)),
    ("=weekend", re.compile(r"\b(?:satur|sun)days?\b|\bweekends?\b|\bs[aá]bados?\b|\bdomingos?\b|"
                            r"\bfin(?:es)? de semana\b|\bfindes?\b", re.IGNORECASE)),
    ("=clock", re.compile(r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:noon|midday|midnight|closed|mediod[ií]a|"
                          r"medianoche|cerrad[oa]s?|cerramos)\b|\b(?:from|de|las?) \d{1,2} (?:to|a)\b|"
                          r"\b(?:until|till|at|hasta|las) (?:las )?\d{1,2}\b", re.IGNORECASE)),
    ("=where", re.compile(r"\b(?:street|avenue|road|calle|avenida|plaza|paseo|st\.|av\.)", re.IGNORECASE)),
)  # fmt: skip
"""What a passage is about by the look of it: nobody writes "our opening hours are" beside a table of hours."""
_RELATED = {"=discount": "=price"}
"""What tells a part of it."""
_WHAT_TIME = re.compile(r"\bwhat time(?! zone)\b|\bque hora\b")
_MAY = re.compile(r"\b(?:can|could|may) (?:i|we|you)\b|\b(?:puedo|podemos|podria|podeis|puedes) |\bse puede\b|"
                  r"\b(?:allowed|possible) to\b")  # fmt: skip
_TO_ANOTHER = re.compile(r" *(?:pas|mov|go|ir)\w* (?:from|de) (?:\w+ ){1,3}?(?:to|a) ")
"""May I go from one thing to another: that is to change."""
_TOLD_OTHERWISE = frozenset(("=price",))
"""That one may pay with something is told by saying that it is accepted."""
_HOW_MUCH = re.compile(r"\bhow (?:much|many|long|far|old|big)\b|\bcuant[oa]s?\b")
_HOW_PRICED = re.compile(r"\bhow much (?:is|are|for)\b|\bcuanto (?:es|son|sale\w*|seria\w*)\b")
_INCLUDED = re.compile(
    r"\b(?:what(?: is|s)? in|comes? with|includ\w*|incluy\w*|contain\w*|contien\w*|trae|features?|que tiene)\b"
)
_COMPARING = re.compile(r"\b(differ\w*|compar\w*|versus|vs|better|diferen\w*|frente|mejor|distingu\w*)\b")
_MOST_SHOWN = 5
_SHORT = 3
_FIGURE = frozenset(("=figure",))
_PRICE = frozenset(("=price",))
_CLOCK = frozenset(("=clock",))
_FIGURES_AT_MOST = 0.8
_TWO = re.compile(r"\b(?:and|or|y|o|e|vs|versus|frente)\b")


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page that was read; `links`: (path, words, language)."""

    path: str
    url: str
    title: str
    text: str
    links: tuple[tuple[str, str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, list item or table row, with the heading that it stands under and the page's address and title.
    `number`: of the passage that it is from, where it is from one that was found for the question."""

    text: str
    heading: str
    url: str
    title: str
    place: int
    number: int = 0


def passages_of(page: SitePage) -> list[Excerpt]:
    """A page's passages, in its order; a row of a table says its column's name with each cell."""
    return sentences_of(page.text, "", page.url, page.title)


def sentences_of(text: str, heading: str, url: str, title: str, number: int = 0) -> list[Excerpt]:
    """The sentences, list items and rows of a text that begins under a heading."""
    found: list[Excerpt] = []
    columns = list[str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), []
            continue
        if " | " in line:
            if _RULE.fullmatch(line):
                continue
            cells = [
                cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.removeprefix("|").removesuffix("|"))
            ]
            if not columns:
                columns = cells
                if not any(character.isdigit() for character in line):
                    continue
            elif len(set(cells[1:])) == 1 and len(cells) > 2 and not any(one.isdigit() for one in cells[1]):
                line = f"{cells[0]}: {cells[1]}"
            elif len(cells) == len(columns):
                line = f"{cells[0]}: " + ", ".join(
                    cell if not name or name == cell else f"{name} {cell}"
                    for name, cell in zip(columns[1:], cells[1:], strict=True)
                )
            pieces = [line]
        else:
            columns, pieces = [], _ENDED.split(line.lstrip("- "))
        found += [Excerpt(said, heading, url, title, len(found) + at, number) for at, said in enumerate(pieces)]
    return found


def best_passages(question: str, before: str, pages: Sequence[SitePage], enough: float = ENOUGH) -> list[Excerpt]:
    """What the pages say that answers the question; nothing where they do not."""
    return rank(question, before, [one for page in pages for one in passages_of(page)], enough)


def rank(
    question: str, before: str, passages: Sequence[Excerpt], enough: float = ENOUGH, total: int = 0
) -> list[Excerpt]:
    """What answers the question, of one section, in the page's order; `before`: the question that it follows; `total`:
    of how many documents the passages are the best."""
    asked, earlier = _terms(question), _terms(before)
    sections = _compared(question, passages) or _included(question, passages)
    sections = sections or ([] if before else _all_shown(asked, passages))
    if sections or not passages or not asked or not (before or telling(question)):
        return sections
    index = _Index(passages, total)
    needed = _needed(question)
    shares = [
        index.share(asked, at) if index.holds(needed, at) and index.says_more(asked, at) else 0.0
        for at in range(len(passages))
    ]
    if max(shares) < enough:
        return []
    written = {word.rstrip("s") for word in words_of(question) if len(word) > _SHORT}
    scores = [share + index.preferred(asked, earlier, written, at) for at, share in enumerate(shares)]
    best = max(scores)
    at = scores.index(best)
    chosen = passages[at]
    section = [other for other, one in enumerate(passages) if (one.url, one.heading) == (chosen.url, chosen.heading)]
    if index.only_heading(asked, at):
        # The heading asks it; what stands below, from its beginning, is the answer.
        return [passages[other] for other in section[:3]]
    # What ties with the best in its section belongs to the answer; elsewhere it is another question's.
    also = [passages[other] for other in section if other != at and scores[other] >= best - 0.02]
    return sorted([chosen, *also][:3], key=lambda one: one.place)


def about(pages: Sequence[SitePage]) -> list[Excerpt]:
    """What the site says that it is: how its first page begins."""
    return [one for page in pages[:1] for one in passages_of(page)][:1]


def telling(text: str) -> list[str]:
    """The words of a text that say what it is about."""
    return [word for word in words_of(text) if not _is_light(word)]


def _is_light(word: str) -> bool:
    return (word in LIGHT and word not in _ASKING) or (len(word) == 4 and any(swapped(word, one) for one in LIGHT))


_ASKING = frozenset(("where", "donde"))
_WHERE = frozenset(map(stem, _ASKING))


def _needed(question: str) -> list[frozenset[str]]:
    """What a passage must tell to be an answer at all, however much else it shares with the question: a time of day,
    where that is asked; of what may be done, the doing, where other words for it are known."""
    said = " ".join(words_of(question))
    needed: list[frozenset[str]] = [_CLOCK] if _WHAT_TIME.search(said) else []
    if may := _MAY.search(said):
        doing = next(iter(telling(said[may.end() :])), "")
        another = _TO_ANOTHER.match(said, may.end())
        meant = {"change"} if another else meanings_of(doing)
        needed.append(frozenset(f"={name}" for name in meant) - _TOLD_OTHERWISE)
    return [keys for keys in needed if keys]


def _terms(text: str) -> dict[str, frozenset[str]]:
    shaped: dict[str, frozenset[str]] = {}
    for key, shape in _PHRASES:
        if shape.search(text):
            shaped[key], text = frozenset((key,)), shape.sub(" ", text)
    if _HOW_MUCH.search(" ".join(words_of(text))):
        # "How much is it?" alone is for its price.
        priced = not telling(text) or _HOW_PRICED.search(" ".join(words_of(text)))
        shaped["=figure"] = _PRICE if priced else _FIGURE
    keys = {stem(word): keys_of(word) | {f"={name}" for name in meanings_of(word)} for word in telling(text)}
    # "Open" in a question for hours is not the one of "open your account", nor "where" all of "where do I sign up".
    telling_more = {word: found for word, found in keys.items() if word not in _WHERE}
    keys = telling_more if telling_more or shaped else keys
    looked_for = {"=hours", "=contact"}
    return shaped | {word: found - {word} if looked_for & found else found for word, found in keys.items()}


class _Index:
    """Which words each passage has: its own whole, its heading's and its title's for less."""

    def __init__(self, passages: Sequence[Excerpt], total: int = 0) -> None:
        self._own = [_keys(one.text) | {key for key, shape in _SHAPES if shape.search(one.text)} for one in passages]
        # Pages that were fetched are few and have names of one word; those of a whole company are told apart by theirs.
        self._around = [_keys(f"{one.title} {one.heading}" if one.number else one.heading) for one in passages]
        # A title stands above all of its page: of its parts, the one whose own heading says it is meant.
        self._headed = [_keys(one.heading or (one.title if one.number else "")) for one in passages]
        self._texts = [words_of(one.text) for one in passages]
        self._written = [{word.rstrip("s") for word in one} for one in self._texts]
        self._named = [bool(one.number) for one in passages]
        for key, shape in _SHAPES:
            # Where a page shows hours, "open" somewhere else speaks of something else.
            shaped = [bool(shape.search(one.text)) for one in passages]
            if any(shaped):
                for own, is_shaped in zip(self._own, shaped, strict=True):
                    own -= set() if is_shaped else {key}
        held: dict[int, set[str]] = {}
        for at, (own, around) in enumerate(zip(self._own, self._around, strict=True)):
            held.setdefault(passages[at].number or -at - 1, set()).update(own, around)
        self._seen = Counter(key for keys in held.values() for key in keys)
        self._count = max(len(held), total)

    def weight(self, keys: frozenset[str]) -> float:
        """How much a word of the question tells: the most where no page has it."""
        having = max((self._seen[key] for key in keys), default=0)
        having = having or max((self._seen[near] for near in self._near(keys)), default=0)
        worth = math.log(1 + (self._count - having + 0.5) / (having + 0.5)) + 0.5
        # That something is told in figures helps to choose; that it is not is no reason for silence.
        return min(worth, _FIGURES_AT_MOST) if keys in (_FIGURE, _PRICE) or keys & COMMON else worth

    def share(self, asked: Mapping[str, frozenset[str]], at: int) -> float:
        """Of the question's weight, what a passage has."""
        whole = sum(map(self.weight, asked.values()))
        had = {word: self._has(keys, at) for word, keys in asked.items()}
        telling = [has > 0 for word, has in had.items() if word != "=figure" and not asked[word] & COMMON]
        by_count = sum(telling) / len(telling) if telling else 1.0
        by_weight = sum(self.weight(keys) * had[word] for word, keys in asked.items()) / whole if whole else 0.0
        return min(by_weight, by_count)

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
        return headed + 0.1 * min(self.share(before, at), 1.0) + same - 0.001 * len(self._own[at])

    def holds(self, needed: Sequence[frozenset[str]], at: int) -> bool:
        """Whether a passage, or what stands above it, tells all that is needed."""
        return all(self._has(keys, at) for keys in needed)

    def says_more(self, asked: Mapping[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is more than one word of the question, as a menu's are."""
        return len(self._texts[at]) != 1 or not any(keys & keys_of(self._texts[at][0]) for keys in asked.values())

    def only_heading(self, asked: dict[str, frozenset[str]], at: int) -> bool:
        """Whether a passage is found by its heading alone."""
        return not any(keys & self._own[at] for keys in asked.values())

    def _has(self, keys: frozenset[str], at: int) -> float:
        shared = keys & self._own[at]
        if shared:
            return 1.0 if len(keys) == 1 or any(not key.startswith("=") for key in shared) else 0.93
        if keys & self._around[at]:
            return 0.97 if self._named[at] else 0.85
        if any(_RELATED.get(key) in self._own[at] for key in keys):
            return 0.4
        near = self._near(keys)
        return 0.8 if near & (self._own[at] | self._around[at]) else 0.0

    def _near(self, keys: frozenset[str]) -> frozenset[str]:
        """Words of the pages that are a letter away from what was written, where it is in none as it stands."""
        if any(self._seen[key] for key in keys):
            return frozenset()
        long = [key for key in keys if len(key) >= 5 and key.isalpha()]
        return frozenset(word for word in self._seen for key in long if len(word) >= 4 and one_apart(word, key))


def _keys(text: str) -> set[str]:
    return {key for word in words_of(text) for key in keys_of(word)}


def _compared(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for the difference of two things: what the page says of the one and of the other."""
    said = " ".join(words_of(question))
    if not _COMPARING.search(said):
        return []
    sides = [side for part in _TWO.split(said) if (side := telling(_COMPARING.sub(" ", part)))]
    if len(sides) < 2:
        return []
    found: list[Excerpt] = []
    for side in sides[:3]:
        section = _section(side, passages)
        if not section:
            return []
        found += [one for one in section if one not in found]
    return found


def _included(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for what something holds: all that stands under its name."""
    said = " ".join(words_of(question))
    if not _INCLUDED.search(said):
        return []
    section = _section(telling(_INCLUDED.sub(" ", said)), passages)
    return section if len(section) > 1 else []


def _all_shown(asked: Mapping[str, frozenset[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question that names nothing, as "how much is it?": all that the page which shows the most of it has."""
    for key, shape in _SHAPES:
        if asked and all(key in keys or not keys - {"=figure"} for keys in asked.values()):
            shown = [one for one in passages if shape.search(one.text)]
            pages = Counter[str]()
            for one in shown:
                pages[one.url] += 3 if key in _keys(one.heading) else 1
            return [one for one in shown if one.url == pages.most_common(1)[0][0]][:_MOST_SHOWN]
    return []


def _section(named: Sequence[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What stands under a heading that is little else than one of these words; or else the first to have one."""
    keys = {key for word in named for key in keys_of(word)}
    under = [one for one in passages
             if keys & _keys(one.heading) and len(telling(one.heading)) <= max(len(named) - 1, 1)]  # fmt: skip
    first = under[:1] or [one for one in passages if keys & _keys(one.text)][:1]
    return [one for one in under if (one.url, one.heading) == (first[0].url, first[0].heading)][:4] or first
