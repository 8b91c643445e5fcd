"""Reads a question by rules, in Spanish and English: which figures it asks for, of which period, and which tool calls
return them.

    when     in 2008 · March to June 2012 · Q3 2011 · since 2010 · on 15 March 2012 · the last five years   (stretches)
    what     the figures of the vocabulary · 10,000 invested · best month · correlation · beta against ^GSPC ·
             above its 200-day average · 50/200 crossings · a rule tried · news and their tone                (here)

Nothing is computed here: each figure is a tool call. Parts of the question that no rule can read are reported
(`unread`).
"""

import re
from typing import Any

from agent.domain.analysis import question_patterns as patterns
from agent.domain.analysis.amounts import WITH_MONEY, amount_in
from agent.domain.analysis.call_plan import ByKind, CallPlan, RequestedParts
from agent.domain.analysis.figure_vocabulary import INDICATOR_WORDS, LOWEST_FIRST, ROWS, Kind, disambiguate
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_patterns import (
    crossing_direction,
    in_one_clause,
    period_ahead,
    unit_of,
    unread_words,
    whole_numbers,
)
from agent.domain.analysis.stretches import (
    ALL_TIME,
    ALL_TIME_PHRASE,
    BLANK,
    MARK,
    SNAPSHOTS,
    Unread,
    When,
    stretches_by_ticker,
    stretches_in,
    without_end,
    years_of,
)
from agent.domain.analysis.wanted_calls import Question
from agent.domain.claims.facts import FALL_FIGURES
from agent.domain.claims.lexer import folded
from agent.domain.text_features import number_of
from agent.domain.tickers import NAMES, tickers_in
from contracts.calendar_names import NUMBERS

MAX_YEARS = 3
"""Years that are looked at one by one: calls of one tool for a ticker, by its budget."""
_YEARLY_FIGURES = frozenset(("current_drawdown", "max_drawdown", "volatility"))


def read_question(query: str, tickers: tuple[str, ...]) -> Question:
    """Reads it whole: what one rule has taken, the next ones do not see."""
    return _QuestionReader(query, tickers).read()


class _QuestionReader:
    """One question, while it is read."""

    def __init__(self, query: str, tickers: tuple[str, ...]) -> None:
        self._query = query = normalize(query).text
        self._tickers = tickers
        self._unread = Unread(folded(query))
        self._found = Question(lowest_first=bool(LOWEST_FIRST.search(patterns.TOP_FIRST.sub(" ", folded(query)))))
        self._found.by_size = bool(patterns.BY_SIZE.search(folded(query)))
        self._places: list[tuple[int, str, Kind | None]] = []
        self._how_it_did = False

    def read(self) -> Question:
        """All of it."""
        found = self._found
        regular = self._unread.first(patterns.REGULAR_INVESTMENT)
        if regular is not None:
            found.unread.append(regular[0].strip())
        if (beyond := self._unread.first(patterns.PRICE_BEYOND)) is not None:
            found.unread.append(beyond[0])
            self._places.append((beyond.start(), "highest_close", "stretch"))
        level = self._unread.first(patterns.CLOSE_BEYOND_PRICE)
        money = amount_in(self._unread)
        if money is not None and (other := self._unread.first(WITH_MONEY)) is not None:
            found.unread.append(other[0])
        if (shares := self._unread.first(patterns.SHARE_COUNT)) is not None:
            found.unread.append(shares[0])
            self._places.append((shares.start(), "price", "stretch"))
        for pattern in (patterns.FIGURE_DIFFERENCE, patterns.UNSUPPORTED_PERIOD):
            if (untold := self._unread.first(pattern)) is not None:
                found.unread.append(untold[0].strip())
        self._ordered()
        if patterns.EARNINGS.search(self._unread.text) and (ahead := self._unread.first(patterns.AHEAD)) is not None:
            found.ahead = period_ahead(ahead)
            self._places.append((ahead.start(), "next_earnings_date", "company"))
        relation = self._relation()
        rule = self._rule()
        crossing = None if rule else self._crossing()
        self._averages()
        lengths = self._indicator_lengths()
        every, extremes = self._extremes()
        hours = self._unread.first(patterns.HOURS)
        every = self._counted(level) or every
        self._figures()
        bought = money is not None or patterns.HAD_BOUGHT.search(folded(self._query)) is not None
        from_then = bought and not patterns.DURING.search(folded(self._query))
        stretches = stretches_in(self._unread, invested=from_then)
        self._overall()
        known = {part for one in self._tickers for part in folded(one).split("/")}
        found.unread += unread_words(self._unread.text, known)
        if money is not None and rule is None:
            self._places.append((0, "growth", "stretch"))
            if any(one.arguments.keys() == {"start"} for one in stretches):
                self._places.append((1, "base", "stretch"))  # the day and the price at which it was put in
            found.currency = money[1]
        for place, name in extremes:
            self._places.append((place, name, "stretch"))
        self._mean(stretches, invested=money is not None)
        found.periods = [one.period for one in stretches if one.period in SNAPSHOTS] or ["1y"]
        by_kind = self._named()
        if (
            "max_drawdown" in found.figures
            and "drawdowns" not in found.figures
            and patterns.WHEN.search(folded(self._query))
        ):
            found.figures.append("drawdowns")  # which have their days
            found.most["drawdowns"] = 1
            by_kind["stretch"].append("drawdowns")
        stretches = self._looked_at(stretches, by_kind, every)
        if stretches == [ALL_TIME] and patterns.FIRST_DAY.search(folded(self._query)):
            for names in (found.figures, *by_kind.values()):  # the price of that day, and not of now
                names[:] = ["base" if one in ("price", "close") else one for one in names]
        self._past_prices(stretches, by_kind)
        if any(one.arguments for one in stretches) and "stretch" not in by_kind and rule is None:
            found.now_only = [*by_kind.get("company", []), *by_kind.get("standing", [])]
        amount = None if money is None else money[0]
        timeframe = None if hours is None else f"{hours['n'] or 1}h"
        now = (
            bool(patterns.NOW.search(folded(self._query)))
            and amount is None
            and any(one.arguments for one in stretches)
        )
        asked = RequestedParts(amount, relation, rule, crossing, lengths, every, timeframe, now)
        own = stretches_by_ticker(self._query) if amount is None and relation is None else {}
        found.calls = CallPlan(self._tickers, asked, found, by_kind, own).calls(stretches)
        return found

    def _ordered(self) -> None:
        """Finds which position of a ranking the question asks about."""
        place = self._unread.first(patterns.PLACE) if len(self._tickers) > 1 else None
        if place is not None:
            places = {"first": 0, "second": 1, "third": 2, "last": -1}
            self._found.place = places[str(place.lastgroup)]

    def _mean(self, stretches: list[When], *, invested: bool) -> None:
        """Finds which figure each word means, given the stretches that are named."""
        dated = any(one.arguments or one.period not in (None, "1d") for one in stretches)
        self._places = [
            (at, *disambiguate(name, kind, timed=bool(stretches), dated=dated)) for at, name, kind in self._places
        ]
        if invested and any(name == "shares" for _, name, _ in self._places):
            self._places = [one for one in self._places if one[1] not in ("growth", "base", "price")]

    def _looked_at(self, stretches: list[When], by_kind: ByKind, every: str | None) -> list[When]:
        """The stretches that the figures are looked up in, which need not be those that are named."""
        found, query = self._found, folded(self._query)
        names = set(found.figures)
        if not names & {"price", *by_kind.get("indicator", ())}:
            # "Had it recovered by the end of 2009?" asks for no figure of that day.
            stretches = [one for one in stretches if not one.is_day] or stretches
        if patterns.RECOVERED.search(query):
            # A fall of 2008 may have been recovered later.
            stretches = [*stretches, *(one for one in map(without_end, stretches) if one not in stretches)]
        if "crossings" in names and patterns.LAST_TIME.search(query):
            stretches, found.most["crossings"] = stretches or [ALL_TIME], 1
        a_year = names & {"best_year", "worst_year"} and [len(years_of(one)) for one in stretches] == [1]
        if a_year or (not stretches and names & {"up_streak", "down_streak"}):
            stretches = [ALL_TIME]
        if all(one.period == "1d" for one in stretches) and (
            every not in (None, "day") or ALL_TIME_PHRASE.search(query)
        ):
            stretches = [ALL_TIME]
        which = patterns.WHICH_YEAR.search(query)
        if which is not None and by_kind.get("stretch") and every is None:
            years = years_of(stretches[0]) if len(stretches) == 1 else stretches
            if len(years) > MAX_YEARS:
                found.unread.append(which[0])
            elif years:
                stretches, found.by_year = years, len(years) > 1
        if names and names <= FALL_FIGURES and patterns.WORST.search(query):
            # The worst fall is the deepest.
            found.lowest_first = False
        if names & _YEARLY_FIGURES and not names & {"price", "close"}:
            # As of a day: what looks at a stretch looks at the year up to it.
            stretches = [one.year_up_to if one.is_day else one for one in stretches]
        return stretches

    def _past_prices(self, stretches: list[When], by_kind: ByKind) -> None:
        """A price of the past is where its stretch begins."""
        figures = self._found.figures
        lengths = [one for one in stretches if not one.arguments or "period" in one.arguments]
        if "price" in figures and lengths and patterns.PAST_TIME.search(folded(self._query)):
            figures.insert(figures.index("price"), "base")
            by_kind.setdefault("stretch", []).insert(0, "base")

    def _relation(self) -> dict[str, Any] | None:
        """The arguments of a correlation or of a beta against something."""
        beta = patterns.BETA.search(self._unread.text)
        benchmark = tickers_in(self._query[beta.start("whom") :])[:1] if beta is not None else []
        if beta is not None and benchmark:
            self._places.append((beta.start(), "beta", None))
            self._unread.text = self._unread.text[: beta.start()] + BLANK * 4 + self._unread.text[beta.start() + 4 :]
        correlated = self._unread.first(patterns.CORRELATED)
        if correlated is not None:
            self._places.append((correlated.start(), "correlation", None))
        if correlated is None and not benchmark:
            return None
        return {"benchmark": benchmark[0]} if benchmark else {}

    def _rule(self) -> dict[str, Any] | None:
        """The arguments of a trial."""
        tried = patterns.RULE_WORDS.search(self._unread.text) is not None
        match = self._unread.first(patterns.BACKTEST_REQUEST) or (
            self._unread.first(patterns.HYPOTHETICAL_RESULT) if tried else None
        )
        if match is None:
            return None
        self._places.append((match.start(), "backtest", None))
        lengths = self._lengths() or self._of_averages()
        while tried and self._unread.first(patterns.HYPOTHETICAL_RESULT):
            pass
        hinted = [name for name, pattern in patterns.RULE_PATTERNS if self._unread.first(pattern)]
        beside = (
            lengths
            or patterns.BENCHMARK_COMPARISON.search(self._unread.text)
            or patterns.CROSSING.search(self._unread.text)
        )
        rule = next((name for name in hinted if name != "buy_and_hold" or not beside), "sma_cross")
        cost = self._unread.first(patterns.COSTS)
        self._unread.first(patterns.CROSSING)
        self._unread.first(patterns.WHOLE_AVERAGE)
        costs = {"cost_percent": number_of(cost["a"] or cost["b"])} if cost else {}
        return {"rule": rule, **(lengths or ({"fast": 14} if rule == "rsi_reversion" else {})), **costs}

    def _crossing(self) -> dict[str, Any] | None:
        """The arguments of a search for crossings of two averages, or of the price and one average."""
        match = self._unread.first(patterns.CROSSING)
        if match is None:
            return None
        self._places.append((match.start(), "crossings", None))
        self._found.upward = crossing_direction(folded(self._query))
        lengths = self._lengths() or self._of_averages() or {}
        self._unread.first(patterns.WHOLE_AVERAGE)
        return lengths

    def _of_averages(self) -> dict[str, int] | None:
        """The crossing of two averages that are named separately; for one average, its crossing with the close."""
        taken = [
            *self._unread.take(patterns.AVERAGES, whole_numbers),
            *self._unread.take(patterns.OTHER_AVERAGE, whole_numbers),
        ]
        numbers = sorted({number for _, found in taken for number in found if 2 <= number <= 250})
        if len(numbers) not in (1, 2):
            return None
        return {"fast": numbers[0] if len(numbers) == 2 else 1, "slow": numbers[-1]}

    def _lengths(self) -> dict[str, int] | None:
        match = self._unread.first(patterns.LENGTHS)
        if match is None:
            return None
        self._unread.first(patterns.WHOLE_AVERAGE)
        fast, slow = sorted((int(match[1]), int(match[2])))
        return {"fast": fast, "slow": slow} if 2 <= fast < slow <= 250 else {}

    def _averages(self) -> None:
        """Averages of so many sessions: where the price stands to them."""
        for place, numbers in self._unread.take(patterns.AVERAGES, whole_numbers):
            self._found.averages += [one for one in numbers if 2 <= one <= 250 and one not in self._found.averages]
            self._places.append((place, "averages", "indicator"))
        of_a_price = re.search(r"moving|movil|sma|above|below|encima|debajo", folded(self._query))
        match = self._unread.first(patterns.WHOLE_AVERAGE) if of_a_price and not self._found.averages else None
        if match is not None:
            self._found.averages = [50, 200]
            self._places.append((match.start(), "averages", "indicator"))

    def _indicator_lengths(self) -> dict[str, int]:
        """Lengths of indicators that are not the usual ones, by name; and bars that no tool has."""
        found: dict[str, int] = {}
        for match in list(patterns.UNSUPPORTED_BARS.finditer(self._unread.text)):
            self._found.unread.append(match[0])
            self._unread.replace(match, BLANK)
        for match in list(patterns.LENGTH_OF.finditer(self._unread.text)):
            words = match["name"] or match["name2"]
            name = next(name for name, pattern in INDICATOR_WORDS.items() if re.fullmatch(pattern, words))
            length = int(match["before"] or match["after"])
            if 2 <= length <= 250 and name not in ("MACD", "OBV"):
                found[name] = length
                self._unread.replace(match, BLANK)
                self._places.append((match.start(), name, "indicator"))
        return found

    def _extremes(self) -> tuple[str | None, list[tuple[int, str]]]:
        """The parts that a stretch is cut into, and the best and worst ones that are asked for."""
        every: str | None = None
        found: list[tuple[int, str]] = []
        for match in list(patterns.EXTREME.finditer(self._unread.text)):
            self._unread.replace(match, BLANK)
            unit = unit_of(match["unit"])
            every = every if unit == "day" else unit
            for which in filter(None, (match["one"], match["two"])):
                name = f"{'best' if which.startswith(('best', 'mejor')) else 'worst'}_{unit}"
                found.append((match.start(), name))
                if count := match["count"] or match["count2"]:
                    self._found.most[name] = int(NUMBERS.get(count, count))
        each = self._unread.first(patterns.EACH) or self._unread.first(patterns.WHICH_PARTS)
        if each is not None:
            words = next(filter(None, each.groups()))
            unit = patterns.PART_OF.get(re.split(r"es$|[- ]", words)[0]) or unit_of(words)
            if unit != "day":
                every = unit
                found.append((each.start(), f"{unit}_return"))
        return every, found

    def _counted(self, level: re.Match[str] | None) -> str | None:
        """A close beyond a price (`level`), and months that ended higher: which parts are counted."""
        counted = patterns.HOW_MANY.search(self._unread.text)
        unit = unit_of(counted["unit"]) if counted else None
        if level is not None:
            self._places.append((level.start(), "highest_close" if level["up"] else "lowest_close", "stretch"))
            if (
                counted is not None
                or patterns.HOW_OFTEN.search(folded(self._query))
                or patterns.WHICH_DAY.search(folded(self._query))
            ):
                self._found.unread.append(level[0])
            return None
        if unit == "day" and not patterns.IN_A_ROW.search(self._unread.text):
            for name, pattern in (("up_days", patterns.UP), ("down_days", patterns.DOWN)):
                if moved := self._unread.first(pattern):
                    self._places.append((moved.start(), name, "stretch"))
        if unit in (None, "day"):
            return None
        for row in (row for row in ROWS if row.names[0] in ("up_days", "down_days")):
            for place, _ in self._unread.take(row.pattern, lambda match: match):
                self._places.append((place, row.names[0].replace("days", f"{unit}s"), "stretch"))
        return unit

    def _overall(self) -> None:
        """Reads "how it did", next to something else that is asked for, as the return."""
        kinds = {kind for _, _, kind in self._places}
        match = patterns.OVERALL.search(self._unread.text)
        if self._places and match is not None and (kinds == {"news"} or not match[0].startswith("compar")):
            self._places.append((match.start(), "return", "stretch"))
            self._how_it_did = True

    def _figures(self) -> None:
        """Finds the figures of the vocabulary, in which a mark stands for a ticker."""
        names = [*NAMES, *(folded(one) for one in tickers_in(self._query)), *(folded(one) for one in self._tickers)]
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(one) for one in names)})(?:'s)?(?!\w)")
        while (match := pattern.search(self._unread.text)) is not None:
            self._unread.replace(match, MARK)
        for row in ROWS:
            for place, _ in self._unread.take(row.pattern, lambda match: match):
                for name in row.names:
                    self._places.append((place, name, row.kind))

    def _named(self) -> ByKind:
        """The figures by who has them; all of them, each once, in the question's order."""
        found = self._found
        if found.ahead:
            self._places = [one for one in self._places if one[1] != "eps"]
        names = {name for _, name, _ in self._places}
        exact = {"growth", "cagr", *(() if self._how_it_did else ("averages", "crossings"))}
        volume = [at for at, name, _ in self._places if name in ("return", "average_volume")]
        exact |= {"average_volume"} if in_one_clause(folded(self._query), volume) else set[str]()
        more_exact = {name for name in names if name.endswith("_return") or name in exact}
        if more_exact and "return" in names and not re.search(r"\breturns?\b|\brentabilidad", folded(self._query)):
            self._places = [one for one in self._places if one[1] != "return"]
        if names & {"averages", "crossings", "growth", "backtest"}:
            implied = {"price"} if self._how_it_did else {"price", "return"}
            self._places = [one for one in self._places if one[1] not in implied]
        if names & {"week_return", "month_return", "quarter_return", "year_return"}:
            self._places = [one for one in self._places if one[1] != "return"]
        if {"cagr", "total_return"} <= names:
            kept = [one for one in self._places if one[1] not in ("total_return", "dividends")]
            self._places = [(at, name.replace("cagr", "total_cagr"), kind) for at, name, kind in kept]
        by_kind: ByKind = {}
        for _, name, kind in sorted(self._places, key=lambda one: one[0]):
            if name not in found.figures:
                found.figures.append(name)
            if kind is not None and name not in by_kind.setdefault(kind, []):
                by_kind[kind].append(name)
        return by_kind
