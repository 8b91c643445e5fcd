"""A response's id says which message it answers: `resp_<conversation>.<sequence>`, and `.<action>` for a decision. The
ids of its items say the same with `msg_`, `mcp_` and `mcpr_` in front, so that each names its response."""

import re
from dataclasses import dataclass

from gateway.errors import not_found

_PLACE = r"_([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,15})(?:\.([A-Za-z0-9_-]{1,64}))?"
_NAME = re.compile("resp" + _PLACE)
_ITEM = re.compile("(?:msg|mcpr?)" + _PLACE + "(?:_[A-Za-z0-9_-]{1,64})?")


@dataclass(frozen=True, slots=True)
class ResponseName:
    """The response to the message at `asked`; `action`: to the decision on this action, made after that message."""

    conversation: str
    asked: int
    action: str | None = None

    def __str__(self) -> str:
        return f"resp_{self.place}"

    @property
    def place(self) -> str:
        """Returns the part of its id that the ids of its items have too."""
        return f"{self.conversation}.{self.within}"

    @property
    def within(self) -> str:
        """Returns the response's name within its conversation."""
        return str(self.asked) if self.action is None else f"{self.asked}.{self.action}"


def read_name(text: str) -> ResponseName:
    """Parses a response's id; raises NOT_FOUND if it is not the id of a kept response."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise not_found("response")
    return ResponseName(match[1], int(match[2]), match[3])


def response_of_item(item: str | None) -> ResponseName | None:
    """The kept response that an item of ours belongs to, by the item's id; None: it is no such id."""
    match = _ITEM.fullmatch(item or "")
    return None if match is None else ResponseName(match[1], int(match[2]), match[3])


def action_of(approval: str) -> str:
    """The action that an approval request's id names."""
    return approval.removeprefix("mcpr_").rpartition(".")[2]
