"""Builds the gateway's frames (contracts.ws), encoded once for all sockets of a conversation.

Published data is sent as it is: it was validated when it was read, and is not validated again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from contracts import ws
from contracts.channels import ChatKind, LiveTurnKind, PresenceKind
from contracts.conversation import Fact, message_view, owner_event
from contracts.errors import ErrorCode
from contracts.languages import named_language
from gateway.domain.error_language import in_language

Json = dict[str, Any]
_LIVE_FIELDS = {kind: ws.fields_of(ws.SERVER_FRAMES[kind]) for kind in LiveTurnKind}
_PRESENCE_FIELDS = {kind: ws.fields_of(ws.SERVER_FRAMES[kind]) for kind in PresenceKind}


def _frame(kind: str, conversation: str | None, fields: Json) -> bytes:
    return orjson.dumps({"v": 1, "type": kind, "conversationId": conversation, **fields})


def welcome(
    conversation: str | None,
    *,
    epoch: str,
    heartbeat_ms: int,
    seq: int = 0,
    recovered: bool = True,
    owner: Mapping[str, Any] | None = None,
    active_turn: Json | None = None,
    pending_actions: Sequence[Json] = (),
) -> bytes:
    """The frame that answers hello; `conversation` is None for a human agent who follows none yet."""
    fields: Json = {
        "epoch": epoch,
        "seq": seq,
        "recovered": recovered,
        "heartbeatMs": heartbeat_ms,
        "owner": owner,
        "pendingActions": list(pending_actions),
    }
    if active_turn is not None:
        fields["activeTurn"] = active_turn
    return _frame("welcome", conversation, fields)


def snapshot(
    conversation: str,
    *,
    messages: Sequence[Json],
    epoch: str,
    seq: int,
    complete: bool = True,
    events: Sequence[Json] = (),
) -> bytes:
    """The frame with the last messages and changes of owner, oldest first. `complete`: False if older ones are not
    available now."""
    fields = {"messages": messages, "epoch": epoch, "seq": seq}
    optional = ({} if complete else {"complete": False}) | ({"events": events} if events else {})
    return _frame("snapshot", conversation, fields | optional)


def ack(conversation: str, *, client_message_id: str, message_id: str, seq: int, duplicate: bool) -> bytes:
    fields = {"clientMessageId": client_message_id, "messageId": message_id, "seq": seq, "duplicate": duplicate}
    return _frame("message.ack", conversation, fields)


def pong(conversation: str | None) -> bytes:
    return _frame("pong", conversation, {})


def error(
    conversation: str | None,
    code: ErrorCode,
    message: str,
    *,
    retryable: bool = False,
    retry_after_ms: int | None = None,
    ref: str | None = None,
    locale: str | None = None,
    in_hello: bool = False,
) -> bytes:
    """The frame for a failed request; the socket stays open. `locale`: the language into which to translate.
    `in_hello`: hello failed, and may be repeated; this is the only frame without a conversation."""
    fields: Json = {"code": str(code), "message": in_language(message, named_language(locale)), "retryable": retryable}
    if retry_after_ms is not None:
        fields["retryAfterMs"] = retry_after_ms
    if ref is not None:
        fields["ref"] = ref
    return orjson.dumps({"v": 1, "type": "error", **fields}) if in_hello else _frame("error", conversation, fields)


def action_updated(conversation: str | None, action: Json) -> bytes:
    """The frame with the current state of an action that needs confirmation."""
    return _frame("action.updated", conversation, {"action": action})


def inbox_changed(conversations: Sequence[str]) -> bytes:
    """The frame that names changed conversations of the company; if it names none, clients read the list again."""
    return _frame("inbox.changed", None, {"conversationIds": list(conversations)})


def conversation_rated(conversation: str, score: int, comment: str | None) -> bytes:
    """The frame with the visitor's stored rating."""
    fields: Json = {"score": score} | ({"comment": comment} if comment is not None else {})
    return _frame("conversation.rated", conversation, fields)


def conversation_updated(conversation: str, *, resolved: bool, seq: int) -> bytes:
    """The frame that says whether the conversation is resolved. `seq`: the newest fact known to whoever decided."""
    return _frame("conversation.updated", conversation, {"resolved": resolved, "seq": seq})


def assistant_changed(*, ai: bool) -> bytes:
    """The frame that says whether the company's assistant is switched on."""
    return _frame("assistant.changed", None, {"ai": ai})


def alert_triggered(conversation: str | None, alert: Json) -> bytes:
    """The frame for a customer's alert that fired."""
    return _frame("alert.triggered", conversation, {"alert": alert})


def owner_changed(conversation: str, owner: Mapping[str, Any], seq: int) -> bytes:
    """The frame that says who answers from the fact `seq` on."""
    return _frame("owner.changed", conversation, {"owner": owner, "seq": seq})


def fact_frame(conversation: str, fact: Fact) -> bytes | None:
    """The frame for a durable fact; None if it is malformed."""
    if fact.kind is ChatKind.OWNER:
        owner = fact.data.get("owner")
        event = owner_event(fact) or {}
        optional = {
            name: event[name]
            for name in ("by", "name", "reason", "opensAt", "createdAt")
            if event.get(name) is not None
        }
        fields = {"owner": owner, "seq": fact.seq} | optional
        return _frame("owner.changed", conversation, fields) if isinstance(owner, dict) else None
    if fact.kind is ChatKind.CANCEL:
        data = fact.data
        optional = {"createdAt": created_at} if (created_at := fact.event.get("time")) is not None else {}
        fields = {"turnId": data.get("turnId"), "reason": data.get("reason", "user"), "seq": fact.seq} | optional
        return _frame("run.cancelled", conversation, fields)
    view = message_view(fact)
    return None if view is None else _frame("message.created", conversation, {"message": view})


def live_sign_frame(conversation: str, kind: LiveTurnKind, data: Json) -> bytes | None:
    """The frame for a live sign of a turn; None for a person's cancellation, which the log reports as a fact."""
    if kind is LiveTurnKind.RUN_CANCELLED and data.get("reason") == "user":
        return None
    return _selected_fields_frame(kind.value, conversation, data, _LIVE_FIELDS[kind])


def presence_frame(conversation: str, kind: PresenceKind, data: Json) -> bytes:
    """The frame for typing or a receipt, for the other sockets of the conversation."""
    return _selected_fields_frame(kind.value, conversation, data, _PRESENCE_FIELDS[kind])


def _selected_fields_frame(kind: str, conversation: str, data: dict[str, Any], names: tuple[str, ...]) -> bytes:
    return _frame(kind, conversation, {name: data[name] for name in names if name in data})
