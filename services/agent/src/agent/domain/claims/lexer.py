"""Splits a sentence into tokens: tickers, figures, numbers, periods, directions, comparisons, and other words.

"IBM rose 2.7% over the year" is ticker, rise, number, period. Both languages are read together: Spanish and English
words rarely clash, and an answer may contain both.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from agent.domain.claims import patterns, times
from agent.domain.claims.figure_words import FIGURE_PHRASES, FIGURES
from agent.domain.claims.words import COMPARING, EVENT_WORDS, PLAIN_WORDS
from agent.domain.tickers import NAMES, tickers_in
from contracts.expressions import expression

_MEASUREMENT = expression(r"[%$€]|\d[.,]\d|[+−-]\d")
"""A number with a sign, a unit or decimals; a word in capitals beside it may be its ticker."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: ticker, foreign (a ticker without results), figure, number, period, day, report, source, rise, fall,
    flat, more, less, better, worse, than, above, below, between, all, neither, break, not, unknown, expected,
    confirmed, word (says nothing to check), odd (no known word), … `position`: characters from the start."""

    kind: str
    text: str
    position: int
    value: Any = None
    word: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: its possible readings (value, decimal places), its unit, its sign."""

    readings: tuple[tuple[float, int], ...]
    percent: bool
    money: str | None
    scale: float
    sign: str
    points: bool
    times: bool = False
    is_approximate: bool = False
    """Whether the words before it make it approximate: "a little over 25%"."""
    bound: str = ""
    """`>` if the figure is said to be more than the number, `<` if less."""
    is_share: bool = False
    """Whether it is stated as a share of the whole: "lost a third"."""


_WORDS_RE = expression(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*|\d[\d.,]*\w*|[^\s\w]")
_NOT_ASCII = expression(r"[^\x00-\x7f]")
_QUALIFIER_WIDTH = 24
"""Characters before a number in which words can qualify it."""
_ADVERB = expression(
    r"(?!(?:reported|alleged|supposed|purported|inverse|negative|former|hard|bare|scarce)ly$)(?!(?:fami|supp|assemb|"
    r"ita|monopo|anoma|ju|re|al)ly$)(?!(?:supuesta|presunta|inversa|negativa)mente$)[a-z]{2,}(?:ly|mente)"
)
"""Adverbs of manner, except those that deny or reverse a statement, and words that only look like adverbs."""
_SIDES = {"over": "above", "sobre": "above", "under": "below", "beneath": "below", "bajo": "below"}
LINES = ("sma_", "upper", "middle", "lower")
"""Prefixes of figures that a price can be above or below: averages, and the bands around one."""
_PUNCTUATION = frozenset(".,;:()[]«»“”\"'’‘?!¿¡/-–—*_…·→|•`#")


def folded(text: str) -> str:
    """Lower case without accents. Every character keeps its position."""
    swapped = text.translate({0x2212: "-", 0x2013: "-", 0x2019: "'", 0xA0: " ", 0x202F: " "})
    return _NOT_ASCII.sub(lambda match: unicodedata.normalize("NFD", match[0])[0].lower()[:1], swapped).lower()


def readings(digits: str) -> tuple[tuple[float, int], ...]:
    """The values that digits may have, with their decimal places: of 1,234.5 and 1.234,5, and both if ambiguous."""
    values: dict[tuple[float, int], None] = {}
    for group, point in ((",", "."), (".", ",")):
        if re.fullmatch(rf"(?:\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+)(?:{re.escape(point)}\d+)?", digits):
            text = digits.replace(group, "").replace(point, ".")
            values[float(text), len(text.partition(".")[2])] = None
    return tuple(values)


def periods_of(segment: Sequence[Token]) -> list[str]:
    """The periods that some tokens name."""
    return [token.value for token in segment if token.kind == "period"]


class Lexer:
    """Reads sentences about tickers. `names`: ticker by folded spelling; `sources` and `words`: those of the tools."""

    def __init__(self, names: dict[str, str], sources: Iterable[str], words: Iterable[str]) -> None:
        self._names = names
        spellings = sorted(names, key=len, reverse=True)
        self._tickers = expression(
            r"(?<![\w&^.])(?:" + "|".join(re.escape(spelling) for spelling in spellings) + r")(?=$|[^\w&]|'s)"
            if spellings
            else r"(?!)"
        )
        self._sources = {folded(source) for source in sources}
        self._words = PLAIN_WORDS.union(words, *(source.split() for source in self._sources))

    def tokens(self, sentence: str) -> list[Token]:
        """The tokens of a sentence, in order."""
        unread = _UnreadSentence(folded(sentence))
        self._take_sources(unread)
        self._take_tickers(sentence, unread)
        _take_figures_named_first(unread)
        if patterns.MOVED.search(unread.text):
            _take_shares(unread)
        _take_times(unread)
        for kind, pattern in patterns.TOKENS:
            for match in unread.matches(pattern):
                unread.take(*_kind_and_value(kind, match), match)
            if kind == "figure":
                _take_numbers(unread)
        tokens = [*unread.tokens, *(self._word(match) for match in unread.matches(_WORDS_RE))]
        return list(_with_sides(sorted(tokens, key=lambda token: token.position)))

    def _word(self, match: re.Match[str]) -> Token:
        word = match[0]
        bare = word.removesuffix("'s").strip("'’.-")
        is_plain = word in _PUNCTUATION or bare in self._words or not bare or _ADVERB.fullmatch(bare)
        kind = "loaded" if bare in COMPARING else "word" if is_plain else "odd"
        return Token(kind, word, match.start(), word=bare)

    def _take_sources(self, unread: "_UnreadSentence") -> None:
        for match in unread.matches(patterns.SOURCE):
            name = match["a"] or match["b"]
            if name is None or name in self._sources:
                unread.take("word", None, match)
            elif name in patterns.PLAIN_SOURCES or name in self._names:
                continue
            elif match["a"] or name not in self._words:
                unread.take("source", name, match)

    def _take_tickers(self, sentence: str, unread: "_UnreadSentence") -> None:
        for match in unread.matches(self._tickers):
            unread.take("ticker", self._names[match[0]], match)
        for ticker in tickers_in(sentence, shouting=sentence.isupper() and not _MEASUREMENT.search(sentence)):
            if ticker in self._names.values():
                continue
            names = (name for name, named in NAMES.items() if named == ticker and name not in self._words)
            spellings = "|".join(re.escape(folded(spelling)) for spelling in (ticker, *names))
            for match in unread.matches(expression(rf"(?<!\w)(?:{spellings})(?!\w)")):
                written = sentence[match.start() : match.end()]
                if written == ticker or (match[0] in NAMES and written[0].isupper()):
                    unread.take("foreign", ticker, match)


class _UnreadSentence:
    """A folded sentence while it is read. Text that was taken as a token is not seen by later patterns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self._unread = text

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The pattern's matches in the text that is not taken yet."""
        return (match for match in pattern.finditer(self._unread) if match[0].strip() and "\x00" not in match[0])

    def take(self, kind: str, value: Any, match: re.Match[str]) -> None:
        start, end = match.span()
        self.tokens.append(Token(kind, match[0], start, value))
        self._unread = self._unread[:start] + "\x00" * (end - start) + self._unread[end:]


def _take_figures_named_first(unread: _UnreadSentence) -> None:
    """Takes figures whose names contain numbers or lengths of time, and the year of a report."""
    for match in unread.matches(patterns.REPORT):
        unread.take("report", int(match["year"]), match)
    if patterns.HAS_AVERAGE.search(unread.text):
        for match in unread.matches(patterns.SMA):
            unread.take("figure", (f"sma_{next(filter(None, match.groups()))}",), match)
    for names, pattern in FIGURE_PHRASES:
        for match in unread.matches(pattern):
            unread.take("figure", names, match)


def _take_times(unread: _UnreadSentence) -> None:
    _take_ranges(unread, times.RANGES)
    for match in unread.matches(times.DATE):
        try:
            unread.take("day", times.day_of(match), match)
        except ValueError:
            unread.take("odd", None, match)
    for match in unread.matches(times.MONTH_MOOD):
        unread.take("rise" if match["up"] else "fall", None, match)
    _take_ranges(unread, times.MONTHS_AND_YEARS)
    for match in unread.matches(times.BARE_UNIT):
        if match[0].endswith("end") or times.BEFORE_BARE_UNIT.search(unread.text, 0, match.start()):
            unread.take("word", None, match)
    if patterns.STREAK.search(unread.text):
        for match in unread.matches(times.COUNT_OF_DAYS):
            days = float(times.count_of(match["count"]))
            number = Number(((days, 0),), percent=False, money=None, scale=1.0, sign="", points=False)
            unread.take("number", number, match)
    for name, pattern in ((times.LAST_YEAR, times.IN_LAST_YEAR), *times.PERIODS):
        for match in unread.matches(pattern):
            unread.take("period", times.period_of(name, match), match)


def _take_ranges(unread: _UnreadSentence, ranges: Sequence[times.RangePattern]) -> None:
    for pattern, range_of in ranges:
        for match in unread.matches(pattern):
            if (value := range_of(match)) is not None:
                unread.take("period", value, match)


def _take_shares(unread: _UnreadSentence) -> None:
    """Takes "lost a third" as a number of percent."""
    for match in unread.matches(patterns.PART):
        share = next(share for name, share in patterns.PART_SHARES.items() if match[name]) * 100
        side = ">" if match["over"] else "<" if match["under"] else ""
        number = Number(
            ((share, 0),), percent=True, money=None, scale=1.0, sign="", points=False, bound=side, is_share=True
        )
        unread.take("number", number, match)


def _take_numbers(unread: _UnreadSentence) -> None:
    for match in unread.matches(patterns.NUMBER):
        preceding = unread.text[max(match.start() - _QUALIFIER_WIDTH, 0) : match.start()]
        bound = patterns.BOUND.search(preceding)
        currency = (match["before"] or "").strip() or (match["after"] or "").strip().removeprefix("us ")
        number = Number(
            readings=readings(match["digits"]),
            percent=bool(match["percent"]),
            money=patterns.CURRENCY.get(currency),
            scale=patterns.SCALES.get(match["scale"] or "", 1.0),
            sign=match["sign"] or match["sign2"] or "",
            points=bool(match["points"]),
            times=bool(match["times"]),
            is_approximate=bool(patterns.ABOUT.search(preceding)),
            bound="" if bound is None else ">" if bound["over"] else "<",
        )
        unread.take("number", number, match)


def _with_sides(tokens: list[Token]) -> Iterator[Token]:
    """Yields the tokens; a preposition right before an average or a band becomes the side of it that a price is on."""
    for token, next_token in zip_longest(tokens, tokens[1:]):
        kind = (
            _SIDES.get(token.word)
            if next_token and next_token.kind == "figure" and next_token.value[0].startswith(LINES)
            else None
        )
        yield token if kind is None else Token(kind, token.text, token.position)


def _kind_and_value(kind: str, match: re.Match[str]) -> tuple[str, Any]:
    """The kind and the value of a token that a pattern of this kind matched."""
    groups = match.groupdict()

    def has_any(*names: str) -> bool:
        return any(groups[name] for name in names)

    if kind == "figure":
        return kind, FIGURES[next(i for i in range(len(FIGURES)) if groups[f"f{i}"])][0]
    if kind == "compare":
        if has_any("rmore", "rless"):
            return ("more" if groups["rmore"] else "less"), "volatility"
        if has_any("wmore", "wless", "vmore", "vless"):
            return ("less" if has_any("wless", "vless") else "more"), "market_cap"
        figure = _figure_of(next((groups[name] for name in _ADJECTIVE_GROUPS if groups[name]), "volatil"))
        is_less = has_any("less", "fless", "adj3", "adj4", "half") != figure.startswith("-")
        return ("less" if is_less else "more"), figure.lstrip("-")
    if kind == "super":
        figure = _figure_of(groups["sadj"] or groups["sadj2"] or groups["sest"])
        is_least = has_any("sleast", "sleast2") != figure.startswith("-")
        return ("lowest" if is_least else "highest"), figure.lstrip("-")
    if kind == "moved_more":
        is_more = (groups["much"] or groups["fmuch"]) in ("more", "mas")
        return "moved", ("fall" if groups["fdir"] else "rise", "more" if is_more else "less")
    if kind == "best":
        is_worst = groups["loser"] or not {groups["b"], groups["b2"], groups["b3"]}.isdisjoint(_WORST)
        return ("lowest" if is_worst else "highest"), None if re.match("lead|led|lider", match[0]) else "return"
    return kind, None


_WORST = frozenset(("worst", "weakest", "peor"))
_ADJECTIVE_GROUPS = ("adj", "adj2", "adj3", "adj4", "adj5", "er")
"""Groups of a comparison that hold its adjective."""


def _figure_of(adjective: str) -> str:
    figures = (figure for start, figure in patterns.ADJECTIVES.items() if adjective.startswith(start))
    return next(figures, "volatility")


_TALK_KINDS = frozenset("word odd break not all period unknown expected confirmed loaded".split())  # noqa: SIM905


def is_talk(tokens: Iterable[Token]) -> bool:
    """Whether a sentence claims nothing about a market: no ticker, figure, number, direction or event."""
    return all(token.kind in _TALK_KINDS and token.word not in EVENT_WORDS for token in tokens)
