"""Reads what a clause names and compares: more than, less than, the most, ahead of."""

from collections.abc import Mapping, Sequence

from agent.domain.claims.claim import Claim, Context, Relation, SentenceClaims
from agent.domain.claims.lexer import Token

MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}
BILLION = 1e9
"""From so many on an amount is no price: it is what a company is worth, or sells."""
PRICES = frozenset(("price", "close", "return"))
_BEARING = """
number rise fall flat even more less highest lowest better worse moved figure above below between up down unknown day
report confirmed expected
"""
BEARING = frozenset(_BEARING.split())


_POSITIONS = ("ahead", "behind", "por delante", "por detras")
"""Who is ahead is so by the figure that was spoken of."""
_PAYS = frozenset(("pay", "pays", "paid", "paga", "pagan", "reparte", "reparten"))
"""Said of dividends alone."""


def periods_of(segment: Sequence[Token]) -> list[str]:
    return [token.value for token in segment if token.kind == "period"]


class ComparingClause:
    """One clause: its tokens, whom and what they name, and what they compare."""

    def __init__(self, tokens: Sequence[Token], known: Sequence[str]) -> None:
        self.tokens = tokens
        self.known = known
        self.bears = any(token.kind in BEARING for token in tokens)
        kinds = {token.kind for token in tokens}
        self.denies = bool(kinds & {"not", "neither"}) != ("untrue" in kinds)
        self.everyone = "all" in kinds or ("neither" in kinds and "ticker" not in kinds)
        self.pays = any(token.word in _PAYS for token in tokens)
        self.passing = bool(tokens) and tokens[0].kind == "than"
        self.tickers = [token.value for token in tokens if token.kind == "ticker"]
        self.objects = self._objects()
        self.subjects = [one for one in self.tickers if one not in self.objects]
        self.periods = periods_of(tokens)
        self.figure: tuple[str, ...] = ()
        self.compared = self._compared_by()
        self.move: str | None = None
        self.follow: tuple[str, ...] = ()

    def _objects(self) -> list[str]:
        """The tickers that others are compared with: those after the comparison."""
        start = next((t.at for t in self.tokens if t.kind in ("than", "better", "worse")), None)
        if start is None:
            place = next((t.at for t in self.tokens if t.kind in ("above", "below")), None)
            if place is None or not any(t.kind == "ticker" and t.at < place for t in self.tokens):
                return []
            # Above MSFT's is a comparison; above its average is none.
            after = [t for t in self.tokens if t.at > place and t.kind in ("ticker", "figure", "number")]
            return [after[0].value] if after and after[0].kind == "ticker" else []
        rest = any(t.kind == "rest" and t.at > start for t in self.tokens)
        named = [one for one in self.known if one not in self.tickers] if rest else []
        return [*(t.value for t in self.tokens if t.kind == "ticker" and t.at > start), *named]

    def _compared_by(self) -> tuple[str, ...]:
        """The figure that an adjective names: the most volatile (32.8%)."""
        named = next(
            (t.value for t in self.tokens if t.kind in ("more", "less", "highest", "lowest") and t.value), None
        )
        return () if named in (None, "return") else (named,)

    def _comparisons(
        self, reading: SentenceClaims, context: Context, figures: Sequence[Token], moves: Sequence[Token]
    ) -> None:
        periods = tuple(self.periods) or context.periods or context.later or context.fallback[:1]
        figure = figures[0].value if figures else context.figure
        if not figures and any(t.value.scale >= BILLION for t in self.tokens if t.kind == "number"):
            figure = ("market_cap",)
        place = next((t for t in self.tokens if t.kind in ("above", "below")), None)
        for token in self.tokens:
            if token.kind in ("better", "worse"):
                relation = "more" if token.kind == "better" else "less"
                own = figures or token.text in ("more than", "less than")
                own = own or (token.text.startswith(_POSITIONS) and not moves)
                compared = figure if own and figure and not PRICES.intersection(figure) else ("return",)
                if moves and compared == ("return",) and token.text in ("more than", "less than"):
                    self._compared(reading, context, relation, ("return",), periods, MOVES[moves[0].kind])
                else:
                    self._compared(reading, context, relation, compared, periods)
            elif token.kind in ("more", "less"):
                self._compared(reading, context, token.kind, (token.value,), periods)
            elif token.kind == "moved":
                move, much = token.value
                self._compared(reading, context, much, ("return",), periods, MOVES[move])
            elif token.kind in ("up", "down") and (self.objects or any(t.kind == "than" for t in self.tokens)):
                self._compared(reading, context, "more" if token.kind == "up" else "less", figure, periods)
            elif token.kind in ("up", "down") and not any(t.kind == "number" for t in self.tokens):
                self._against_the_rest(reading, context, "more" if token.kind == "up" else "less", figure, periods)
            elif token.kind in ("highest", "lowest"):
                ranked = (token.value,) if token.value else figure
                moved = next((t.kind for t in moves if t.at > token.at), None)
                relation = token.kind
                if not ranked and (moved or token.text.startswith(("lead", "led", "lider"))):
                    ranked = ("return",)
                    relation = "lowest" if (moved == "fall") != (token.kind == "lowest") else "highest"
                who = context.subjects if context.named else tuple(self.tickers) or context.subjects
                pair = context.whole if ranked == ("correlation",) and len(context.whole) == 2 else ()
                for subject in who[:1] if len(who) > 1 and self.tickers else who:
                    other = next((one for one in pair if one != subject), None)
                    reading.claims.append(Claim(relation, subject, ranked, periods=periods, other=other))
                if not ranked:
                    reading.problems.append("a superlative of nothing")
        if (
            place is not None
            and self.objects
            and not any(t.kind in ("up", "down", "more", "less") for t in self.tokens)
        ):
            self._compared(reading, context, "more" if place.kind == "above" else "less", figure, periods)

    def _compared(
        self,
        reading: SentenceClaims,
        context: Context,
        relation: Relation,
        figures: tuple[str, ...],
        periods: tuple[str, ...],
        move: str | None = None,
    ) -> None:
        others = self.objects or [one for one in context.whole if one not in context.subjects][:1]
        # IBM did better, of two: than the other one.
        others = others or [one for one in self.known if one not in context.subjects and len(self.known) == 2]
        subjects = [one for one in context.subjects if one not in others]
        if not others or not subjects or not figures:
            reading.problems.append("a comparison with nobody")
            return
        for subject in subjects:
            for other in others:
                reading.claims.append(Claim(relation, subject, figures, None, move, periods, other))
        self.follow = tuple(subjects)

    def _against_the_rest(
        self,
        reading: SentenceClaims,
        context: Context,
        relation: Relation,
        figures: tuple[str, ...],
        periods: tuple[str, ...],
    ) -> None:
        """Volatility was higher for IBM: than for all others."""
        for subject in context.subjects:
            for other in self.known:
                if other != subject:
                    reading.claims.append(Claim(relation, subject, figures, None, None, periods, other))
