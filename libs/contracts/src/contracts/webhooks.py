"""Which facts can be sent to a company's own systems by webhook, and their names in settings.

A name is an event's type, with or without its version, and for facts of a conversation with or without `chat.`:
`chat.message.visitor.v1`, `message.visitor`. `message.*` means all that begin so, `*` or no name at all means all,
`MessageSent` means every kind of message.
"""

from collections.abc import Sequence

WEBHOOK_EVENTS: tuple[str, ...] = (
    "chat.message.visitor.v1",
    "chat.message.assistant.v1",
    "chat.message.operator.v1",
    "chat.message.system.v1",
    "chat.owner.changed.v1",
    "chat.run.cancelled.v1",
    "tools.call.completed.v1",
    "company.config.changed.v1",
    "memory.updated.v1",
    "usage.recorded.v1",
    "feedback.given.v1",
    "conversation.updated.v1",
    "conversation.rated.v1",
    "action.decided.v1",
    "alert.triggered.v1",
    "order.filled.v1",
    "order.closed.v1",
    "turn.failed.v1",
    "analysis.requested.v1",
    "analysis.completed.v1",
)
"""Event types of the streams CHAT and FACTS that webhooks can send; the others are internal."""
ALL = "*"
MESSAGE_SENT = "MessageSent"
_CHAT = "chat."


def is_subscribed(names: Sequence[str], event_type: str) -> bool:
    """Whether an endpoint that subscribes to these names gets an event of this type."""
    return event_type in WEBHOOK_EVENTS and (not names or any(_fits(name, event_type) for name in names))


def checked_name(name: str) -> str:
    """Returns the name; raises ValueError with the possible names if it matches no event."""
    if any(_fits(name, known) for known in WEBHOOK_EVENTS):
        return name
    names = ", ".join(known.removeprefix(_CHAT).rpartition(".")[0] for known in WEBHOOK_EVENTS)
    raise ValueError(
        f"{name[:80]!r} is no event: use *, {MESSAGE_SENT}, a beginning such as message.*, or one of {names}"
    )


def _fits(name: str, event_type: str) -> bool:
    if name == ALL:
        return True
    if name == MESSAGE_SENT:
        name = "message.*"
    short = event_type.removeprefix(_CHAT)
    if name.endswith(".*"):
        start = name[:-1]
        return event_type.startswith(start) or short.startswith(start)
    return name in {event_type, short, event_type.rpartition(".")[0], short.rpartition(".")[0]}
