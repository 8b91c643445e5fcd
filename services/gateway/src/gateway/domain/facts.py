"""Facts of a conversation's log, and what clients see of them."""

from dataclasses import dataclass, field
from typing import Any

from contracts.channels import ChatKind

Json = dict[str, Any]

_ROLES = {ChatKind.ASSISTANT: "assistant", ChatKind.OPERATOR: "operator", ChatKind.SYSTEM: "system"}
_OPTIONAL = ("turnId", "clientMessageId", "code", "operatorId", "name")


@dataclass(frozen=True, slots=True)
class Fact:
    """One durable fact: its sequence in the log, its kind and its CloudEvent as parsed JSON."""

    seq: int
    kind: ChatKind
    event: Json

    @property
    def data(self) -> Json:
        """The event's data; empty when another publisher left it out."""
        data = self.event.get("data")
        return data if isinstance(data, dict) else {}  # pyright: ignore[reportUnknownVariableType]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The last fact of each kind at one moment. `seq`: the highest sequence of the conversation, 0 with no fact."""

    seq: int = 0
    last: dict[ChatKind, Fact] = field(default_factory=dict[ChatKind, Fact])

    @property
    def owner(self) -> Json:
        """{kind, operatorId?, name?}: who answers."""
        fact = self.last.get(ChatKind.OWNER)
        owner = fact.data.get("owner") if fact else None
        return owner if isinstance(owner, dict) else {"kind": "ai"}  # pyright: ignore[reportUnknownVariableType]

    @property
    def owner_seq(self) -> int:
        """The sequence of the fact that named the owner, 0 with none."""
        fact = self.last.get(ChatKind.OWNER)
        return fact.seq if fact else 0

    @property
    def newest_visitor(self) -> int:
        """The sequence of the newest visitor message, 0 with none."""
        fact = self.last.get(ChatKind.VISITOR)
        return fact.seq if fact else 0

    @property
    def basis(self) -> int:
        """The sequence up to which visitor messages are settled.

        The greatest of the answers', systems' and cancels' own basis and of the newest operator message's sequence.
        """
        settled = 0
        for kind in (ChatKind.ASSISTANT, ChatKind.SYSTEM, ChatKind.CANCEL):
            fact = self.last.get(kind)
            if fact is not None:
                basis = fact.data.get("basis", 0)
                settled = max(settled, basis if isinstance(basis, int) else 0)
        operator = self.last.get(ChatKind.OPERATOR)
        return max(settled, operator.seq if operator else 0)

    @property
    def unanswered(self) -> bool:
        """Whether a visitor message waits for its answer: a turn may be running."""
        return self.newest_visitor > self.basis


def message_view(fact: Fact) -> Json | None:
    """The message as clients see it; None when the fact is no message, or not a well-formed one.

    What the log keeps beside it (the principal above all) stays inside.
    """
    data = fact.data
    if fact.kind is ChatKind.VISITOR:
        role = "user" if data.get("role") == "user" else "visitor"
    elif fact.kind in _ROLES:
        role = _ROLES[fact.kind]
    else:
        return None
    text, identity = data.get("text"), data.get("messageId")
    if not isinstance(text, str) or not isinstance(identity, str):
        return None
    view: Json = {
        "id": identity,
        "seq": fact.seq,
        "role": role,
        "text": text,
        "citations": data.get("citations") or [],
        "actions": data.get("actions") or [],
        "charts": data.get("charts") or [],
        "createdAt": fact.event.get("time"),
    }
    for name in _OPTIONAL:
        if data.get(name) is not None:
            view[name] = data[name]
    return view
