"""Ids of kept responses. An id names the message that the response answers: `resp_<conversation>.<sequence>`, and for a
decision `.<action>`. The ids of its items have the same key after `msg_`, `mcp_` or `mcpr_`, so that each names its
response."""

import re
from dataclasses import dataclass

from gateway.errors import found

_KEY = r"_([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,15})(?:\.([A-Za-z0-9_-]{1,64}))?"
_NAME = re.compile("resp" + _KEY)
_ITEM = re.compile("(?:msg|mcpr?)" + _KEY + "(?:_[A-Za-z0-9_-]{1,64})?")


@dataclass(frozen=True, slots=True)
class ResponseId:
    """The id of the response to the message at `question_seq`. `action`: of the response to a decision on this action,
    made after that message."""

    conversation: str
    question_seq: int
    action: str | None = None

    def __str__(self) -> str:
        return f"resp_{self.key}"

    @property
    def key(self) -> str:
        """The part of the id that the ids of its items have too."""
        return f"{self.conversation}.{self.local_key}"

    @property
    def local_key(self) -> str:
        """The response's key within its conversation."""
        return str(self.question_seq) if self.action is None else f"{self.question_seq}.{self.action}"


def parse_response_id(text: str) -> ResponseId:
    """The id in a text; raises NOT_FOUND if it is not the id of a kept response."""
    match = found(_NAME.fullmatch(text), "response")
    return ResponseId(match[1], int(match[2]), match[3])


def response_id_of_item(item: str | None) -> ResponseId | None:
    """The id of the kept response to which an item of ours belongs, by the item's id; None if it is no such id."""
    match = _ITEM.fullmatch(item or "")
    return None if match is None else ResponseId(match[1], int(match[2]), match[3])


def action_of_approval(approval: str) -> str:
    """The action that an approval request's id names."""
    return approval.removeprefix("mcpr_").rpartition(".")[2]
