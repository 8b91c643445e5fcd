"""Chatwoot's webhooks to its agent bots, as far as this door reads them. Other events, and incomplete ones, are
ignored.

Followed: app/listeners/agent_bot_listener.rb, app/models/message.rb (webhook_data) and
app/presenters/conversations/event_data_presenter.rb of Chatwoot 4.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from contracts.events.chat import MAX_TEXT
from contracts.json_values import list_of, object_of

Json = dict[str, object]
OWN_ID_ATTRIBUTE = "nexus_message_id"
OPEN, PENDING = "open", "pending"
_INCOMING, _OUTGOING = (0, "incoming"), (1, "outgoing")
_MAX_NUMBER = 10**18
"""Limit of a conversation's number, since the number is part of an id."""


@dataclass(frozen=True, slots=True)
class ChatwootPerson:
    """A contact, or somebody in the company."""

    id: str
    name: str | None


@dataclass(frozen=True, slots=True)
class ChatwootConversation:
    """A Chatwoot conversation at the time of an event. `changed_at`: seconds since the epoch, grows with changes."""

    number: int
    status: str
    changed_at: float
    contact: ChatwootPerson
    assignee: ChatwootPerson | None = None
    inbox: int | None = None
    locale: str | None = None


@dataclass(frozen=True, slots=True)
class ChatwootMessage:
    """A message. `author`: None if the contact wrote it; `is_echo`: we sent it ourselves."""

    id: str
    text: str
    conversation: ChatwootConversation
    author: ChatwootPerson | None = None
    is_echo: bool = False
    own_message_id: str | None = None
    """Our id of a message that we sent."""


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The conversation's status has changed. `previous_status`: None if Chatwoot does not say."""

    conversation: ChatwootConversation
    previous_status: str | None = None


def parse_event(event: Json) -> ChatwootMessage | StatusChanged | None:
    """The event in a webhook; None if it does not concern us."""
    match event.get("event"):
        case "message_created":
            return _parse_message(event)
        case "conversation_status_changed" | "conversation_opened":
            conversation = _parse_conversation(event, event)
            return None if conversation is None else StatusChanged(conversation, _status_before(event))
        case _:
            return None


def _status_before(event: Json) -> str | None:
    changes = (object_of(object_of(attribute).get("status")) for attribute in list_of(event.get("changed_attributes")))
    return next((str(change["previous_value"]) for change in changes if "previous_value" in change), None)


def _parse_message(event: Json) -> ChatwootMessage | None:
    conversation = _parse_conversation(object_of(event.get("conversation")), event)
    identity, kind, sender = event.get("id"), event.get("message_type"), object_of(event.get("sender"))
    # Private notes are for the company's people only.
    if conversation is None or identity is None or event.get("private"):
        return None
    text = _text(event)
    if kind in _INCOMING:
        return ChatwootMessage(str(identity), text, conversation) if text else None
    if kind not in _OUTGOING or not text:
        return None
    if sender.get("type") == "agent_bot":
        own_message_id = object_of(event.get("content_attributes")).get(OWN_ID_ATTRIBUTE)
        return ChatwootMessage(
            str(identity),
            text,
            conversation,
            is_echo=True,
            own_message_id=str(own_message_id) if own_message_id else None,
        )
    person = _parse_person(sender)
    return None if person is None or sender.get("type") not in ("user", None) else ChatwootMessage(
        str(identity), text, conversation, author=person
    )  # fmt: skip


def _parse_conversation(conversation: Json, event: Json) -> ChatwootConversation | None:
    number, meta = conversation.get("id"), object_of(conversation.get("meta"))
    contact = _parse_person(object_of(meta.get("sender")))
    if contact is None:
        # Older releases name the contact only beside the message.
        contact = _parse_person(object_of(event.get("contact")) or object_of(event.get("sender")))
    if not isinstance(number, int) or not 0 < number < _MAX_NUMBER or contact is None:
        return None
    # A conversation assigned to a bot by hand is the bot's, although some releases leave its status open.
    is_with_bot, status = meta.get("assignee_type") == "AgentBot", str(conversation.get("status", ""))
    inbox = conversation.get("inbox_id") or object_of(event.get("inbox")).get("id")
    locale = object_of(conversation.get("additional_attributes")).get("browser_language")
    return ChatwootConversation(
        number=number,
        status=PENDING if is_with_bot and status == OPEN else status,
        changed_at=_seconds(conversation.get("updated_at") or conversation.get("timestamp") or event.get("created_at")),
        contact=contact,
        assignee=None if is_with_bot else _parse_person(object_of(meta.get("assignee"))),
        inbox=inbox if isinstance(inbox, int) else None,
        locale=locale[:35] if isinstance(locale, str) and locale else None,
    )


def _text(event: Json) -> str:
    """The message's text, followed by the names of attachments."""
    content = event.get("content")
    attachments = event.get("attachments")
    lines = [content.strip()] if isinstance(content, str) and content.strip() else []
    for attachment in list_of(attachments):
        lines.append(_attachment_line(object_of(attachment)))
    text = "\n".join(lines)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _attachment_line(attachment: Json) -> str:
    kind = str(attachment.get("file_type") or "file")
    address = attachment.get("data_url") or attachment.get("external_url") or ""
    # Not parsed as an address: an invalid one has a name too.
    name = unquote(str(address).partition("?")[0].rpartition("/")[2]) or str(attachment.get("fallback_title") or "")
    return f"[{kind}: {name[:200]}]" if name else f"[{kind}]"


def _parse_person(person: Json) -> ChatwootPerson | None:
    identity, name = person.get("id"), person.get("name") or person.get("available_name")
    return (
        None
        if identity is None
        else ChatwootPerson(str(identity), name[:200] if isinstance(name, str) and name else None)
    )


def _seconds(value: object) -> float:
    """A time in seconds since the epoch, from a number of seconds or an ISO text; 0 if there is none."""
    text = str(value)
    with suppress(ValueError):  # then it is an ISO text, or no time
        return float(text)
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).timestamp()
    return 0.0
