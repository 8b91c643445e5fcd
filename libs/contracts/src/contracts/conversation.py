"""The facts of a conversation, read by everybody in one way: what does not fit its contract is a fact to nobody.

Memory's projection, which reads every fact of every conversation, makes a dead letter of it. All others pass over it:
it is not answered, settles nothing, vetoes nothing and is shown to nobody.
"""

from typing import Any

from pydantic import ValidationError

from contracts.channels import ChatAddress, ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)

ChatData = VisitorMessage | AssistantMessage | OperatorMessage | SystemMessage | OwnerChanged | RunCancelled
_EVENTS: dict[ChatKind, type[CloudEvent[Any]]] = {
    ChatKind.VISITOR: CloudEvent[VisitorMessage],
    ChatKind.ASSISTANT: CloudEvent[AssistantMessage],
    ChatKind.OPERATOR: CloudEvent[OperatorMessage],
    ChatKind.SYSTEM: CloudEvent[SystemMessage],
    ChatKind.OWNER: CloudEvent[OwnerChanged],
    ChatKind.CANCEL: CloudEvent[RunCancelled],
}


class MisfitError(ValueError):
    """An event in a conversation's log that does not fit its contract; the text says where, and repeats no value."""


def read_fact(address: ChatAddress, raw: bytes) -> CloudEvent[ChatData]:
    """The event that was published at an address.

    Raises:
        MisfitError: it breaks the contract of its kind, or is of another kind or conversation than its subject says.
    """
    try:
        event = _EVENTS[address.kind].model_validate_json(raw)
    except ValidationError as error:
        where = [".".join(map(str, each["loc"])) for each in error.errors(include_input=False, include_url=False)]
        raise MisfitError(f"a {address.kind.event_type} has bad fields: {', '.join(where)[:500]}") from None
    if "id" not in event.model_fields_set:
        raise MisfitError(f"a {address.kind.event_type} has no id")
    if event.type != address.kind.event_type:
        raise MisfitError(f"a {event.type[:80]} was published as {address.kind.event_type}")
    if event.subject not in (None, f"{address.company}/{address.conversation}"):
        raise MisfitError("its subject names another conversation than the one that it was published in")
    return event
