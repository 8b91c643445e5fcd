"""AG-UI's events (protocol 1.0) as this door sends them, each a JSON object in a server-sent event."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from gateway.doors import server_sent

Json = dict[str, Any]
PROTOCOL = "1.0"
NAMESPACE = "nexus"
"""Prefix of whatever the protocol does not define in an event."""


def encoded(events: Iterable[Json]) -> bytes:
    """The events as server-sent events, with the current time."""
    now = time.time_ns() // 1_000_000
    return server_sent.events([{**event, "timestamp": now} for event in events])


def run_started(thread: str, run: str) -> Json:
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run, "protocolVersion": PROTOCOL}


def run_finished(thread: str, run: str, outcome: Json, result: Any = None) -> Json:
    result_field = {} if result is None else {"result": result}
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome, **result_field}


def run_error(code: str, message: str, retry_after: int | None = None) -> Json:
    metadata_field = {} if retry_after is None else {"metadata": {NAMESPACE: {"retryAfter": retry_after}}}
    return {"type": "RUN_ERROR", "code": code, "message": message, **metadata_field}


def text_start(message: str, role: str = "assistant", name: str | None = None) -> Json:
    name_field = {} if name is None else {"name": name}
    return {"type": "TEXT_MESSAGE_START", "messageId": message, "role": role, **name_field}


def text_content(message: str, delta: str) -> Json:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta}


def text_end(message: str, attachments: Json | None = None) -> Json:
    metadata_field = {"metadata": {NAMESPACE: attachments}} if attachments else {}
    return {"type": "TEXT_MESSAGE_END", "messageId": message, **metadata_field}


def tool_start(call: str, tool: str) -> Json:
    return {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool}


def tool_args(call: str, arguments: str) -> Json:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": arguments}


def tool_end(call: str) -> Json:
    return {"type": "TOOL_CALL_END", "toolCallId": call}


def tool_result(call: str, content: str) -> Json:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"{call}-r", "toolCallId": call, "content": content}


def messages_snapshot(messages: Sequence[Json]) -> Json:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def owner_activity(owner: Json) -> Json:
    """The event for the owner: an activity, which is shown beside the messages."""
    kind = f"{NAMESPACE}.owner"
    return {"type": "ACTIVITY_SNAPSHOT", "messageId": "owner", "activityType": kind, "content": owner}


def _edit_schema(editable: Json | None) -> Json:
    """The schema of an action's edits: "presence in the schema is the capability signal"."""
    if not editable:
        return {}
    return {"editedArgs": {"type": "object", "properties": editable, "additionalProperties": False}}


def interrupt(action: Json) -> Json:
    """The interrupt for an action that waits for its user's confirmation."""
    expiry_field = {"expiresAt": action["expiresAt"]} if action.get("expiresAt") else {}
    return {
        "id": action["id"],
        "reason": "confirmation",
        "message": action["summary"],
        "responseSchema": {
            "type": "object",
            "properties": {"approved": {"type": "boolean"}, **_edit_schema(action.get("editable"))},
            "required": ["approved"],
        },
        "metadata": {NAMESPACE: {"kind": action["kind"], "details": action.get("details") or {}}},
        **expiry_field,
    }
