"""Splits a sentence into tokens: tickers, figures, numbers, periods, directions, comparisons, and other words.

"IBM rose 2.7% over the year" is ticker, rise, number, period. Both languages are read together: Spanish and English
words rarely clash, and an answer may contain both.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from agent.domain.claims import patterns, times
from agent.domain.claims.figure_words import FIGURE_PHRASES, FIGURES
from agent.domain.claims.words import COMPARING, EVENT_WORDS, PLAIN_WORDS
from agent.domain.tickers import NAMES, tickers_in

_MEASUREMENT = re.compile(r"[%$€]|\d[.,]\d|[+−-]\d")
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


_WORDS_RE = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*|\d[\d.,]*\w*|[^\s\w]")
_QUALIFIER_WIDTH = 24
"""Characters before a number in which words can qualify it."""
_ADVERB = re.compile(
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
    return "".join((unicodedata.normalize("NFD", c)[0].lower() or c)[:1] for c in swapped)


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
        self._tickers = re.compile(
            r"(?<![\w&^.])(?:" + "|".join(re.escape(spelling) for spelling in spellings) + r")(?=$|[^\w&]|'s)"
            if spellings
            else r"(?!)"
        )
        self._sources = {folded(source) for source in sources}
        self._words = PLAIN_WORDS.union(words, *(source.split() for source in self._sources))

    def tokens(self, sentence: str) -> list[Token]:
        """The tokens of a sentence, in order."""
        text = folded(sentence)
        tokens: list[Token] = []
        used_flags = bytearray(len(text))

        def take(kind: str, match: re.Match[str], value: Any = None) -> None:
            tokens.append(Token(kind, match[0], match.start(), value))
            used_flags[match.start() : match.end()] = b"\x01" * (match.end() - match.start())

        def unused_matches(pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
            blank = "".join("\x00" if used else c for c, used in zip(text, used_flags, strict=True))
            return (match for match in pattern.finditer(blank) if match[0].strip() and "\x00" not in match[0])

        self._in_parts(sentence, text, take, unused_matches)
        for match in unused_matches(_WORDS_RE):
            word = match[0]
            bare = word.removesuffix("'s").strip("'’.-")
            if bare in COMPARING:
                tokens.append(Token("loaded", word, match.start(), word=bare))
            elif word in _PUNCTUATION or bare in self._words or not bare or _ADVERB.fullmatch(bare):
                tokens.append(Token("word", word, match.start(), word=bare))
            else:
                tokens.append(Token("odd", word, match.start(), word=bare))
        return list(_with_sides(sorted(tokens, key=lambda token: token.position)))

    def _in_parts(
        self,
        sentence: str,
        text: str,
        take: Callable[..., None],
        unused_matches: Callable[..., Iterator[re.Match[str]]],
    ) -> None:
        for match in unused_matches(patterns.SOURCE):
            name = match["a"] or match["b"]
            if (name is None and match["b"] is None and match["a"] is None) or name in self._sources:
                take("word", match)
            elif name in patterns.PLAIN_SOURCES or name in self._names:
                continue
            elif match["a"] or name not in self._words:
                take("source", match, name)
        for match in unused_matches(self._tickers):
            take("ticker", match, self._names[match[0]])
        for ticker in tickers_in(sentence, shouting=sentence.isupper() and not _MEASUREMENT.search(sentence)):
            if ticker in self._names.values():
                continue
            spellings = [
                ticker,
                *(name for name, named_ticker in NAMES.items() if named_ticker == ticker and name not in self._words),
            ]
            for match in unused_matches(
                re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(folded(spelling)) for spelling in spellings)})(?!\w)")
            ):
                written = sentence[match.start() : match.end()]
                if written == ticker or (match[0] in NAMES and written[0].isupper()):
                    take("foreign", match, ticker)
        for match in unused_matches(patterns.REPORT):
            take("report", match, int(match["year"]))
        has_average = bool(patterns.HAS_AVERAGE.search(text))
        if has_average:
            for match in unused_matches(patterns.SMA):
                take("figure", match, (f"sma_{next(filter(None, match.groups()))}",))
        for names, pattern in FIGURE_PHRASES:
            for match in unused_matches(pattern):
                take("figure", match, names)
        if patterns.MOVED.search(text):
            self._parts(text, take, unused_matches)
        self._times(text, take, unused_matches)
        for kind, pattern in patterns.TOKENS:
            for match in unused_matches(pattern):
                take(*_token_parts(kind, match))
            if kind == "figure":
                self._numbers(text, take, unused_matches)

    def _times(
        self, text: str, take: Callable[..., None], unused_matches: Callable[..., Iterator[re.Match[str]]]
    ) -> None:
        for match in unused_matches(times.RANGE):
            value = times.range_of(match["first"], match["last"])
            if value is not None and not (re.fullmatch(r"\d{1,2}.*", match["first"]) and "/" not in value):
                take("period", match, value)
        for match in unused_matches(times.SINCE):
            value = times.since_of(match["first"])
            if value is not None:
                take("period", match, value)
        for pattern, range_of_match in ((times.QUARTER, times.quarter_range), (times.HALF, times.half_range)):
            for match in unused_matches(pattern):
                take("period", match, range_of_match(match))
        for match in unused_matches(times.DATE):
            try:
                take("day", match, times.day_of(match))
            except ValueError:
                take("odd", match)
        for match in unused_matches(times.MONTH_MOOD):
            take("rise" if match["up"] else "fall", match)
        for match in unused_matches(times.IN_MONTH):
            take("period", match, times.month_range(int(match["year"]), times.month_of(match["month"])))
        for match in unused_matches(times.IN_YEAR):
            take("period", match, times.year_range(int(match["year"])))
        for match in unused_matches(times.BARE_UNIT):
            if match[0].endswith("end") or times.BEFORE_BARE_UNIT.search(text, 0, match.start()):
                take("word", match)
        if patterns.STREAK.search(text):
            for match in unused_matches(times.COUNT_OF_DAYS):
                days = float(times.count_of(match["count"]))
                take("number", match, Number(((days, 0),), percent=False, money=None, scale=1.0, sign="", points=False))
        for name, pattern in ((times.LAST_YEAR, times.IN_LAST_YEAR), *times.PERIODS):
            for match in unused_matches(pattern):
                take("period", match, times.span_of(match) if name == "span" else name)

    def _parts(
        self, text: str, take: Callable[..., None], unused_matches: Callable[..., Iterator[re.Match[str]]]
    ) -> None:
        """Takes "lost a third" as a number of percent."""
        for match in unused_matches(patterns.PART):
            share = next(share for name, share in patterns.PART_SHARES.items() if match[name]) * 100
            side = ">" if match["over"] else "<" if match["under"] else ""
            number = Number(
                ((share, 0),), percent=True, money=None, scale=1.0, sign="", points=False, bound=side, is_share=True
            )
            take("number", match, number)

    def _numbers(
        self, text: str, take: Callable[..., None], unused_matches: Callable[..., Iterator[re.Match[str]]]
    ) -> None:
        for match in unused_matches(patterns.NUMBER):
            preceding = text[max(match.start() - _QUALIFIER_WIDTH, 0) : match.start()]
            bound = patterns.BOUND.search(preceding)
            currency_before, currency_after = (match["before"] or "").strip(), (match["after"] or "").strip()
            number = Number(
                readings=readings(match["digits"]),
                percent=bool(match["percent"]),
                money=patterns.CURRENCY.get(currency_before)
                or patterns.CURRENCY.get(currency_after.removeprefix("us ")),
                scale=patterns.SCALES.get(match["scale"] or "", 1.0),
                sign=match["sign"] or match["sign2"] or "",
                points=bool(match["points"]),
                times=bool(match["times"]),
                is_approximate=bool(patterns.ABOUT.search(preceding)),
                bound="" if bound is None else ">" if bound["over"] else "<",
            )
            take("number", match, number)


def _with_sides(tokens: list[Token]) -> Iterator[Token]:
    """Yields the tokens; a preposition right before an average or a band becomes the side of it that a price is on."""
    for token, next_token in zip_longest(tokens, tokens[1:]):
        kind = (
            _SIDES.get(token.word)
            if next_token and next_token.kind == "figure" and next_token.value[0].startswith(LINES)
            else None
        )
        yield token if kind is None else Token(kind, token.text, token.position)


def _token_parts(kind: str, match: re.Match[str]) -> tuple[str, re.Match[str], Any]:
    """A token's kind, its match and its value."""
    groups = match.groupdict()
    if kind == "figure":
        index = next(i for i in range(len(FIGURES)) if groups[f"f{i}"])
        return "figure", match, FIGURES[index][0]
    if kind == "compare":
        if groups["rmore"] or groups["rless"]:
            return ("more" if groups["rmore"] else "less"), match, "volatility"
        if any(groups[name] for name in ("wmore", "wless", "vmore", "vless")):
            return ("less" if groups["wless"] or groups["vless"] else "more"), match, "market_cap"
        figure = _figure_of(next((groups[name] for name in _ADJECTIVE_GROUPS if groups[name]), "volatil"))
        is_less = any(groups[name] for name in ("less", "fless", "adj3", "adj4", "half")) != figure.startswith("-")
        return ("less" if is_less else "more"), match, figure.lstrip("-")
    if kind == "super":
        adjective = groups["sadj"] or groups["sadj2"] or groups["sest"]
        figure = _figure_of(adjective)
        least = bool(groups["sleast"] or groups["sleast2"]) != figure.startswith("-")
        return ("lowest" if least else "highest"), match, figure.lstrip("-")
    if kind == "moved_more":
        amount = groups["much"] or groups["fmuch"]
        return "moved", match, ("fall" if groups["fdir"] else "rise", "more" if amount in ("more", "mas") else "less")
    if kind == "best":
        rank = groups["b"] or groups["b2"] or groups["b3"] or ("worst" if groups["loser"] else "best")
        figure = None if re.match("lead|led|lider", match[0]) else "return"
        return ("lowest" if rank in ("worst", "weakest", "peor") else "highest"), match, figure
    return kind, match, None


_ADJECTIVE_GROUPS = ("adj", "adj2", "adj3", "adj4", "adj5", "er")
"""Groups of a comparison that hold its adjective."""


def _figure_of(adjective: str) -> str:
    figures = (figure for start, figure in patterns.ADJECTIVES.items() if adjective.startswith(start))
    return next(figures, "volatility")


_TALK_KINDS = frozenset("word odd break not all period unknown expected confirmed loaded".split())  # noqa: SIM905


def is_talk(tokens: Iterable[Token]) -> bool:
    """Whether a sentence claims nothing about a market: no ticker, figure, number, direction or event."""
    return all(token.kind in _TALK_KINDS and token.word not in EVENT_WORDS for token in tokens)
