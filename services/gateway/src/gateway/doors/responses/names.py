"""A response's id says which message it answers: `resp_<conversation>.<sequence>`, and `.<action>` for a decision."""

import re
from dataclasses import dataclass

from contracts.ids import turn_id
from gateway.errors import not_found

_NAME = re.compile(r"resp_([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,15})(?:\.([A-Za-z0-9_-]{1,64}))?")


@dataclass(frozen=True, slots=True)
class ResponseName:
    """The response to the message at `asked`; `action`: to the decision on this action, made after that message."""

    conversation: str
    asked: int
    action: str | None = None

    def __str__(self) -> str:
        decided = f".{self.action}" if self.action else ""
        return f"resp_{self.conversation}.{self.asked}{decided}"

    @property
    def within(self) -> str:
        """Returns the response's name within its conversation."""
        return str(self).rpartition(f"{self.conversation}.")[2]

    def item(self, company: str) -> str:
        """The id of its message, the same at every gateway."""
        return f"msg_{turn_id(company, self.conversation, self.asked)}"


def read_name(text: str) -> ResponseName:
    """Parses a response's id; raises NOT_FOUND if it is not the id of a kept response."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise not_found("response")
    return ResponseName(match[1], int(match[2]), match[3])
