"""A text that goes on from an earlier request: what it says, and what of the request it may change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.domain.offline import slots, talk_words
from agent.domain.offline.changed_arguments import ORDER
from agent.domain.offline.changes import Change, change_in, share_in
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, only_figures, tool_value
from agent.domain.offline.wishes import Way, Wish
from agent.domain.text_features import numbers_in

LATER_TIME = ("when",)
"""What an order for a later time lacks; orders cannot be scheduled."""
MAX_FOLLOW_UP_WORDS = 7
"""Maximum words of a follow-up."""
REPLACING_WAYS: dict[str, Way] = {ORDER: "replace", "create_alert": "replace_listed"}
"""By tool whose result is replaced when it changes: the way that does it."""


@dataclass(frozen=True)
class FollowUp:
    """A text after an earlier request. `symbols` are those that the text names, `phrase` the tool request that it was
    read as by itself."""

    text: str
    normalized: str
    earlier: Wish
    schemas: Mapping[str, Schema]
    symbols: Sequence[str]
    phrase: ToolPhrase | None

    @property
    def tool(self) -> str:
        return self.earlier.calls[0][0]

    @property
    def arguments(self) -> dict[str, Any]:
        return self.earlier.calls[0][1]

    @property
    def schema(self) -> Schema:
        return self.schemas[self.tool]

    @property
    def is_bare(self) -> bool:
        """Whether the text names nothing else: no share, and no tool."""
        return self.phrase is None and not self.symbols

    @property
    def is_short(self) -> bool:
        return len(self.normalized.split()) <= MAX_FOLLOW_UP_WORDS

    @property
    def is_same_tool(self) -> bool:
        return self.phrase is None or self.phrase.tool == self.tool

    @cached_property
    def new_arguments(self) -> dict[str, Any]:
        """The arguments that the text gives; a figure alone is the answer to the question for the only missing one."""
        is_asked_for = len(self.earlier.missing) == 1 and self.earlier.missing != LATER_TIME
        if is_asked_for and (figure := slots.FIGURE_ALONE.fullmatch(self.normalized)):
            (name,) = self.earlier.missing
            return {name: tool_value(name, figure["figure"])}
        return arguments_for(self.tool, self.schema, ParsedText.of(self.text))

    @cached_property
    def share(self) -> float | None:
        """The share of a holding, or of the cash, that the text names for an order. After a share of the cash, a figure
        alone is one, too."""
        share = share_in(self.normalized) if self.tool == ORDER else None
        if share is None and self.earlier.way == "share_of_cash" and self.amount is not None and 0 < self.amount < 100:
            return self.amount / 100  # "no, 5": per cent, like the figure before
        return share

    @cached_property
    def amount(self) -> float | None:
        """The only number of the text; None if it has none or several."""
        amounts = [value for _, value in numbers_in(self.normalized)]
        return amounts[0] if len(amounts) == 1 else None

    @cached_property
    def change(self) -> Change | None:
        """The change of a figure that the text asks for. "A third", after a share of a position to sell, is another
        share and not a part of it."""
        is_another_share = self.share is not None and self.arguments.keys() & {"share", "kept"}
        return None if is_another_share else change_in(self.normalized)

    @property
    def is_correction(self) -> bool:
        """Whether the text says that it corrects the request, or has only figures."""
        return bool(
            talk_words.AMENDS.search(self.normalized)
            or (self.phrase is None and talk_words.YES_BUT.search(self.normalized))
            or (talk_words.CORRECTS.search(self.normalized) and self.is_short)
            or (self.is_bare and only_figures(self.normalized, self.schema))
        )
