"""Reads one clause of a sentence as claims: subject, relation, figure, number, period.

"IBM rose 2.7% over the year, more than MSFT" has two clauses. The first claims that IBM rose and that its return was
2.7%; the second that it rose more than MSFT. What a clause leaves out (whom, which figure, when) comes from its
context.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.domain.claims.claim import DENIAL, Claim, ClauseContext, Relation, SentenceClaims
from agent.domain.claims.facts import FALL_FIGURES
from agent.domain.claims.lexer import LINES, Token, periods_of
from agent.domain.claims.words import DIVIDEND_VERBS, LEAD_PREFIXES, POSSESSIVES
from agent.domain.text_features import word_set

BEARING_KINDS = word_set(
    "number rise fall flat even more less highest lowest better worse moved figure above below between up down unknown "
    "day report confirmed expected"
)
"""Kinds of tokens that make a clause say something."""
_MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}
_BILLION = 1e9
"""No price is as large as this: such an amount is what a company is worth, or sells."""
_PRICES = frozenset(("price", "close", "return"))
_MOVABLE = _PRICES | {"high", "low"}
"""Figures that a rise or a fall may be said of: the price's own."""
_HIGH_AND_LOW = (("high",), ("low",))
_EXTREME_PREFIXES = ("best_", "worst_", "next_")
_DATED_PREFIXES = ("next_", "best_day", "worst_day")
_RELATIONS = BEARING_KINDS - {"figure", "unknown", "day", "report"}
"""What a clause says of a figure, other than that there is none."""
_MULTIPLE_SUFFIXES = ("x ", "times ", "veces ")  # right behind a multiple: 14.1x earnings
_DIVIDENDS = ("dividends", "dividend_yield")
_PRICE_ALONE = ("price alone", "solo precio", "solo el precio")
_UNDENIABLE = frozenset(("is", "dated", "report", "unknown"))
_NO_END = 1 << 30


class Clause:
    """One clause: its tokens, whom and what they name, and the claims that they make in their context."""

    def __init__(self, tokens: Sequence[Token], known: Sequence[str]) -> None:
        self.tokens = tokens
        self.known = known
        self.makes_claims = any(token.kind in BEARING_KINDS for token in tokens)
        kinds = {token.kind for token in tokens}
        self.is_denial = bool(kinds & {"not", "neither"}) != ("untrue" in kinds)
        self.names_everyone = "all" in kinds or ("neither" in kinds and "ticker" not in kinds)
        self.names_both = any(
            token.kind == "all" and token.text in ("both", "ambos", "ambas", "los dos", "las dos") for token in tokens
        )
        out = next((token.position for token in tokens if token.kind == "except"), _NO_END)
        self.excepted_tickers = [token.value for token in tokens if token.kind == "ticker" and token.position > out]
        pairs = zip(tokens, ("", *(one.word for one in tokens)), strict=False)
        self.tells_dividend = any(token.word in DIVIDEND_VERBS and before != "se" for token, before in pairs)
        self.is_only_comparison = bool(tokens) and tokens[0].kind == "than"
        self.tickers = [token.value for token in tokens if token.kind == "ticker"]
        self.objects = self._objects()
        self.subjects = [one for one in self.tickers if one not in self.objects]
        self.periods = periods_of(tokens)
        self._figures, self._numbers = self._of_kind("figure"), self._of_kind("number")
        self._moves = [token for token in tokens if token.kind in _MOVES]
        self._compared_by = self._figure_compared_by()
        self.figure: tuple[str, ...] = self._figures[-1].value if self._figures else self._compared_by
        self.move = _MOVES[self._moves[-1].kind] if self._moves else None
        self.next_subjects: tuple[str, ...] = ()

    @property
    def is_about_time(self) -> bool:
        """Whether it tells when a best or worst stretch was, and not how much: "its worst month was October"."""
        return bool(self.figure and self.figure[0].startswith(_EXTREME_PREFIXES) and self.periods and not self._numbers)

    def read(self, reading: SentenceClaims, context: ClauseContext) -> None:
        """Adds the clause's claims, and what in it is no claim that could be checked, to the reading."""
        self._reading, self._context = reading, context
        kinds = {token.kind for token in self.tokens}
        before = len(reading.claims)
        if not self.known:
            reading.problems.append("figures, and no tool gave any")
            return
        nothing = self.is_denial and context.is_subject_named and bool(self._figures) and not kinds & _RELATIONS
        if not self._numbers and ("unknown" in kinds or nothing):
            self._read_unknown()
            return
        self._read_moves(self._read_numbers())
        self._read_comparisons()
        self._read_places()
        self._read_days()
        # Which peaked in March 2012: its high was then.
        dated = self.figure in _HIGH_AND_LOW and not self._numbers and any("/" in one for one in self.periods)
        if self.is_about_time or dated:
            reading.add(Claim("during", None, self.figure, periods=tuple(self.periods)), context.subjects or (None,))
        if self.is_denial:
            self._deny(before)

    def _of_kind(self, *kinds: str) -> list[Token]:
        return [token for token in self.tokens if token.kind in kinds]

    def _objects(self) -> list[str]:
        """The tickers that others are compared with: those after the comparison."""
        start = next((t.position for t in self.tokens if t.kind in ("than", "better", "worse")), None)
        if start is None:
            place = next((t.position for t in self.tokens if t.kind in ("above", "below")), None)
            if place is None or not any(t.kind == "ticker" and t.position < place for t in self.tokens):
                return []
            # Above MSFT's is a comparison, above its average none.
            after = [t for t in self._of_kind("ticker", "figure", "number") if t.position > place]
            return [after[0].value] if after and after[0].kind == "ticker" else []
        rest = any(t.kind == "rest" and t.position > start for t in self.tokens)
        named = [one for one in self.known if one not in self.tickers] if rest else []
        return [*(t.value for t in self._of_kind("ticker") if t.position > start), *named]

    def _figure_compared_by(self) -> tuple[str, ...]:
        """The figure that an adjective names: the most volatile (32.8%)."""
        named = next((t.value for t in self._of_kind("more", "less", "highest", "lowest") if t.value), None)
        return () if named in (None, "return") else (named,)

    def _deny(self, first: int) -> None:
        """Its relations are denied; where it has none, its numbers: "not below its average of 196.59"."""
        made = self._reading.claims[first:]
        denied = [one for one in made if one.relation not in _UNDENIABLE] or [
            one for one in made if one.relation == "is"
        ]
        self._reading.claims[first:] = [replace(one, is_denied=one in denied) for one in made]
        if not denied:
            self._reading.problems.append(DENIAL)

    # ------------------------------------------------------------ numbers

    def _read_numbers(self) -> set[int]:
        """Claims that each number is some figure's; returns the places of the moves that tell a number's direction."""
        used: set[int] = set()
        context = self._context
        for index, token in enumerate(self._numbers):
            start = self._numbers[index - 1].position if index else -1
            end = self._numbers[index + 1].position if index + 1 < len(self._numbers) else _NO_END
            figure = self._figure_of(token, start, end)
            move_token = next((m for m in reversed(self._moves) if start < m.position < token.position), None) or next(
                (m for m in self._moves if token.position < m.position < end), None
            )
            if move_token is not None:
                used.add(move_token.position)
            carried = token.value.scale == 1 and (
                not figure or figure == ("total_return",) or ("return" in figure and not self._figures)
            )
            beside = carried and any(start < one.position < token.position for one in self._of_kind("than"))
            without = (self.move if beside else None) or (context.move if carried else None)
            move = _MOVES[move_token.kind] if move_token else without
            periods = self._periods_of(token, start, end) or context.periods
            allowed, soft = (
                periods or context.later_periods or context.fallback_periods,
                not periods and not context.later_periods,
            )
            for subject in self._subjects_of(token, start, end, index):
                against = self._against(token, subject)
                self._reading.claims.append(
                    Claim("is", subject, figure, token.value, move, allowed, against, has_assumed_periods=soft)
                )
        return used

    def _against(self, token: Token, subject: str | None) -> str | None:
        """Whom a correlation or a beta is measured against, where it is said; whose figure is so many points away."""
        whole = self._context.sentence_tickers
        if token.value.points and len(whole) == 2:
            return next((one for one in whole if one != subject), None)
        than = next(iter(self._of_kind("than")), None)
        return next((t.value for t in self._of_kind("ticker") if than and t.position > than.position), None)

    def _figure_of(self, token: Token, start: int, end: int) -> tuple[str, ...]:
        figures, context = self._figures, self._context
        nearest = next((f for f in reversed(figures) if f.position < token.position), None)
        if nearest is None or (
            nearest.position < start and any(start < token.position < f.position < end for f in figures)
        ):
            nearest = next((f for f in figures if token.position < f.position < end), nearest)
        number = token.value
        if any(start < one.position < end and one.text in _PRICE_ALONE for one in self.tokens):
            return ("return",)  # 18.7%, against 16.8% on price alone
        if number.money and nearest is not None and nearest.value == ("total_return",) and "dividend" in nearest.text:
            return _DIVIDENDS  # counting dividends of $3.20 a share
        superlative = next((t for t in self._of_kind("highest", "lowest") if start < t.position < token.position), None)
        if nearest is not None and nearest.position > token.position and superlative is not None and superlative.value:
            return (superlative.value,)  # the least volatile at 16.5%, with the smallest drawdown
        top = nearest if number.money and nearest is not None and nearest.value in _HIGH_AND_LOW else None
        if top is not None and any(token.position < t.position < top.position for t in self._of_kind("above", "below")):
            return ("price", "close")  # $430.47 is only just above its low of $429.98
        named = nearest.value if nearest is not None else context.figure
        into = nearest if number.money and nearest is not None and nearest.value == ("growth", "final") else None
        if into is not None and token.position < into.position < self._numbers[-1].position:
            return ("invested",)  # it turned $10,000 into $7,785
        if (
            number.money
            and named == ("invested",)
            and (not figures or any(t.position < token.position for t in self._numbers))
        ):
            return ("growth", "final")  # $10,000 put into IBM in 2008 ended the year at $7,785
        behind = next((t for t in self.tokens if t.position > token.position and t.kind != "word"), None)
        worst = ("max_drawdown",) in (context.figure, *(f.value for f in figures))
        if worst and behind is not None and behind.value == ("current_drawdown",):
            return ("max_drawdown",)  # at its worst it was 44.8% below its peak
        if behind is not None and (behind.value == ("current_drawdown",) or behind.text.startswith(_MULTIPLE_SUFFIXES)):
            return behind.value  # trades 3.8% below its high, at 14.1x earnings
        if nearest is not None and (
            nearest.position > start or number.scale == 1 or not _PRICES.issuperset(nearest.value)
        ):
            return nearest.value
        if (nearest is not None or not context.figure) and number.scale > 1:
            # No price and no return has millions: it is not the figure that was named for a number before.
            size = max((value for value, _ in number.readings), default=0) * number.scale
            return ("market_cap", "revenue") if size >= _BILLION else ()
        if number.money and self._moves:
            return ("price",)
        if self._moves or context.move:
            # Its worst month was October, when it fell 20%; its deepest fall cost 16.7%.
            same = context.figure and (
                context.figure[0].startswith(_EXTREME_PREFIXES) or FALL_FIGURES.issuperset(context.figure)
            )
            return context.figure if same else ("return",)
        return context.figure or self._compared_by

    def _periods_of(self, token: Token, start: int, end: int) -> tuple[str, ...]:
        numbers, periods = self._numbers, self._of_kind("period")
        in_turn = sorted([*numbers, *periods], key=lambda t: t.position)
        if len(numbers) == len(periods) > 1 and in_turn[::2] == numbers:  # 25.3% in 2011 to 4.2% in 2012
            return (periods[numbers.index(token)].value,)
        before = [t for t in periods if start < t.position < token.position]
        after = [t for t in periods if token.position < t.position < end]
        chosen = before[-1:] or after[:1]
        if not chosen and self.periods:
            return (self.periods[-1],)
        return tuple(t.value for t in chosen)

    def _subjects_of(self, token: Token, start: int, end: int, index: int) -> tuple[str | None, ...]:
        context, count, tickers = self._context, len(self._numbers), self._of_kind("ticker")
        before = [t for t in tickers if t.position < token.position]
        after = [t for t in tickers if token.position < t.position < end]
        between = [t for t in self.tokens if before and before[-1].position < t.position < token.position]
        if before and all(t.kind == "word" and t.word in ("", "s", "(", "does", "did") for t in between):
            return (before[-1].value,)  # IBM's 1.7%, MSFT (19.9%)
        in_turn = sorted([*self._numbers, *tickers], key=lambda t: t.position)[::2] == self._numbers
        if in_turn and 1 < count == len(tickers) and not self.objects:  # from 16.5% at IBM to 32.8% at Apple
            return (tickers[index].value,)
        prepositions = (t for t in self._of_kind("word") if t.word in ("for", "of", "de", "para", "by", "del", "at"))
        of = next((t for t in prepositions if token.position < t.position < end), None)
        for_whom = of is not None and of.word in ("for", "para") and after and after[0].position > of.position
        if for_whom or (of is not None and after and not any(b.position > start for b in before)):
            return (after[0].value,)
        if self.figure in (("beta",), ("correlation",)):  # their betas against SPY were 0.3 and 0.4
            before, after = ([t for t in some if t.value not in self.objects] for some in (before, after))
        than = next((t for t in self._of_kind("than") if t.position < token.position), None)
        if than is not None and not any(than.position < t.position < token.position for t in tickers):
            if after:
                return (after[0].value,)
            if len(context.sentence_tickers) == 2:
                return (context.sentence_tickers[1],)
            if len(context.sentence_tickers) == 1 and len(self.known) == 2:
                return tuple(one for one in self.known if one not in context.subjects) or context.subjects
        theirs = [one for one in context.sentence_tickers if one not in self.objects]
        for several in (context.subjects, theirs):
            if count > 1 and count == len(several) and not before:
                return (several[index],)
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
        compared = next((t for t in self._of_kind("than", "better", "worse") if t.position > token.position), None)
        if after and not before and (compared is None or not context.subjects or after[0].position < compared.position):
            return (after[0].value,)
        return context.subjects or (None,)

    # ------------------------------------------------------------ the rest

    def _stretch(self) -> tuple[str, ...]:
        """The period of what the clause says without one of its own."""
        return self._context.periods or self._context.later_periods or self._context.fallback_periods[:1]

    def _read_unknown(self) -> None:
        periods = tuple(self.periods) or self._context.later_periods
        for token in self._figures:
            paid = self.periods and token.value[0] == "dividends"  # no dividend in 2008, whatever the yield is now
            figure = ("dividends",) if paid else token.value
            self._reading.add(Claim("unknown", None, figure, periods=periods), self._context.subjects or (None,))

    def _read_moves(self, used: set[int]) -> None:
        """Claims that somebody rose, fell or hardly moved; `used`: the moves that a number has told already."""
        for token in self._moves:
            figure = next((f for f in reversed(self._figures) if f.position < token.position), None)
            moved = figure.value if figure else ()
            beside = any(
                0 < f.position - token.position - len(token.text) <= len(" its ") and f.value[0] in _DIVIDENDS
                for f in self._figures
            )
            if beside or (moved and not _MOVABLE.intersection(moved) and not self._numbers):
                self._reading.problems.append(f"a change that no tool gave: {token.text}")
                continue
            if token.position in used and not self._context.is_plural and not self.names_everyone:
                continue
            if token.kind == "fall" and any(
                f.position > token.position and FALL_FIGURES.issuperset(f.value) for f in self._figures
            ):
                continue  # lost less from its high
            own = self._of_kind("period")
            periods = (min(own, key=lambda t: abs(t.position - token.position)).value,) if own else self._stretch()
            self._reading.add(Claim(_MOVES[token.kind], None, periods=periods), self._moved(token))
        if self._of_kind("even"):
            self._reading.claims.append(Claim("even", None, ("return",), periods=self._stretch()))
        if self._of_kind("flat"):
            self._reading.add(Claim("flat", None, periods=self._stretch()), self._context.subjects)

    def _moved(self, token: Token) -> tuple[str, ...]:
        if self.names_everyone or self._context.is_plural:
            return self._context.subjects
        before = [t.value for t in self._of_kind("ticker") if t.position < token.position]
        after = [t.value for t in self._of_kind("ticker") if t.position > token.position]
        if before:
            return (before[-1],)
        return tuple(after) if after and not self.objects else self._context.subjects

    def _read_comparisons(self) -> None:
        """Claims of more, less, the most and the least: more than MSFT, the most volatile, ahead of the other."""
        context = self._context
        figure: tuple[str, ...] = self._figures[0].value if self._figures else context.figure
        if not self._figures and any(t.value.scale >= _BILLION for t in self._numbers):
            figure = ("market_cap",)
        for token in self.tokens:
            if token.kind in ("better", "worse"):
                relation = "more" if token.kind == "better" else "less"
                by_number = token.text in ("more than", "less than")
                own = self._figures or by_number or (token.text.startswith(LEAD_PREFIXES) and not self._moves)
                compared = figure if own and figure and not _PRICES.intersection(figure) else ("return",)
                by_move = self._moves and compared == ("return",) and by_number
                self._compare(relation, compared, _MOVES[self._moves[0].kind] if by_move else None)
            elif token.kind in ("more", "less"):
                self._compare(token.kind, (token.value,))
            elif token.kind == "moved":
                move, much = token.value
                self._compare(much, ("return",), _MOVES[move])
            elif token.kind in ("up", "down") and (self.objects or self._of_kind("than") or not self._numbers):
                self._compare("more" if token.kind == "up" else "less", figure)
            elif token.kind in ("highest", "lowest"):
                self._rank(token, token.kind, figure)
        place = next(iter(self._of_kind("above", "below")), None)
        if place is not None and self.objects and not self._of_kind("up", "down", "more", "less"):
            self._compare("more" if place.kind == "above" else "less", figure)

    def _compared_periods(self) -> tuple[str, ...]:
        return tuple(self.periods) or self._stretch()

    def _rank(self, token: Token, relation: Relation, figure: tuple[str, ...]) -> None:
        context = self._context
        ranked: tuple[str, ...] = (token.value,) if token.value else figure
        leads = token.text.startswith(("lead", "led", "lider", "encabez"))
        moves = [t for t in self._moves if t.position > token.position] or ([] if leads else self._moves[-1:])
        moved = next((t.kind for t in moves), None)
        if not ranked and (moved or leads):
            ranked = ("return",)
            relation = "lowest" if (moved == "fall") != (token.kind == "lowest") else "highest"
        who = context.subjects if context.is_subject_named else tuple(self.tickers) or context.subjects
        pair = context.sentence_tickers if ranked == ("correlation",) and len(context.sentence_tickers) == 2 else ()
        for subject in who[:1] if len(who) > 1 and self.tickers else who:
            other = next((one for one in pair if one != subject), None)
            self._reading.claims.append(Claim(relation, subject, ranked, periods=self._compared_periods(), other=other))
        if not ranked:
            self._reading.problems.append("a superlative of nothing")

    def _compare(self, relation: Relation, figures: tuple[str, ...], move: str | None = None) -> None:
        context = self._context
        if not figures and (self.move or context.move) and self._of_kind("up", "down"):
            figures, move = ("return",), self.move or context.move  # a loss that is larger than MSFT's
        others = self.objects or [one for one in context.sentence_tickers if one not in context.subjects][:1]
        # IBM did better, of two: than the other one.
        others = others or [one for one in self.known if one not in context.subjects and len(self.known) == 2]
        if not others and self._of_kind("worse", "better", "up", "down") and not self._of_kind("than"):
            others = [one for one in self.known if one not in context.subjects]  # IBM lagged: behind all others
        subjects = [one for one in context.subjects if one not in others]
        if not others or not subjects or not figures:
            self._reading.problems.append("a comparison with nobody")
            return
        for subject in subjects:
            for other in others:
                claim = Claim(relation, subject, figures, None, move, self._compared_periods(), other)
                self._reading.claims.append(claim)
        self.next_subjects = tuple(subjects)

    def _read_places(self) -> None:
        """Claims of above, below and between: its 50-day average, its band, its usual volume."""
        context, figures = self._context, self._figures
        for token in self.tokens:
            if token.kind not in ("above", "below", "between") or self.objects:
                continue
            averages = [f.value[0] for f in figures if f.position > token.position and f.value[0].startswith(LINES)]
            last = not any(t.position > token.position and t.word not in (".", "!", ")", "") for t in self.tokens)
            if not averages and (last or any(t.word in POSSESSIVES for t in self.tokens)):
                averages = [one for one in context.figure[:1] if one.startswith(LINES)]
            if averages:
                self._reading.add(Claim(token.kind, None, (*averages, *context.averages)), context.subjects or (None,))
            elif any("volume" in f.value for f in figures):
                self._reading.add(Claim(token.kind, None, ("volume_zscore",)), context.subjects)
            elif not self._numbers:
                self._reading.problems.append(f"{token.text} nothing that is known")

    def _read_days(self) -> None:
        """Claims of dates: when results are due, when the best day was, which report is meant."""
        context = self._context
        dated = next((f.value for f in reversed(self._figures) if f.value[0].startswith(_DATED_PREFIXES)), None)
        if dated is None and context.figure and context.figure[0].startswith("next_") and not self._figures:
            dated = context.figure
        whom = context.subjects or (None,)
        for token in self.tokens:
            if token.kind == "day":
                self._reading.add(Claim("dated", None, dated or (), day=token.value), whom)
            elif token.kind == "report":
                self._reading.add(Claim("report", None, year=token.value), whom)
            elif token.kind in ("expected", "confirmed") and dated and dated[0].startswith("next_"):
                self._reading.add(Claim(token.kind, None, dated), whom)
