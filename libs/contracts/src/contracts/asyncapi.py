"""Generates the AsyncAPI 3.0 document of the whole bus from the registry of events and the table of calls.

https://www.asyncapi.com/docs/reference/specification/v3.0.0
"""

import re
from collections.abc import Mapping
from typing import cast

from pydantic import BaseModel

from contracts import ws
from contracts.channels import parameters_of
from contracts.errors import CallError
from contracts.events.registry import EVENTS, EventType
from contracts.json_values import JsonObject, is_list, is_object, object_of
from contracts.methods import METHODS
from contracts.rpc import Method
from contracts.schemas import schema_of, schema_of_frame
from contracts.tools_rpc import tool_service

_COMPONENT = re.compile(r"[^A-Za-z0-9_-]+")


class _Document:
    """The parts of the document. Definitions shared by several payloads are written once, in `components.schemas`."""

    def __init__(self) -> None:
        self.channels: dict[str, object] = {}
        self.operations: dict[str, object] = {}
        self.messages: dict[str, object] = {}
        self.shared: dict[str, object] = {}
        self._original_shapes: dict[str, object] = {}

    def payload(self, key: str, schema: JsonObject) -> JsonObject:
        """Returns the schema of the message `key`, with its definitions moved to the shared ones. If a name is taken by
        a different shape, both are kept under different names."""
        definitions = object_of(schema.get("$defs", {}))
        names = {
            name: name if self._original_shapes.setdefault(name, shape) == shape else f"{key}-{name}"
            for name, shape in definitions.items()
        }
        self.shared |= {names[name]: _with_shared_references(shape, names) for name, shape in definitions.items()}
        return {name: _with_shared_references(part, names) for name, part in schema.items() if name != "$defs"}

    def add_event(self, event: EventType) -> None:
        key = _key(event.type)
        description = f"JetStream stream {event.stream}" if event.stream else "core NATS: may be lost"
        names = {"event": _ref("components", "messages", key)}
        self.channels[key] = _channel(event.type, event.subject, description, names)
        payload = self.payload(key, schema_of(event))
        message = _message(event.type, event.data, "application/cloudevents+json", payload)
        self.messages[key] = message | self._stored_once(event)
        for action, summary in (
            ("send", f"Published by {', '.join(event.owners)}."),
            ("receive", f"Consumed by {', '.join(event.consumers)}."),
        ):
            self.operations[f"{action}-{key}"] = {
                "action": action,
                "title": f"{action} {key}",
                "summary": summary,
                "channel": _ref("channels", key),
                "messages": [_ref("channels", key, "messages", "event")],
            }

    def _stored_once(self, event: EventType) -> JsonObject:
        """Describes the header by which a stream stores an event once, however often it is published."""
        if event.stream is None:
            return {}
        key, value = (
            ("ChatHeaders", "{company}.{conversation}.{kind}.{id}")
            if event.stream == "CHAT"
            else ("EventHeaders", "the event's id")
        )
        description = f"{value}: of messages with the same one within two minutes the first is stored"
        header = {"type": "string", "description": description}
        self.shared[key] = {"type": "object", "properties": {"Nats-Msg-Id": header}}
        return {"headers": _ref("components", "schemas", key)}

    def add_call(self, method: Method) -> None:
        key = _key(method.subject)
        description = f"queue group {method.queue}" if method.queue else "every server; the one concerned answers"
        parts: dict[str, type[BaseModel]] = {"request": method.request, "reply": method.reply}
        for part, model in parts.items():
            schema = self.payload(f"{key}-{part}", model.model_json_schema(by_alias=True))
            payload = schema if part == "request" else self._reply(schema)
            self.messages[f"{key}-{part}"] = {"name": f"{method.subject} {part}", "payload": payload}
        names = {part: _ref("components", "messages", f"{key}-{part}") for part in parts}
        self.channels[key] = _channel(method.subject, method.subject, description, names)
        self.operations[f"call-{key}"] = {
            "action": "send",
            "title": f"call {method.subject}",
            "channel": _ref("channels", key),
            "messages": [_ref("channels", key, "messages", "request")],
            "reply": {"channel": _ref("channels", key), "messages": [_ref("channels", key, "messages", "reply")]},
        }

    def _reply(self, data: JsonObject) -> JsonObject:
        """Returns the schema of a call's reply: its data or an error."""
        self.shared["CallError"] = self.payload("CallError", CallError.model_json_schema(by_alias=True))
        return {
            "type": "object",
            "properties": {"data": data, "error": _ref("components", "schemas", "CallError")},
            "oneOf": [{"required": ["data"]}, {"required": ["error"]}],
        }

    def add_websocket(self) -> None:
        """Adds the chat's websocket from the gateway's side: it receives client frames and sends server frames."""
        names: dict[str, dict[str, str]] = {}
        for side, action, frames in (("client", "receive", ws.CLIENT_FRAMES), ("server", "send", ws.SERVER_FRAMES)):
            keys = {kind: _key(f"ws.{side}.{kind}") for kind in frames}
            for kind, model in frames.items():
                payload = self.payload(keys[kind], schema_of_frame(kind, model))
                self.messages[keys[kind]] = _message(kind, model, "application/json", payload)
            names |= {key: _ref("components", "messages", key) for key in keys.values()}
            self.operations[f"{action}-chat-ws"] = {
                "action": action,
                "title": f"{action} frames of the chat",
                "channel": _ref("channels", "chat-ws"),
                "messages": [_ref("channels", "chat-ws", "messages", key) for key in keys.values()],
            }
        self.channels["chat-ws"] = {
            "title": "the chat",
            "address": "/v2/chat/ws",
            "servers": [_ref("servers", "gateway")],
            "description": "websocket; the first frame is hello",
            "messages": names,
        }


def document(version: str) -> dict[str, object]:
    """Returns the document as a JSON object; the same registry gives the same document, byte for byte."""
    parts = _Document()
    for event in EVENTS:
        parts.add_event(event)
    for method in (*METHODS, cast("Method", tool_service("{tool}", "of the service that has the tool"))):
        parts.add_call(method)
    parts.add_websocket()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Nexus on NATS, and its chat",
            "version": version,
            "description": "Events are CloudEvents 1.0 in JSON structured mode; calls are core NATS requests; "
            "the chat's websocket carries JSON text frames.",
        },
        "defaultContentType": "application/json",
        "servers": {
            "nats": {"host": "localhost:4222", "protocol": "nats"},
            "gateway": {"host": "localhost:8080", "protocol": "ws"},
        },
        "channels": parts.channels,
        "operations": parts.operations,
        "components": {"messages": parts.messages, "schemas": parts.shared},
    }


def _key(name: str) -> str:
    return _COMPONENT.sub("-", name)


def _ref(*path: str) -> dict[str, str]:
    return {"$ref": "#/" + "/".join(path)}


def _message(name: str, model: type[BaseModel], content_type: str, payload: JsonObject) -> JsonObject:
    summary = (model.__doc__ or "").strip().splitlines()[0]
    return {"name": name, "title": name, "summary": summary, "contentType": content_type, "payload": payload}


def _channel(title: str, address: str, description: str, messages: Mapping[str, object]) -> JsonObject:
    """Returns a channel of the bus."""
    return {
        "title": title,
        "address": address,
        "servers": [_ref("servers", "nats")],
        "description": description,
        "messages": messages,
        "parameters": {name: {"description": text} for name, text in parameters_of(address).items()},
    }


def _with_shared_references(part: object, names: Mapping[str, str]) -> object:
    """Returns a part of a schema with references to its own definitions replaced by references to the shared ones
    (`names`)."""
    if is_object(part):
        return {
            key: f"#/components/schemas/{names[value.removeprefix('#/$defs/')]}"
            if key == "$ref" and isinstance(value, str)
            else _with_shared_references(value, names)
            for key, value in part.items()
        }
    return [_with_shared_references(item, names) for item in part] if is_list(part) else part
