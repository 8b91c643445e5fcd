"""The tokens of one clause: which tickers, figures and periods they name, and what kind of clause it is."""

from collections.abc import Mapping, Sequence

from agent.domain.claims.claim import Relation
from agent.domain.claims.lexer import Token, periods_of
from agent.domain.claims.words import DIVIDEND_VERBS
from agent.domain.text_features import word_set

BEARING_KINDS = word_set(
    "number rise fall flat even more less highest lowest better worse moved figure above below between up down unknown "
    "day report confirmed expected"
)
"""Kinds of tokens that make a clause state something."""
MOVES: Mapping[str, Relation] = {"rise": "rose", "fall": "fell"}
EXTREME_PREFIXES = ("best_", "worst_", "next_")
NO_END = 1 << 30


class ClauseTokens:
    """What the tokens of a clause name. `objects`: the tickers that its subjects are compared with."""

    def __init__(self, tokens: Sequence[Token], known_tickers: Sequence[str]) -> None:
        self.tokens = tokens
        self.known_tickers = known_tickers
        self.makes_claims = any(token.kind in BEARING_KINDS for token in tokens)
        kinds = {token.kind for token in tokens}
        self.is_denial = bool(kinds & {"not", "neither"}) != ("untrue" in kinds)
        self.names_everyone = "all" in kinds or ("neither" in kinds and "ticker" not in kinds)
        self.names_both = any(
            token.kind == "all" and token.text in ("both", "ambos", "ambas", "los dos", "las dos") for token in tokens
        )
        exception_start = next((token.position for token in tokens if token.kind == "except"), NO_END)
        self.excepted_tickers = [
            token.value for token in tokens if token.kind == "ticker" and token.position > exception_start
        ]
        pairs = zip(tokens, ("", *(token.word for token in tokens)), strict=False)
        self.tells_dividend = any(
            token.word in DIVIDEND_VERBS and previous_word != "se" for token, previous_word in pairs
        )
        self.is_only_comparison = bool(tokens) and tokens[0].kind == "than"
        self.tickers = [token.value for token in tokens if token.kind == "ticker"]
        self.objects = self._objects()
        self.subjects = [ticker for ticker in self.tickers if ticker not in self.objects]
        self.periods = periods_of(tokens)
        self._figures, self._numbers = self._of_kind("figure"), self._of_kind("number")
        self._moves = [token for token in tokens if token.kind in MOVES]
        self._compared_by = self._figure_compared_by()
        self.figure: tuple[str, ...] = self._figures[-1].value if self._figures else self._compared_by
        self.move = MOVES[self._moves[-1].kind] if self._moves else None
        self.next_subjects: tuple[str, ...] = ()

    @property
    def is_about_time(self) -> bool:
        """Whether it says when a best or worst stretch was, but not how much: "its worst month was October"."""
        return bool(self.figure and self.figure[0].startswith(EXTREME_PREFIXES) and self.periods and not self._numbers)

    def _of_kind(self, *kinds: str) -> list[Token]:
        return [token for token in self.tokens if token.kind in kinds]

    def _objects(self) -> list[str]:
        """The tickers that others are compared with: those after the word of comparison."""
        comparison_start = next((t.position for t in self.tokens if t.kind in ("than", "better", "worse")), None)
        if comparison_start is None:
            side_start = next((t.position for t in self.tokens if t.kind in ("above", "below")), None)
            if side_start is None or not any(t.kind == "ticker" and t.position < side_start for t in self.tokens):
                return []
            # Above MSFT's is a comparison, above its average none.
            following = [t for t in self._of_kind("ticker", "figure", "number") if t.position > side_start]
            return [following[0].value] if following and following[0].kind == "ticker" else []
        includes_rest = any(t.kind == "rest" and t.position > comparison_start for t in self.tokens)
        rest_tickers = [ticker for ticker in self.known_tickers if ticker not in self.tickers] if includes_rest else []
        return [*(t.value for t in self._of_kind("ticker") if t.position > comparison_start), *rest_tickers]

    def _figure_compared_by(self) -> tuple[str, ...]:
        """The figure that an adjective stands for: "the most volatile (32.8%)"."""
        figure = next((t.value for t in self._of_kind("more", "less", "highest", "lowest") if t.value), None)
        return () if figure in (None, "return") else (figure,)
