"""A response in progress: the object, and its events.

An event's number tells how much of the text the client has, and a checksum of it; how many items of text and events
without text there were; how many items; and the index of the text's item. Any gateway can therefore continue after a
number from the log alone, without a record of what was sent (docs/decisions/0072, 0235, 0249).
"""

import json
import zlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from contracts.completion_rpc import CompletionCall
from contracts.events.chat import Action, Citation, Usage
from gateway.doors.responses.requests import LABEL

Json = dict[str, Any]
_LIMIT_CODES = frozenset({"rate_limit_exceeded", "insufficient_quota"})

_MASK = (1 << 14) - 1
"""The bits of the checksum that a number has."""


class _Place(NamedTuple):
    """What the number of an event tells. `position`: 1 plus the characters so far, or 0 before the text's item is open.
    `texts`: the items with text so far. `checksum`: of the newest one's text. `step`: the events at this position.
    `text_index`: of the text's item; before it, the items so far."""

    position: int = 0
    texts: int = 0
    checksum: int = 0
    step: int = 0
    items: int = 0
    text_index: int = 0

    def number(self) -> int:
        """17 bits for the position and 36 for the rest: exact in JavaScript, for 131,000 characters."""
        position, texts, checksum, step, items, text_index = self
        return (
            (position << 36)
            | (min(texts, 3) << 34)
            | (checksum << 20)
            | (min(step, 255) << 12)
            | (min(items, 63) << 6)
            | min(text_index, 63)
        )

    @classmethod
    def of(cls, number: int) -> "_Place":
        texts, checksum, step = number >> 34 & 3, number >> 20 & _MASK, number >> 12 & 255
        return cls(number >> 36, texts, checksum, step, number >> 6 & 63, number & 63)


class ResponseEvents:
    """One response. Every method returns the next events. `after`: the number up to which the client has the events."""

    def __init__(self, response: Json, key: str, after: int = -1, *, accepts_approvals: bool = True) -> None:
        """`response`: its fields without the output; `key`: the common part of its items' ids; `accepts_approvals`: the
        client accepts items that ask for confirmation."""
        self.accepts_approvals = accepts_approvals
        self._fields: Json = response
        self._key = key
        self._after = after
        self._last_number = -1
        self._position = 0
        """1 plus the characters so far, or 0 before the text's item is open."""
        self._step = -1
        """The number of the last event at this position."""
        self._text_offset = 0
        self._answer_text = ""
        self._repeated_text: str | None = None
        self._message: tuple[int, Json] | None = None
        self._checksum = 0
        self._items: dict[int, Json] = {}
        self._client = client = _Place.of(max(after, 0))
        self._index = client.text_index
        """The next item's index. Clients append an item when it is added, and find it by its index."""
        self._unchecked: str | None = "" if client.position > 1 else None
        """The text so far, while it is shorter than the client's, which may be another one."""
        if after >= 0 and not client.position:  # the log does not have the tools before the text: they are not repeated
            self._step = client.step
        self._running_calls: dict[str, tuple[int, Json]] = {}
        self._messages = max(client.texts - 1, 0)
        self._new_events: list[Json] = []

    @property
    def response(self) -> Json:
        """The response object in its current state."""
        items = dict(self._items)
        if self._message is not None:
            index, item = self._message
            items[index] = {**item, "content": item["content"] or [_part(self._answer_text)]}
        return {**self._fields, "output": [items[index] for index in sorted(items)]}

    # ------------------------------------------------------------------ the answer's text

    def start(self) -> list[Json]:
        """The first events."""
        for kind in ("response.created", "response.in_progress")[self._step + 1 :]:
            self._event(kind, response=self.response)
        return self._take_events()

    def restart(self) -> None:
        """Notes that another run begins, whose text may differ from the text so far."""
        self._repeated_text = "" if self._answer_text else None
        self._unchecked = None if self._unchecked is None else ""

    def add_text(self, delta: str) -> list[Json]:
        """The events for more text."""
        if self._unchecked is not None:
            self._unchecked = delta = self._unchecked + delta
            if self._client.texts > 1 or len(delta) < self._client.position - 1:
                return []
            self._check_clients_text(delta)
        if self._repeated_text is not None:
            self._repeated_text += delta
            if self._answer_text.startswith(self._repeated_text):
                return self._take_events()
            text, self._repeated_text = self._repeated_text, None
            self._advance_to(text)
            return self._take_events()
        self._append_text(delta)
        return self._take_events()

    def complete_text(self, text: str, citations: Sequence[Citation] = ()) -> list[Json]:
        """The events that complete the text."""
        self._repeated_text = None
        if self._unchecked is not None:
            self._check_clients_text(text)
        self._advance_to(text)
        if self._message is None:
            self._open_message()
        annotations = [
            {
                "type": "url_citation",
                "url": citation.url,
                "title": citation.title or "",
                "start_index": 0,
                "end_index": len(text),
            }
            for citation in citations
        ]
        self._close_message("completed", annotations)
        return self._take_events()

    def _check_clients_text(self, text: str) -> None:
        """If the client has another text than the beginning of this one (said before a tool was called, or by a run
        that began again), its item ends there, and another item gets the answer."""
        client, self._unchecked = self._client, None
        characters = client.position - 1
        lengths = _lengths_with(client.checksum, text[:characters])
        if client.texts == 1:
            lengths = [length for length in lengths if length == characters]
        if len(lengths) == 1:
            self._text_offset = characters - lengths[0]
            return
        self._last_number, self._text_offset = self._after, characters
        self._position, self._step, self._checksum = client.position, client.step, client.checksum
        self._index, self._messages = max(client.items, client.text_index + 1), client.texts
        item: Json = {
            "id": self._message_id(),
            "type": "message",
            "role": "assistant",
            "status": "incomplete",
            "content": [],
        }
        self._event("response.output_item.done", output_index=client.text_index, item=item)

    def _advance_to(self, text: str) -> None:
        if not text.startswith(self._answer_text):
            # Sent text cannot be taken back: the item ends there, and another item gets the answer.
            self._close_message("incomplete", [])
            self._text_offset += len(self._answer_text)
            self._answer_text, self._message = "", None
        self._append_text(text[len(self._answer_text) :])

    def _append_text(self, delta: str) -> None:
        if not delta:
            return
        index, item = self._message or self._open_message()
        start = self._text_offset + len(self._answer_text)
        self._checksum = zlib.crc32(delta.encode(errors="replace"), self._checksum)
        self._answer_text += delta
        known_characters = max(self._client.position - 1 - start, 0)
        self._advance(1 + start + len(delta))
        self._event(
            "response.output_text.delta",
            item_id=item["id"],
            output_index=index,
            content_index=0,
            delta=delta[known_characters:],
            logprobs=[],
        )

    def _open_message(self) -> tuple[int, Json]:
        self._messages += 1
        self._checksum = 0
        index = self._next_index()
        item_id = self._message_id()
        item: Json = {"id": item_id, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        self._message = (index, item)
        if self._position == 0:
            self._advance(1)
        self._event("response.output_item.added", output_index=index, item=dict(item))
        part = _part("")
        self._event("response.content_part.added", item_id=item_id, output_index=index, content_index=0, part=part)
        return self._message

    def _message_id(self) -> str:
        return f"msg_{self._key}" if self._messages == 1 else f"msg_{self._key}_{self._messages}"

    def _close_message(self, status: str, annotations: list[Json]) -> None:
        if self._message is None:
            return
        index, item = self._message
        ids = {"item_id": item["id"], "output_index": index, "content_index": 0}
        part = _part(self._answer_text, annotations)
        self._event("response.output_text.done", **ids, text=self._answer_text, logprobs=[])
        self._event("response.content_part.done", **ids, part=part)
        item.update(status=status, content=[part])
        self._event("response.output_item.done", output_index=index, item=dict(item))

    # ------------------------------------------------------------------ tools, calls, confirmations

    def tool_started(self, call: str, name: str) -> list[Json]:
        """The events for a tool of the platform that starts."""
        item: Json = {"id": f"mcp_{self._key}_{call}", "type": "mcp_call", "server_label": LABEL, "name": name}
        item |= {"arguments": "{}", "status": "in_progress", "output": None, "error": None, "approval_request_id": None}
        index = self._next_index()
        self._running_calls[call] = (index, item)
        self._event("response.output_item.added", output_index=index, item=dict(item))
        self._event("response.mcp_call.in_progress", output_index=index, item_id=item["id"])
        return self._take_events()

    def tool_finished(self, call: str, *, success: bool) -> list[Json]:
        """The events for a tool of the platform that has finished."""
        if call not in self._running_calls:
            return self._take_events()
        index, item = self._running_calls.pop(call)
        status = "completed" if success else "failed"
        item["status"] = status
        if not success:
            item["error"] = {"type": "mcp_tool_execution_error", "content": []}
        self._event(f"response.mcp_call.{status}", output_index=index, item_id=item["id"])
        self._item_done(index, item)
        return self._take_events()

    def function_call(self, call: CompletionCall) -> list[Json]:
        """The events for a function that the caller must run."""
        item = {"id": f"fc_{call.id}", "type": "function_call", "call_id": call.id, "name": call.name}
        index = self._next_index()
        added_item = {**item, "arguments": "", "status": "in_progress"}
        self._event("response.output_item.added", output_index=index, item=added_item)
        ids = {"item_id": item["id"], "output_index": index}
        self._event("response.function_call_arguments.delta", **ids, delta=call.arguments)
        done_fields = {"arguments": call.arguments, "name": call.name}
        self._event("response.function_call_arguments.done", **ids, **done_fields)
        self._item_done(index, {**item, "arguments": call.arguments, "status": "completed"})
        return self._take_events()

    def approval(self, action: Action) -> list[Json]:
        """The events for an action that waits for the caller's confirmation."""
        if not self.accepts_approvals:
            return self._take_events()
        details = {"summary": action.summary, **action.details}
        item = {
            "id": f"mcpr_{self._key}.{action.id}",
            "type": "mcp_approval_request",
            "server_label": LABEL,
            "name": action.kind,
        }
        item["arguments"] = json.dumps(details, ensure_ascii=False)
        self._add_item(item)
        return self._take_events()

    def decision(self, action: Action) -> list[Json]:
        """The events for a decision. Its response has the same key as the request for approval."""
        item = {"id": f"mcp_{self._key}", "type": "mcp_call", "server_label": LABEL, "name": action.kind}
        item |= {"arguments": json.dumps(action.details, ensure_ascii=False), "status": "completed", "error": None}
        item |= {"output": action.to_json().decode(), "approval_request_id": f"mcpr_{self._key}"}
        self._add_item(item)
        return self._take_events()

    def person_message(self, message_id: str, text: str) -> list[Json]:
        """The events for a further message of a human agent."""
        part = _part(text)
        item = {"id": f"msg_{self._key}_{message_id}", "type": "message", "role": "assistant", "status": "completed"}
        self._add_item({**item, "content": [part]})
        return self._take_events()

    def _add_item(self, item: Json) -> None:
        index = self._next_index()
        self._event("response.output_item.added", output_index=index, item=item)
        self._item_done(index, item)

    def _item_done(self, index: int, item: Json) -> None:
        self._items[index] = item
        self._event("response.output_item.done", output_index=index, item=item)

    # ------------------------------------------------------------------ the end

    def end(self, status: str, ended_at: int, usage: Usage | None = None, **fields: Any) -> list[Json]:
        """The last events. The very last one is sent whatever `after` is. `ended_at`: seconds since the epoch."""
        usage_field = None if usage is None else usage_of(usage)
        completed_at = ended_at if status == "completed" else None
        if self._unchecked:
            self._check_clients_text(self._unchecked)
        self._fields |= {**fields, "status": status, "completed_at": completed_at, "usage": usage_field}
        if status != "completed" and self._message is not None and self._message[1]["status"] == "in_progress":
            self._close_message("incomplete", [])
        self._after = min(self._after, self._last_number)
        if status == "failed":
            error: Json = self._fields["error"]
            error_fields: Json = {"code": error["code"], "message": error["message"], "param": None}
            error_type = "too_many_requests" if error["code"] in _LIMIT_CODES else "server_error"
            # OpenAI's reference has the fields flat, the specification has them in `error`.
            self._event("error", **error_fields, error={"type": error_type, **error_fields})
        kind = {"completed": "completed", "failed": "failed"}.get(status, "incomplete")
        self._event(f"response.{kind}", response=self.response)
        return self._take_events()

    def _next_index(self) -> int:
        self._index += 1
        return self._index - 1

    def _take_events(self) -> list[Json]:
        events, self._new_events = self._new_events, []
        return events

    def _advance(self, position: int) -> None:
        self._position, self._step = position, -1

    def _event(self, kind: str, **fields: Any) -> None:
        self._step += 1
        index = self._index if self._message is None else self._message[0]
        checksum = self._checksum & _MASK
        place = _Place(self._position, self._messages, checksum, self._step, self._index, index)
        self._last_number = max(self._last_number + 1, place.number())
        if self._last_number > self._after:
            self._new_events.append({"type": kind, "sequence_number": self._last_number, **fields})


def _lengths_with(checksum: int, text: str) -> list[int]:
    """The lengths of the text's beginnings that have this checksum."""
    sums = accumulate(text, lambda before, char: zlib.crc32(char.encode(errors="replace"), before), initial=0)
    return [length for length, value in enumerate(sums) if value & _MASK == checksum]


def _part(text: str, annotations: Sequence[Json] = ()) -> Json:
    return {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}


def usage_of(usage: Usage) -> Json:
    """Token counts in the protocol's form."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
