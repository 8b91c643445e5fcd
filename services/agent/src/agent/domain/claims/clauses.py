"""Reads one clause of a sentence as claims: subject, relation, figure, number, period."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.claims.claim import Claim, Context, SentenceClaims
from agent.domain.claims.comparisons import BEARING, BILLION, MOVES, PRICES, ComparingClause
from agent.domain.claims.facts import FALLS
from agent.domain.claims.lexer import LINES, Token

DENIAL = "a denial, which no figure can back"
_MOVABLE = frozenset(("price", "close", "return", "high", "low"))
"""Figures that a rise or a fall may be said of: the price's own."""
ENDS = ("best_", "worst_")
_RELATIONS = BEARING - {"figure", "unknown", "day", "report"}
"""What a clause says of a figure, beside that there is none."""
_TIMES = ("x ", "times ", "veces ")
"""How the figure begins that stands right behind a multiple: 14.1x earnings."""
_THEIRS = frozenset(("theirs", "suya", "suyas"))
"""Behind above or below: the average that the clause before has named."""
_DIVIDENDS = ("dividends", "dividend_yield")
_BESIDE = 5
"""Characters between a rise and what was raised: its."""
_PUNCTUATION = frozenset((".", "!", ")", ""))
_PLAIN = frozenset(("is", "dated", "report", "unknown"))


class Clause(ComparingClause):
    """One clause: its tokens, and the claims that they make in their context."""

    @property
    def names_when(self) -> bool:
        """Whether it tells when a best or worst stretch was, and not how much: "its worst month was October"."""
        numbers = any(token.kind == "number" for token in self.tokens)
        return bool(self.figure and self.figure[0].startswith(ENDS) and self.periods and not numbers)

    def read(self, reading: SentenceClaims, context: Context) -> None:
        kinds = {token.kind for token in self.tokens}
        figures = [token for token in self.tokens if token.kind == "figure"]
        numbers = [token for token in self.tokens if token.kind == "number"]
        moves = [token for token in self.tokens if token.kind in MOVES]
        before = len(reading.claims)
        self.figure = figures[-1].value if figures else self.compared
        if moves:
            self.move = MOVES[moves[-1].kind]
        if not self.known:
            reading.problems.append("figures, and no tool gave any")
            return
        nothing = self.denies and context.named and bool(figures) and not kinds & _RELATIONS
        if not numbers and ("unknown" in kinds or nothing):
            self._unknown(reading, context, figures)
            return
        used = self._numbers(reading, context, numbers, figures, moves)
        self._moves(reading, context, moves, used, figures)
        self._comparisons(reading, context, figures, moves)
        self._places(reading, context, figures)
        self._days(reading, context, figures)
        if self.names_when:
            reading.add(Claim("during", None, self.figure, periods=tuple(self.periods)), context.subjects or (None,))
        if self.denies:
            self._denied(reading, before)

    def _denied(self, reading: SentenceClaims, first: int) -> None:
        """Its relations are denied; where it has none, its numbers: "not below its average of 196.59"."""
        made = reading.claims[first:]
        denied = [one for one in made if one.relation not in _PLAIN] or [one for one in made if one.relation == "is"]
        reading.claims[first:] = [replace(one, denied=one in denied) for one in made]
        if not denied:
            reading.problems.append(DENIAL)

    # ------------------------------------------------------------ numbers

    def _numbers(
        self,
        reading: SentenceClaims,
        context: Context,
        numbers: Sequence[Token],
        figures: Sequence[Token],
        moves: Sequence[Token],
    ) -> set[int]:
        used: set[int] = set()
        for index, token in enumerate(numbers):
            start = numbers[index - 1].at if index else -1
            end = numbers[index + 1].at if index + 1 < len(numbers) else 1 << 30
            figure = self._figure_of(token, figures, start, end, context)
            move_token = next((m for m in reversed(moves) if start < m.at < token.at), None) or next(
                (m for m in moves if token.at < m.at < end), None
            )
            if move_token is not None:
                used.add(move_token.at)
            carried = token.value.scale == 1 and (
                not figure or figure == ("total_return",) or ("return" in figure and not figures)
            )
            move = MOVES[move_token.kind] if move_token else context.move if carried else None
            periods = self._periods_of(token, start, end) or context.periods
            allowed = periods or context.later or context.fallback
            for subject in self._subjects_of(token, start, end, context, index, len(numbers)):
                reading.claims.append(
                    Claim(
                        "is",
                        subject,
                        figure,
                        token.value,
                        move,
                        allowed,
                        self._against(token, subject, context),
                        soft=not periods and not context.later,
                    )
                )
        return used

    def _against(self, token: Token, subject: str | None, context: Context) -> str | None:
        """Whom a correlation or a beta is measured against, where it is said; whose figure is so many points away."""
        if token.value.points and len(context.whole) == 2:
            return next((one for one in context.whole if one != subject), None)
        place = next((t.at for t in self.tokens if t.kind in ("than",)), None)
        if place is None:
            return None
        return next((t.value for t in self.tokens if t.kind == "ticker" and t.at > place), None)

    def _figure_of(
        self, token: Token, figures: Sequence[Token], start: int, end: int, context: Context
    ) -> tuple[str, ...]:
        nearest = next((f for f in reversed(figures) if f.at < token.at), None)
        if nearest is None or (nearest.at < start and any(start < token.at < f.at < end for f in figures)):
            nearest = next((f for f in figures if token.at < f.at < end), nearest)
        number = token.value
        named = nearest.value if nearest is not None else context.figure
        if number.money and named == ("invested",) and any(t.kind == "number" and t.at < token.at for t in self.tokens):
            return ("growth", "final")  # $10,000 put into IBM in 2008 ended the year at $7,785
        behind = next((t for t in self.tokens if t.at > token.at and t.kind != "word"), None)
        if behind is not None and (behind.value == ("current_drawdown",) or behind.text.startswith(_TIMES)):
            return behind.value  # trades 3.8% below its high, at 14.1x earnings
        if nearest is not None and (nearest.at > start or number.scale == 1 or not PRICES.issuperset(nearest.value)):
            return nearest.value
        if (nearest is not None or not context.figure) and number.scale > 1:
            # No price and no return has millions: it is not the figure that was named for a number before.
            size = max((value for value, _ in number.readings), default=0) * number.scale
            return ("market_cap", "revenue") if size >= BILLION else ()
        if number.money and any(t.kind in MOVES for t in self.tokens):
            return ("price",)
        if any(t.kind in MOVES for t in self.tokens) or context.move:
            # Its worst month was October, when it fell 20%.
            return context.figure if context.figure and context.figure[0].startswith(ENDS) else ("return",)
        return context.figure or self.compared

    def _periods_of(self, token: Token, start: int, end: int) -> tuple[str, ...]:
        numbers, periods = ([t for t in self.tokens if t.kind == kind] for kind in ("number", "period"))
        in_turn = sorted([*numbers, *periods], key=lambda t: t.at)
        if len(numbers) == len(periods) > 1 and in_turn[::2] == numbers:  # 25.3% in 2011 to 4.2% in 2012
            return (periods[numbers.index(token)].value,)
        before = [t for t in self.tokens if t.kind == "period" and start < t.at < token.at]
        after = [t for t in self.tokens if t.kind == "period" and token.at < t.at < end]
        chosen = before[-1:] or after[:1]
        if not chosen and self.periods:
            return (self.periods[-1],)
        return tuple(t.value for t in chosen)

    def _subjects_of(
        self, token: Token, start: int, end: int, context: Context, index: int, count: int
    ) -> tuple[str | None, ...]:
        tickers = [t for t in self.tokens if t.kind == "ticker"]
        before = [t for t in tickers if t.at < token.at]
        after = [t for t in tickers if token.at < t.at < end]
        between = [t for t in self.tokens if before and before[-1].at < t.at < token.at]
        if before and all(
            t.kind == "word" and t.word in ("", "s", "(", "does", "did") for t in between
        ):  # IBM's 1.7%, MSFT (19.9%)
            return (before[-1].value,)
        of = next(
            (
                t
                for t in self.tokens
                if t.kind == "word" and t.word in ("for", "of", "de", "para", "by", "del") and token.at < t.at < end
            ),
            None,
        )
        for_whom = of is not None and of.word in ("for", "para") and after and after[0].at > of.at
        if for_whom or (of is not None and after and not any(b.at > start for b in before)):
            return (after[0].value,)
        if self.figure in (("beta",), ("correlation",)):  # their betas against SPY were 0.3 and 0.4
            before, after = ([t for t in some if t.value not in self.objects] for some in (before, after))
        than = next((t for t in self.tokens if t.kind == "than" and t.at < token.at), None)
        if than is not None and not any(than.at < t.at < token.at for t in tickers):
            if after:
                return (after[0].value,)
            if len(context.whole) == 2:
                return (context.whole[1],)
            if len(context.whole) == 1 and len(self.known) == 2:
                return tuple(one for one in self.known if one not in context.subjects) or context.subjects
        theirs = [one for one in context.whole if one not in self.objects]
        for several in (context.subjects, theirs):
            if count > 1 and count == len(several) and not before:
                return (several[index],)
        if before and context.several and count == len(context.subjects) and all(t.at < token.at for t in tickers):
            return (context.subjects[index],)
        if before and not (context.several and len(self.subjects) == len(before) and not self.objects):
            chosen = [t for t in before if t.value not in self.objects] if than is None else before
            return ((chosen or before)[-1].value,)
        if after and not before:
            return (after[0].value,)
        return context.subjects or (None,)

    # ------------------------------------------------------------ the rest

    def _unknown(self, reading: SentenceClaims, context: Context, figures: Sequence[Token]) -> None:
        periods = tuple(self.periods) or context.later
        for token in figures:
            reading.add(Claim("unknown", None, token.value, periods=periods), context.subjects or (None,))

    def _moves(
        self,
        reading: SentenceClaims,
        context: Context,
        moves: Sequence[Token],
        used: set[int],
        figures: Sequence[Token],
    ) -> None:
        for token in moves:
            figure = next((f for f in reversed(figures) if f.at < token.at), None)
            moved = figure.value if figure else ()
            beside = any(0 < f.at - token.at - len(token.text) <= _BESIDE and f.value[0] in _DIVIDENDS for f in figures)
            if beside or (
                moved and not _MOVABLE.intersection(moved) and not any(t.kind == "number" for t in self.tokens)
            ):
                reading.problems.append(f"a change that no tool gave: {token.text}")
                continue
            if token.at in used and not context.several and not self.everyone:
                continue
            if token.kind == "fall" and any(f.at > token.at and FALLS.issuperset(f.value) for f in figures):
                continue  # lost less from its high
            move = Claim(MOVES[token.kind], None, periods=self._near(token, context))
            reading.add(move, self._moved(token, context))
        periods = context.periods or context.later or context.fallback[:1]
        if any(token.kind == "even" for token in self.tokens):
            reading.claims.append(Claim("even", None, ("return",), periods=periods))
        if any(token.kind == "flat" for token in self.tokens):
            reading.add(Claim("flat", None, periods=periods), context.subjects)

    def _moved(self, token: Token, context: Context) -> tuple[str, ...]:
        if self.everyone or context.several:
            return context.subjects
        before = [t.value for t in self.tokens if t.kind == "ticker" and t.at < token.at]
        after = [t.value for t in self.tokens if t.kind == "ticker" and t.at > token.at]
        if before:
            return (before[-1],)
        return tuple(after) if after and not self.objects else context.subjects

    def _near(self, token: Token, context: Context) -> tuple[str, ...]:
        own = [t for t in self.tokens if t.kind == "period"]
        if own:
            return (min(own, key=lambda t: abs(t.at - token.at)).value,)
        return context.periods or context.later or context.fallback[:1]

    def _places(self, reading: SentenceClaims, context: Context, figures: Sequence[Token]) -> None:
        for token in self.tokens:
            if token.kind not in ("above", "below", "between") or self.objects:
                continue
            averages = [f.value[0] for f in figures if f.at > token.at and f.value[0].startswith(LINES)]
            last = not any(t.at > token.at and t.word not in _PUNCTUATION for t in self.tokens)
            if not averages and (last or any(t.word in _THEIRS for t in self.tokens)) and context.figure[:1]:
                averages = [one for one in context.figure[:1] if one.startswith(LINES)]
            if averages:
                reading.add(Claim(token.kind, None, (*averages, *context.averages)), context.subjects or (None,))
            elif any("volume" in f.value for f in figures):
                reading.add(Claim(token.kind, None, ("volume_zscore",)), context.subjects)
            elif not any(t.kind == "number" for t in self.tokens):
                reading.problems.append(f"{token.text} nothing that is known")

    def _days(self, reading: SentenceClaims, context: Context, figures: Sequence[Token]) -> None:
        dated = next(
            (f.value for f in reversed(figures) if f.value[0].startswith(("next_", "best_day", "worst_day"))), None
        )
        if dated is None and context.figure and context.figure[0].startswith("next_") and not figures:
            dated = context.figure
        whom = context.subjects or (None,)
        for token in self.tokens:
            if token.kind == "day":
                reading.add(Claim("dated", None, dated or (), day=token.value), whom)
            elif token.kind == "report":
                reading.add(Claim("report", None, year=token.value), whom)
            elif token.kind in ("expected", "confirmed") and dated and dated[0].startswith("next_"):
                reading.add(Claim(token.kind, None, dated), whom)
