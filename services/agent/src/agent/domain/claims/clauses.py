"""Reads one clause of a sentence as claims: subject, relation, figure, number, period.

"IBM rose 2.7% over the year, more than MSFT" has two clauses. The first claims that IBM rose and that its return was
2.7%; the second that it rose more than MSFT. What a clause leaves out (ticker, figure, period) comes from its
context.
"""

from dataclasses import replace

from agent.domain.claims.claim import DENIAL, Claim, ClauseContext, Relation, SentenceClaims
from agent.domain.claims.clause_tokens import BEARING_KINDS, EXTREME_PREFIXES, MOVES, NO_END, ClauseTokens
from agent.domain.claims.facts import FALL_FIGURES
from agent.domain.claims.lexer import LINES, Token
from agent.domain.claims.words import LEAD_PREFIXES, POSSESSIVES

_BILLION = 1e9
"""No price is this large: such an amount is a market capitalisation or revenue."""
_PRICES = frozenset(("price", "close", "return"))
_MOVABLE = _PRICES | {"high", "low"}
"""Figures that may rise or fall: those of the price."""
_HIGH_AND_LOW = (("high",), ("low",))
_DATED_PREFIXES = ("next_", "best_day", "worst_day")
_RELATIONS = BEARING_KINDS - {"figure", "unknown", "day", "report"}
"""Kinds of tokens that state something about a figure, other than that it is unknown."""
_MULTIPLE_SUFFIXES = ("x ", "times ", "veces ")  # right behind a multiple: 14.1x earnings
_DIVIDENDS = ("dividends", "dividend_yield")
_PRICE_ALONE = ("price alone", "solo precio", "solo el precio")
_UNDENIABLE = frozenset(("is", "dated", "report", "unknown"))


class Clause(ClauseTokens):
    """One clause, and the claims that it makes in its context."""

    def read(self, reading: SentenceClaims, context: ClauseContext) -> None:
        """Adds the clause's claims to the reading, and a problem for each part that cannot be checked."""
        self._reading, self._context = reading, context
        kinds = {token.kind for token in self.tokens}
        first_claim = len(reading.claims)
        if not self.known_tickers:
            reading.problems.append("figures, and no tool gave any")
            return
        has_no_value = self.is_denial and context.is_subject_named and bool(self._figures) and not kinds & _RELATIONS
        if not self._numbers and ("unknown" in kinds or has_no_value):
            self._read_unknown()
            return
        self._read_moves(self._read_numbers())
        self._read_comparisons()
        self._read_places()
        self._read_days()
        # Which peaked in March 2012: its high was then.
        is_dated = self.figure in _HIGH_AND_LOW and not self._numbers and any("/" in period for period in self.periods)
        if self.is_about_time or is_dated:
            reading.add(Claim("during", None, self.figure, periods=tuple(self.periods)), context.subjects or (None,))
        if self.is_denial:
            self._deny(first_claim)

    def _deny(self, first_claim: int) -> None:
        """Marks the clause's relations as denied or, if it has none, its numbers: "not below its average of 196.59"."""
        claims = self._reading.claims[first_claim:]
        denied = [claim for claim in claims if claim.relation not in _UNDENIABLE] or [
            claim for claim in claims if claim.relation == "is"
        ]
        self._reading.claims[first_claim:] = [replace(claim, is_denied=claim in denied) for claim in claims]
        if not denied:
            self._reading.problems.append(DENIAL)

    # ------------------------------------------------------------ numbers

    def _read_numbers(self) -> set[int]:
        """Adds a claim for each number. Returns the positions of the verbs that state a number's direction."""
        used_positions: set[int] = set()
        context = self._context
        for index, token in enumerate(self._numbers):
            start = self._numbers[index - 1].position if index else -1
            end = self._numbers[index + 1].position if index + 1 < len(self._numbers) else NO_END
            figure = self._figure_of(token, start, end)
            move_token = next((m for m in reversed(self._moves) if start < m.position < token.position), None) or next(
                (m for m in self._moves if token.position < m.position < end), None
            )
            if move_token is not None:
                used_positions.add(move_token.position)
            inherits_move = token.value.scale == 1 and (
                not figure or figure == ("total_return",) or ("return" in figure and not self._figures)
            )
            follows_comparison = inherits_move and any(
                start < comparison.position < token.position for comparison in self._of_kind("than")
            )
            inherited_move = (self.move if follows_comparison else None) or (context.move if inherits_move else None)
            move = MOVES[move_token.kind] if move_token else inherited_move
            periods = self._periods_of(token, start, end) or context.periods
            is_assumed = not periods and not context.later_periods
            periods = periods or context.later_periods or context.fallback_periods
            for subject in self._subjects_of(token, start, end, index):
                other = self._other_ticker(token, subject)
                claim = Claim("is", subject, figure, token.value, move, periods, other, has_assumed_periods=is_assumed)
                self._reading.claims.append(claim)
        return used_positions

    def _other_ticker(self, token: Token, subject: str | None) -> str | None:
        """The second ticker of a correlation, a beta or a difference in points, if the clause names it."""
        sentence_tickers = self._context.sentence_tickers
        if token.value.points and len(sentence_tickers) == 2:
            return next((ticker for ticker in sentence_tickers if ticker != subject), None)
        than = next(iter(self._of_kind("than")), None)
        return next((t.value for t in self._of_kind("ticker") if than and t.position > than.position), None)

    def _figure_of(self, token: Token, start: int, end: int) -> tuple[str, ...]:
        """The figures that a number may be; `start` and `end`: positions of the numbers before and after it."""
        figures, context = self._figures, self._context
        nearest = next((f for f in reversed(figures) if f.position < token.position), None)
        if nearest is None or (
            nearest.position < start and any(start < token.position < f.position < end for f in figures)
        ):
            nearest = next((f for f in figures if token.position < f.position < end), nearest)
        number = token.value
        if any(start < other_token.position < end and other_token.text in _PRICE_ALONE for other_token in self.tokens):
            return ("return",)  # 18.7%, against 16.8% on price alone
        if number.money and nearest is not None and nearest.value == ("total_return",) and "dividend" in nearest.text:
            return _DIVIDENDS  # counting dividends of $3.20 a share
        superlative = next((t for t in self._of_kind("highest", "lowest") if start < t.position < token.position), None)
        if nearest is not None and nearest.position > token.position and superlative is not None and superlative.value:
            return (superlative.value,)  # the least volatile at 16.5%, with the smallest drawdown
        high_or_low = nearest if number.money and nearest is not None and nearest.value in _HIGH_AND_LOW else None
        if high_or_low is not None and any(
            token.position < t.position < high_or_low.position for t in self._of_kind("above", "below")
        ):
            return ("price", "close")  # $430.47 is only just above its low of $429.98
        named_figure = nearest.value if nearest is not None else context.figure
        growth_figure = (
            nearest if number.money and nearest is not None and nearest.value == ("growth", "final") else None
        )
        if growth_figure is not None and token.position < growth_figure.position < self._numbers[-1].position:
            return ("invested",)  # it turned $10,000 into $7,785
        if (
            number.money
            and named_figure == ("invested",)
            and (not figures or any(t.position < token.position for t in self._numbers))
        ):
            return ("growth", "final")  # $10,000 put into IBM in 2008 ended the year at $7,785
        next_token = next((t for t in self.tokens if t.position > token.position and t.kind != "word"), None)
        names_max_drawdown = ("max_drawdown",) in (context.figure, *(f.value for f in figures))
        if names_max_drawdown and next_token is not None and next_token.value == ("current_drawdown",):
            return ("max_drawdown",)  # at its worst it was 44.8% below its peak
        if next_token is not None and (
            next_token.value == ("current_drawdown",) or next_token.text.startswith(_MULTIPLE_SUFFIXES)
        ):
            return next_token.value  # trades 3.8% below its high, at 14.1x earnings
        if nearest is not None and (
            nearest.position > start or number.scale == 1 or not _PRICES.issuperset(nearest.value)
        ):
            return nearest.value
        if (nearest is not None or not context.figure) and number.scale > 1:
            # No price and no return has millions: it is not the figure that was named for a number before.
            amount = max((value for value, _ in number.readings), default=0) * number.scale
            return ("market_cap", "revenue") if amount >= _BILLION else ()
        if number.money and self._moves:
            return ("price",)
        if self._moves or context.move:
            # Its worst month was October, when it fell 20%; its deepest fall cost 16.7%.
            keeps_figure = context.figure and (
                context.figure[0].startswith(EXTREME_PREFIXES) or FALL_FIGURES.issuperset(context.figure)
            )
            return context.figure if keeps_figure else ("return",)
        return context.figure or self._compared_by

    def _periods_of(self, token: Token, start: int, end: int) -> tuple[str, ...]:
        """The periods of a number that its clause names."""
        numbers, periods = self._numbers, self._of_kind("period")
        by_position = sorted([*numbers, *periods], key=lambda t: t.position)
        if len(numbers) == len(periods) > 1 and by_position[::2] == numbers:  # 25.3% in 2011 to 4.2% in 2012
            return (periods[numbers.index(token)].value,)
        before = [t for t in periods if start < t.position < token.position]
        after = [t for t in periods if token.position < t.position < end]
        chosen = before[-1:] or after[:1]
        if not chosen and self.periods:
            return (self.periods[-1],)
        return tuple(t.value for t in chosen)

    def _subjects_of(self, token: Token, start: int, end: int, index: int) -> tuple[str | None, ...]:
        """The tickers that a number belongs to; `index`: its place among the clause's numbers."""
        context, count, tickers = self._context, len(self._numbers), self._of_kind("ticker")
        before = [t for t in tickers if t.position < token.position]
        after = [t for t in tickers if token.position < t.position < end]
        between = [t for t in self.tokens if before and before[-1].position < t.position < token.position]
        if before and all(t.kind == "word" and t.word in ("", "s", "(", "does", "did", "at", "a") for t in between):
            return (before[-1].value,)  # IBM's 1.7%, MSFT (19.9%), more than MSFT at 30.39
        alternates = sorted([*self._numbers, *tickers], key=lambda t: t.position)[::2] == self._numbers
        if alternates and 1 < count == len(tickers) and not self.objects:  # from 16.5% at IBM to 32.8% at Apple
            return (tickers[index].value,)
        prepositions = (t for t in self._of_kind("word") if t.word in ("for", "of", "de", "para", "by", "del", "at"))
        preposition = next((t for t in prepositions if token.position < t.position < end), None)
        names_owner = (
            preposition is not None
            and preposition.word in ("for", "para")
            and after
            and after[0].position > preposition.position
        )
        if names_owner or (preposition is not None and after and not any(b.position > start for b in before)):
            return (after[0].value,)
        if self.figure in (("beta",), ("correlation",)):  # their betas against SPY were 0.3 and 0.4
            before, after = ([t for t in group if t.value not in self.objects] for group in (before, after))
        than = next((t for t in self._of_kind("than") if t.position < token.position), None)
        if than is not None and not any(than.position < t.position < token.position for t in tickers):
            if after:
                return (after[0].value,)
            if len(context.sentence_tickers) == 2:
                return (context.sentence_tickers[1],)
            if len(context.sentence_tickers) == 1 and len(self.known_tickers) == 2:
                return tuple(name for name in self.known_tickers if name not in context.subjects) or context.subjects
        owners = [ticker for ticker in context.sentence_tickers if ticker not in self.objects]
        for candidates in (context.subjects, owners):
            if count > 1 and count == len(candidates) and not before:
                return (candidates[index],)
        if (
            before
            and context.is_plural
            and count == len(context.subjects)
            and all(t.position < token.position for t in tickers)
        ):
            return (context.subjects[index],)
        if before and not (context.is_plural and len(self.subjects) == len(before) and not self.objects):
            chosen = [t for t in before if t.value not in self.objects] if than is None else before
            return ((chosen or before)[-1].value,)
        comparison = next((t for t in self._of_kind("than", "better", "worse") if t.position > token.position), None)
        if (
            after
            and not before
            and (comparison is None or not context.subjects or after[0].position < comparison.position)
        ):
            return (after[0].value,)
        return context.subjects or (None,)

    # ------------------------------------------------------------ moves, comparisons, places and dates

    def _default_periods(self) -> tuple[str, ...]:
        """The period of a statement that names none itself."""
        return self._context.periods or self._context.later_periods or self._context.fallback_periods[:1]

    def _read_unknown(self) -> None:
        periods = tuple(self.periods) or self._context.later_periods
        for token in self._figures:
            paid = self.periods and token.value[0] == "dividends"  # no dividend in 2008, whatever the yield is now
            figure = ("dividends",) if paid else token.value
            self._reading.add(Claim("unknown", None, figure, periods=periods), self._context.subjects or (None,))

    def _read_moves(self, used_positions: set[int]) -> None:
        """Adds claims of rises, falls and hardly any movement. Verbs at `used_positions` already belong to a number."""
        for token in self._moves:
            figure = next((f for f in reversed(self._figures) if f.position < token.position), None)
            moved_figures = figure.value if figure else ()
            is_dividend_change = any(
                0 < f.position - token.position - len(token.text) <= len(" its ") and f.value[0] in _DIVIDENDS
                for f in self._figures
            )
            if is_dividend_change or (moved_figures and not _MOVABLE.intersection(moved_figures) and not self._numbers):
                self._reading.problems.append(f"a change that no tool gave: {token.text}")
                continue
            if token.position in used_positions and not self._context.is_plural and not self.names_everyone:
                continue
            if token.kind == "fall" and any(
                f.position > token.position and FALL_FIGURES.issuperset(f.value) for f in self._figures
            ):
                continue  # lost less from its high
            own_periods = self._of_kind("period")
            periods = (
                (min(own_periods, key=lambda t: abs(t.position - token.position)).value,)
                if own_periods
                else self._default_periods()
            )
            self._reading.add(Claim(MOVES[token.kind], None, periods=periods), self._subjects_of_move(token))
        if self._of_kind("even"):
            self._reading.claims.append(Claim("even", None, ("return",), periods=self._default_periods()))
        if self._of_kind("flat"):
            self._reading.add(Claim("flat", None, periods=self._default_periods()), self._context.subjects)

    def _subjects_of_move(self, token: Token) -> tuple[str, ...]:
        if self.names_everyone or self._context.is_plural:
            return self._context.subjects
        preceding = [t.value for t in self._of_kind("ticker") if t.position < token.position]
        following = [t.value for t in self._of_kind("ticker") if t.position > token.position]
        if preceding:
            return (preceding[-1],)
        return tuple(following) if following and not self.objects else self._context.subjects

    def _read_comparisons(self) -> None:
        """Adds claims of more, less, most and least: more than MSFT, the most volatile, ahead of the other."""
        context = self._context
        figure: tuple[str, ...] = self._figures[0].value if self._figures else context.figure
        if not self._figures and any(t.value.scale >= _BILLION for t in self._numbers):
            figure = ("market_cap",)
        for token in self.tokens:
            if token.kind in ("better", "worse"):
                relation = "more" if token.kind == "better" else "less"
                by_number = token.text in ("more than", "less than")
                keeps_figure = self._figures or by_number or (token.text.startswith(LEAD_PREFIXES) and not self._moves)
                compared_figures = (
                    figure if keeps_figure and figure and not _PRICES.intersection(figure) else ("return",)
                )
                by_move = self._moves and compared_figures == ("return",) and by_number
                self._compare(relation, compared_figures, MOVES[self._moves[0].kind] if by_move else None)
            elif token.kind in ("more", "less"):
                self._compare(token.kind, (token.value,))
            elif token.kind == "moved":
                move, relation_of_move = token.value
                self._compare(relation_of_move, ("return",), MOVES[move])
            elif token.kind in ("up", "down") and (self.objects or self._of_kind("than") or not self._numbers):
                self._compare("more" if token.kind == "up" else "less", figure)
            elif token.kind in ("highest", "lowest"):
                self._rank(token, token.kind, figure)
        place = next(iter(self._of_kind("above", "below")), None)
        if place is not None and self.objects and not self._of_kind("up", "down", "more", "less"):
            self._compare("more" if place.kind == "above" else "less", figure)

    def _compared_periods(self) -> tuple[str, ...]:
        return tuple(self.periods) or self._default_periods()

    def _rank(self, token: Token, relation: Relation, figure: tuple[str, ...]) -> None:
        context = self._context
        ranked_figures: tuple[str, ...] = (token.value,) if token.value else figure
        leads = token.text.startswith(("lead", "led", "lider", "encabez"))
        moves = [t for t in self._moves if t.position > token.position] or ([] if leads else self._moves[-1:])
        move_kind = next((t.kind for t in moves), None)
        if not ranked_figures and (move_kind or leads):
            ranked_figures = ("return",)
            relation = "lowest" if (move_kind == "fall") != (token.kind == "lowest") else "highest"
        candidates = context.subjects if context.is_subject_named else tuple(self.tickers) or context.subjects
        pair = (
            context.sentence_tickers
            if ranked_figures == ("correlation",) and len(context.sentence_tickers) == 2
            else ()
        )
        for subject in candidates[:1] if len(candidates) > 1 and self.tickers else candidates:
            other = next((ticker for ticker in pair if ticker != subject), None)
            self._reading.claims.append(
                Claim(relation, subject, ranked_figures, periods=self._compared_periods(), other=other)
            )
        if not ranked_figures:
            self._reading.problems.append("a superlative of nothing")

    def _compare(self, relation: Relation, figures: tuple[str, ...], move: str | None = None) -> None:
        context = self._context
        if not figures and (self.move or context.move) and self._of_kind("up", "down"):
            figures, move = ("return",), self.move or context.move  # a loss that is larger than MSFT's
        other_tickers = (
            self.objects or [ticker for ticker in context.sentence_tickers if ticker not in context.subjects][:1]
        )
        # IBM did better, of two: than the other one.
        other_tickers = other_tickers or [
            ticker for ticker in self.known_tickers if ticker not in context.subjects and len(self.known_tickers) == 2
        ]
        if not other_tickers and self._of_kind("worse", "better", "up", "down") and not self._of_kind("than"):
            # IBM lagged: behind all others.
            other_tickers = [ticker for ticker in self.known_tickers if ticker not in context.subjects]
        subjects = [ticker for ticker in context.subjects if ticker not in other_tickers]
        if not other_tickers or not subjects or not figures:
            self._reading.problems.append("a comparison with nobody")
            return
        for subject in subjects:
            for other in other_tickers:
                claim = Claim(relation, subject, figures, None, move, self._compared_periods(), other)
                self._reading.claims.append(claim)
        self.next_subjects = tuple(subjects)

    def _read_places(self) -> None:
        """Adds claims of above, below and between: its 50-day average, its band, its usual volume."""
        context, figures = self._context, self._figures
        for token in self.tokens:
            if token.kind not in ("above", "below", "between") or self.objects:
                continue
            averages = [f.value[0] for f in figures if f.position > token.position and f.value[0].startswith(LINES)]
            ends_clause = not any(
                t.position > token.position and t.word not in (".", "!", ")", "") for t in self.tokens
            )
            if not averages and (ends_clause or any(t.word in POSSESSIVES for t in self.tokens)):
                averages = [average for average in context.figure[:1] if average.startswith(LINES)]
            if averages:
                self._reading.add(Claim(token.kind, None, (*averages, *context.averages)), context.subjects or (None,))
            elif any("volume" in f.value for f in figures):
                self._reading.add(Claim(token.kind, None, ("volume_zscore",)), context.subjects)
            elif not self._numbers:
                self._reading.problems.append(f"{token.text} nothing that is known")

    def _read_days(self) -> None:
        """Adds claims of dates: when results are due, when the best day was, which report is meant."""
        context = self._context
        dated = next((f.value for f in reversed(self._figures) if f.value[0].startswith(_DATED_PREFIXES)), None)
        if dated is None and context.figure and context.figure[0].startswith("next_") and not self._figures:
            dated = context.figure
        subjects = context.subjects or (None,)
        for token in self.tokens:
            if token.kind == "day":
                self._reading.add(Claim("dated", None, dated or (), day=token.value), subjects)
            elif token.kind == "report":
                self._reading.add(Claim("report", None, year=token.value), subjects)
            elif token.kind in ("expected", "confirmed") and dated and dated[0].startswith("next_"):
                self._reading.add(Claim(token.kind, None, dated), subjects)
