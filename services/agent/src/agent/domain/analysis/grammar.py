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
from agent.domain.analysis.amounts import WITH_MONEY, amount_in, other_currency_in
from agent.domain.analysis.call_plan import (
    ByKind,
    CallPlan,
    RequestedParts,
    name_past_prices,
    settle_days,
    up_to_days,
    volatilities_of_parts,
)
from agent.domain.analysis.figure_vocabulary import INDICATOR_WORDS, LOWEST_FIRST, ROWS, Kind, disambiguate
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_patterns import unit_of, unread_words, whole_numbers
from agent.domain.analysis.stretches import (
    ALL_TIME,
    ALL_TIME_PHRASE,
    BLANK,
    EVER,
    MARK,
    MAX_YEARS,
    SNAPSHOTS,
    PeriodArguments,
    UnreadText,
    stretches_by_ticker,
    take_periods,
    without_end,
    years_of,
)
from agent.domain.analysis.wanted_calls import Question
from agent.domain.claims.facts import FALL_FIGURES
from agent.domain.claims.lexer import folded
from agent.domain.text_features import number_of
from agent.domain.tickers import NAMES, tickers_in
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression


def read_question(query: str, tickers: tuple[str, ...]) -> Question:
    """Reads a whole question. Text that one rule has taken is not seen by the next ones."""
    return _QuestionReader(query, tickers).read()


class _QuestionReader:
    """The state while a question is read."""

    def __init__(self, query: str, tickers: tuple[str, ...]) -> None:
        self._query = normalize(query).text
        self._folded_query = folded(self._query)
        self._tickers = tickers
        self._unread = UnreadText(self._folded_query)
        self._question = Question(
            lowest_first=bool(LOWEST_FIRST.search(patterns.TOP_FIRST.sub(" ", self._folded_query))),
            by_size=bool(patterns.BY_SIZE.search(self._folded_query)),
            ranks_parts=bool(patterns.RANKED_PARTS.search(self._folded_query)),
        )
        self._places: list[tuple[int, str, Kind | None]] = []
        self._how_it_did = False

    def read(self) -> Question:
        question = self._question
        self._report(patterns.REGULAR_INVESTMENT)
        if (price_beyond := self._report(patterns.PRICE_BEYOND)) is not None:
            self._add(price_beyond, "highest_close", "stretch")
        self._report(patterns.AT_PRICE)
        price_level = self._unread.first(patterns.CLOSE_BEYOND_PRICE)
        money = amount_in(self._unread)
        if money is not None:
            self._report(WITH_MONEY)
        if (shares := self._report(patterns.SHARE_COUNT)) is not None:
            self._add(shares, "price", "stretch")
        self._report(patterns.FIGURE_DIFFERENCE)
        past_results = self._unread.first(patterns.PAST_RESULTS)
        if past_results is not None:
            self._add(past_results, "news", "news")
            question.asks_past_results = True
        self._report(patterns.unsupported_period(self._folded_query))
        self._ordered()
        if patterns.EARNINGS.search(self._unread.text) and (ahead := self._unread.first(patterns.AHEAD)) is not None:
            question.ahead = patterns.period_ahead(ahead)
            self._add(ahead, "next_earnings_date", "company")
        why = self._unread.first(patterns.WHY_MOVED)
        if why is not None:
            self._add(why, "return", "stretch")
            self._places.append((why.end(), "news", "news"))
        relation, rule = self._relation(), self._rule()
        crossing = None if rule else self._crossing()
        self._averages()
        lengths = self._indicator_lengths()
        part_unit, extremes = self._extremes()
        hours = self._unread.first(patterns.HOURS)
        part_unit = self._counted(price_level) or part_unit
        self._figures()
        self._places, extremes = volatilities_of_parts(question, self._places, extremes)
        per_risk = patterns.PER_RISK.search(self._unread.text)
        if per_risk is not None and not self._places:
            for name in ("return", "volatility"):
                self._add(per_risk, name, "stretch")
        was_bought = money is not None or patterns.HAD_BOUGHT.search(self._folded_query) is not None
        from_then = was_bought and not patterns.DURING.search(self._folded_query)
        stretches = take_periods(self._unread, invested=from_then)
        self._overall()
        known_parts = {part for ticker in self._tickers for part in folded(ticker).split("/")}
        question.unread += unread_words(self._unread.text, known_parts)
        if money is not None and rule is None:
            self._places.append((0, "growth", "stretch"))
            if any(stretch.arguments.keys() == {"start"} for stretch in stretches):
                self._places.append((1, "base", "stretch"))  # the day and the price at which it was put in
            question.currency = money[1]
        currency = other_currency_in(self._folded_query)
        question.other_currency = None if currency == question.currency else currency
        self._places.extend((place, name, "stretch") for place, name in extremes)
        if money is None and was_bought and rule is None:
            # The price at which the shares were bought, and what became of it.
            names = ("base",) if self._places else ("base", "return")
            self._places.extend((at, name, "stretch") for at, name in enumerate(names))
        self._mean(stretches, invested=money is not None)
        question.periods = [stretch.period for stretch in stretches if stretch.period in SNAPSHOTS] or ["1y"]
        by_kind = self._named()
        stretches = self._looked_at(stretches, by_kind, part_unit)
        has_arguments = any(stretch.arguments for stretch in stretches)
        if has_arguments and "stretch" not in by_kind and rule is None:
            question.now_only = [*by_kind.get("company", []), *by_kind.get("standing", [])]
        amount = None if money is None else money[0]
        timeframe = None if hours is None else f"{hours['n'] or 1}h"
        is_about_now = has_arguments and amount is None and patterns.NOW.search(self._folded_query) is not None
        requested = RequestedParts(amount, relation, rule, crossing, lengths, part_unit, timeframe, is_about_now)
        own_stretches = stretches_by_ticker(self._query) if amount is None and relation is None else {}
        question.calls = CallPlan(self._tickers, requested, question, by_kind, own_stretches).calls(stretches)
        return question

    def _report(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes a part of the question that no tool answers, which the report says."""
        match = self._unread.first(pattern)
        if match is not None:
            self._question.unread.append(match[0].strip())
        return match

    def _add(self, match: re.Match[str], name: str, kind: Kind | None) -> None:
        self._places.append((match.start(), name, kind))

    def _ordered(self) -> None:
        """Reads which position of a ranking the question asks about."""
        place = self._unread.first(patterns.PLACE) if len(self._tickers) > 1 else None
        if place is not None:
            self._question.place = {"first": 0, "second": 1, "third": 2, "last": -1, "worst": -1}[str(place.lastgroup)]

    def _mean(self, stretches: list[PeriodArguments], *, invested: bool) -> None:
        """Decides which figure each word means, given the named periods."""
        is_dated = any(stretch.arguments or stretch.period not in (None, "1d") for stretch in stretches)
        self._places = [
            (position, *disambiguate(name, kind, timed=bool(stretches), dated=is_dated))
            for position, name, kind in self._places
        ]
        if invested and any(name == "shares" for _, name, _ in self._places):
            self._places = [place for place in self._places if place[1] not in ("growth", "base", "price")]

    def _looked_at(self, periods: list[PeriodArguments], by_kind: ByKind, unit: str | None) -> list[PeriodArguments]:
        """The periods that the tools are asked for, which may differ from the named ones; adds the figures that follow
        from them."""
        question, query = self._question, self._folded_query
        periods, names = settle_days(question, by_kind, periods, query), set(question.figures)
        if not names & {"price", *by_kind.get("indicator", ())}:
            # "Had it recovered by the end of 2009?" does not ask for a figure of that day.
            periods = [period for period in periods if not period.is_day] or periods
        if patterns.RECOVERED.search(query) or ("drawdowns" in names and patterns.LASTED.search(query)):
            # A fall of 2008 may have been recovered later.
            unended = (period for period in map(without_end, periods) if period not in periods)
            periods = [*(periods or [ALL_TIME]), *unended]
        if "crossings" in names and patterns.LAST_TIME.search(query):
            periods, question.most["crossings"] = periods or [ALL_TIME], 1
        asks_for_one_year = names & {"best_year", "worst_year"} and [len(years_of(period)) for period in periods] == [1]
        if asks_for_one_year or (not periods and (names & {"up_streak", "down_streak"} or EVER.search(query))):
            periods = [ALL_TIME]
        if all(period.period == "1d" for period in periods) and (
            unit not in (None, "day") or ALL_TIME_PHRASE.search(query)
        ):
            periods = [ALL_TIME]
        year_question = patterns.WHICH_YEAR.search(query)
        if year_question is not None and by_kind.get("stretch") and unit is None:
            years = years_of(periods[0]) if len(periods) == 1 else periods
            if len(years) > MAX_YEARS:
                question.unread.append(year_question[0])
            elif years:
                periods, question.by_year = years, len(years) > 1
        if names and names <= FALL_FIGURES and patterns.WORST.search(query):
            question.lowest_first = False  # the worst fall is the deepest
        periods = up_to_days(names, periods, query)
        name_past_prices(question, by_kind, periods, query)
        return periods

    def _relation(self) -> dict[str, Any] | None:
        """The arguments of a correlation or of a beta against something."""
        beta = patterns.BETA.search(self._unread.text)
        benchmark = tickers_in(self._query[beta.start("whom") :])[:1] if beta is not None else []
        if beta is not None and benchmark:
            self._add(beta, "beta", None)
            self._unread.text = self._unread.text[: beta.start()] + BLANK * 4 + self._unread.text[beta.start() + 4 :]
        correlated = self._unread.first(patterns.CORRELATED)
        if correlated is not None:
            self._add(correlated, "correlation", None)
        if correlated is None and not benchmark:
            return None
        unit = self._unread.first(patterns.RETURNS_OF) or patterns.RETURNS_OF.search(self._folded_query)
        every = {"every": patterns.PART_OF.get(unit["unit"]) or unit_of(unit["unit"])} if unit else {}
        return {**every, **({"benchmark": benchmark[0]} if benchmark else {})}

    def _rule(self) -> dict[str, Any] | None:
        """The arguments of a backtest."""
        tried = patterns.RULE_WORDS.search(self._unread.text) is not None
        match = self._unread.first(patterns.BACKTEST_REQUEST) or (
            self._unread.first(patterns.HYPOTHETICAL_RESULT) if tried else None
        )
        if match is None:
            return None
        self._add(match, "backtest", None)
        lengths = self._lengths() or self._of_averages()
        for pattern in (patterns.HYPOTHETICAL_RESULT, patterns.RULE_VERBS) if tried else ():
            while self._unread.first(pattern):
                pass
        hinted = [name for name, pattern in patterns.RULE_PATTERNS if self._unread.first(pattern)]
        compares = (
            lengths
            or patterns.BENCHMARK_COMPARISON.search(self._unread.text)
            or patterns.CROSSING.search(self._unread.text)
        )
        rule = next((name for name in hinted if name != "buy_and_hold" or not compares), "sma_cross")
        cost = self._unread.first(patterns.COSTS)
        self._unread.first(patterns.CROSSING)
        self._unread.first(patterns.WHOLE_AVERAGE)
        costs = {"cost_percent": number_of(cost["a"] or cost["b"] or "0")} if cost else {}
        return {"rule": rule, **(lengths or ({"fast": 14} if rule == "rsi_reversion" else {})), **costs}

    def _crossing(self) -> dict[str, Any] | None:
        """The arguments of a search for crossings of two averages, or of the price and one average."""
        match = self._unread.first(patterns.CROSSING)
        if match is None:
            return None
        self._add(match, "crossings", None)
        self._question.upward = patterns.crossing_direction(self._folded_query)
        lengths = self._lengths() or self._of_averages() or {}
        self._unread.first(patterns.WHOLE_AVERAGE)
        return lengths

    def _of_averages(self) -> dict[str, int] | None:
        """The crossing of two averages that are named separately; for one average, its crossing with the close."""
        averages = [
            *self._unread.take(patterns.AVERAGES, whole_numbers),
            *self._unread.take(patterns.OTHER_AVERAGE, whole_numbers),
        ]
        numbers = sorted({number for _, lengths in averages for number in lengths if 2 <= number <= 250})
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
        """Reads averages by their lengths in sessions, to compare the price with them."""
        for place, numbers in self._unread.take(patterns.AVERAGES, whole_numbers):
            self._question.averages += [
                number for number in numbers if 2 <= number <= 250 and number not in self._question.averages
            ]
            self._places.append((place, "averages", "indicator"))
        is_about_price = re.search(r"moving|movil|sma|above|below|encima|debajo", self._folded_query)
        match = self._unread.first(patterns.WHOLE_AVERAGE) if is_about_price and not self._question.averages else None
        if match is not None:
            self._question.averages = [50, 200]
            self._add(match, "averages", "indicator")

    def _indicator_lengths(self) -> dict[str, int]:
        """Reads lengths of indicators other than the defaults, by name, and bars that no tool has."""
        lengths: dict[str, int] = {}
        while self._report(patterns.UNSUPPORTED_BARS) is not None:
            pass
        for match in list(patterns.LENGTH_OF.finditer(self._unread.text)):
            words = match["name"] or match["name2"]
            name = next(name for name, pattern in INDICATOR_WORDS.items() if re.fullmatch(pattern, words))
            length = int(match["before"] or match["after"])
            if 2 <= length <= 250 and name not in ("MACD", "OBV"):
                lengths[name] = length
                self._unread.replace(match, BLANK)
                self._add(match, name, "indicator")
        return lengths

    def _extremes(self) -> tuple[str | None, list[tuple[int, str]]]:
        """Reads the unit into which a period is divided, and the best and worst parts that are asked for."""
        part_unit: str | None = None
        extremes: list[tuple[int, str]] = []
        for match in list(patterns.EXTREME.finditer(self._unread.text)):
            self._unread.replace(match, BLANK)
            unit = unit_of(match["unit"])
            part_unit = part_unit if unit == "day" else unit
            for superlative in filter(None, (match["one"], match["two"])):
                name = f"{'best' if superlative.startswith(('be', 'mejor')) else 'worst'}_{unit}"
                extremes.append((match.start(), name))
                if count := match["count"] or match["count2"]:
                    self._question.most[name] = int(NUMBERS.get(count, count))
        part_match = next(filter(None, map(self._unread.first, patterns.PARTS)), None)
        if part_match is not None:
            unit = patterns.unit_of_parts(part_match)
            if unit != "day":
                part_unit = unit
                extremes.append((part_match.start(), f"{unit}_return"))
        return part_unit, extremes

    def _counted(self, level: re.Match[str] | None) -> str | None:
        """Reads a close beyond a price (`level`) and counts of months, …; returns the counted unit."""
        count_match = patterns.HOW_MANY.search(self._unread.text) or self._report(patterns.SHARE_OF)
        unit = unit_of(next(filter(None, count_match.groups()))) if count_match else None
        if level is not None:
            self._add(level, "highest_close" if level["up"] else "lowest_close", "stretch")
            asks_when = (patterns.HOW_OFTEN, patterns.WHICH_DAY)
            if count_match is not None or any(pattern.search(self._folded_query) for pattern in asks_when):
                self._question.unread.append(level[0])
            return None
        if patterns.RECOVERED.search(self._unread.text):
            return None
        if unit == "day" and not patterns.IN_A_ROW.search(self._unread.text):
            for name, pattern in (("up_days", patterns.UP), ("down_days", patterns.DOWN)):
                if moved := self._unread.first(pattern):
                    self._add(moved, name, "stretch")
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
            self._add(match, "return", "stretch")
            self._how_it_did = True

    def _figures(self) -> None:
        """Reads the figures of the vocabulary, after replacing tickers by marks."""
        names = [
            *NAMES,
            *(folded(ticker) for ticker in tickers_in(self._query)),
            *(folded(ticker) for ticker in self._tickers),
        ]
        pattern = expression(rf"(?<!\w)(?:{'|'.join(re.escape(name) for name in names)})(?:'s)?(?!\w)")
        while (match := pattern.search(self._unread.text)) is not None:
            self._unread.replace(match, MARK)
        for row in ROWS:
            for place, _ in self._unread.take(row.pattern, lambda match: match):
                for name in row.names:
                    self._places.append((place, name, row.kind))

    def _named(self) -> ByKind:
        """Collects the figures, each once, in the question's order. Returns them by source."""
        question = self._question
        names = {name for _, name, _ in self._places}
        implied = {"eps"} if question.ahead else set[str]()
        exact = {"growth", "cagr", *(() if self._how_it_did else ("averages", "crossings"))}
        volume = [position for position, name, _ in self._places if name in ("return", "average_volume")]
        exact |= {"average_volume"} if patterns.in_one_clause(self._folded_query, volume) else set[str]()
        has_more_exact = any(name.endswith("_return") or name in exact for name in names)
        if has_more_exact and not re.search(r"\breturns?\b|\brentabilidad", self._folded_query):
            implied.add("return")
        if names & {"averages", "crossings", "growth", "backtest"}:
            implied |= {"price"} if self._how_it_did else {"price", "return"}
        if names & {"week_return", "month_return", "quarter_return", "year_return"}:
            implied.add("return")
        renamed = {"cagr": "total_cagr"} if {"cagr", "total_return"} <= names else {}
        implied |= {"total_return", "dividends"} if renamed else set[str]()
        by_kind: ByKind = {}
        for _, name, kind in sorted(self._places, key=lambda place: place[0]):
            if name in implied:
                continue
            name = renamed.get(name, name)
            if name not in question.figures:
                question.figures.append(name)
            if kind is not None and name not in by_kind.setdefault(kind, []):
                by_kind[kind].append(name)
        return by_kind
