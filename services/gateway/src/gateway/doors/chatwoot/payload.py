"""Chatwoot's webhooks to its agent bots, as far as this door reads them. They are read leniently: other events, and
incomplete ones, are ignored.

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
BESIDE = "nexus_message_id"
OPEN, PENDING = "open", "pending"
_INCOMING, _OUTGOING = (0, "incoming"), (1, "outgoing")
_MOST = 10**18
"""The highest conversation number of an account, since the number is part of an id."""


@dataclass(frozen=True, slots=True)
class ChatwootPerson:
    """A contact, or somebody of the company."""

    id: str
    name: str | None


@dataclass(frozen=True, slots=True)
class ChatwootConversation:
    """A Chatwoot conversation at the time of the event. `changed` (seconds) grows with each change of it."""

    number: int
    status: str
    changed: float
    contact: ChatwootPerson
    assignee: ChatwootPerson | None = None
    inbox: int | None = None
    locale: str | None = None


@dataclass(frozen=True, slots=True)
class ChatwootMessage:
    """A message. `by` None: from the contact; `echo`: it was ours."""

    id: str
    text: str
    at: ChatwootConversation
    by: ChatwootPerson | None = None
    echo: bool = False
    ours: str | None = None
    """The id that we gave it."""


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """Somebody else has the conversation. `before`: the status that it had; None: not told."""

    at: ChatwootConversation
    before: str | None = None


def read(event: Json) -> ChatwootMessage | StatusChanged | None:
    """The event; None: nothing for us."""
    match event.get("event"):
        case "message_created":
            return _message(event)
        case "conversation_status_changed" | "conversation_opened":
            found = _conversation_of(event, event)
            return None if found is None else StatusChanged(found, _status_before(event))
        case _:
            return None


def _status_before(event: Json) -> str | None:
    changes = (object_of(object_of(one).get("status")) for one in list_of(event.get("changed_attributes")))
    return next((str(change["previous_value"]) for change in changes if "previous_value" in change), None)


def _message(event: Json) -> ChatwootMessage | None:
    found = _conversation_of(object_of(event.get("conversation")), event)
    identity, kind, sender = event.get("id"), event.get("message_type"), object_of(event.get("sender"))
    # Notes are between the people of the company, whoever wrote them.
    if found is None or identity is None or event.get("private"):
        return None
    text = _text(event)
    if kind in _INCOMING:
        return ChatwootMessage(str(identity), text, found) if text else None
    if kind not in _OUTGOING or not text:
        return None
    if sender.get("type") == "agent_bot":
        ours = object_of(event.get("content_attributes")).get(BESIDE)
        return ChatwootMessage(str(identity), text, found, echo=True, ours=str(ours) if ours else None)
    person = _person(sender)
    return None if person is None or sender.get("type") not in ("user", None) else ChatwootMessage(
        str(identity), text, found, by=person
    )  # fmt: skip


def _conversation_of(conversation: Json, event: Json) -> ChatwootConversation | None:
    number, meta = conversation.get("id"), object_of(conversation.get("meta"))
    contact = _person(object_of(meta.get("sender")))
    if contact is None:
        # Older releases name the contact beside the message alone.
        contact = _person(object_of(event.get("contact")) or object_of(event.get("sender")))
    if not isinstance(number, int) or not 0 < number < _MOST or contact is None:
        return None
    # Given to a bot by hand it is the bot's, which some releases leave open.
    bots, status = meta.get("assignee_type") == "AgentBot", str(conversation.get("status", ""))
    inbox = conversation.get("inbox_id") or object_of(event.get("inbox")).get("id")
    locale = object_of(conversation.get("additional_attributes")).get("browser_language")
    return ChatwootConversation(
        number=number,
        status=PENDING if bots and status == OPEN else status,
        changed=_seconds(conversation.get("updated_at") or conversation.get("timestamp") or event.get("created_at")),
        contact=contact,
        assignee=None if bots else _person(object_of(meta.get("assignee"))),
        inbox=inbox if isinstance(inbox, int) else None,
        locale=locale[:35] if isinstance(locale, str) and locale else None,
    )


def _text(event: Json) -> str:
    """The text, with the names of attachments."""
    content = event.get("content")
    attachments = event.get("attachments")
    lines = [content.strip()] if isinstance(content, str) and content.strip() else []
    for each in list_of(attachments):
        lines.append(_attachment(object_of(each)))
    text = "\n".join(lines)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _attachment(told: Json) -> str:
    kind = str(told.get("file_type") or "file")
    address = told.get("data_url") or told.get("external_url") or ""
    # Not taken apart as an address: one that is none has a name as well.
    name = unquote(str(address).partition("?")[0].rpartition("/")[2]) or str(told.get("fallback_title") or "")
    return f"[{kind}: {name[:200]}]" if name else f"[{kind}]"


def _person(told: Json) -> ChatwootPerson | None:
    identity, name = told.get("id"), told.get("name") or told.get("available_name")
    return (
        None
        if identity is None
        else ChatwootPerson(str(identity), name[:200] if isinstance(name, str) and name else None)
    )


def _seconds(value: object) -> float:
    """A time, given as a number of seconds or as text; 0: not given."""
    text = str(value)
    with suppress(ValueError):  # then it is the other one, or no time
        return float(text)
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).timestamp()
    return 0.0
