"""A response in progress: the object, and its events.

An event's number is its position in the text: 64 for each character, plus one for each event without text after it. Any
gateway can therefore continue after a number from the log alone, without a record of what was sent
(docs/decisions/0072).
"""

import json
from collections.abc import Sequence
from typing import Any

from contracts.completion_rpc import CompletionCall
from contracts.events.chat import Action, Citation, Usage
from gateway.doors.responses.requests import LABEL

Json = dict[str, Any]
STEP = 64
_ITEM_ADDED, _PART_ADDED = STEP - 2, STEP - 1


class ResponseEvents:
    """One response. Every method returns the next events; `after`: the client already has those up to this number."""

    def __init__(self, about: Json, place: str, after: int = -1, *, approvals: bool = True) -> None:
        """`place`: what the ids of its items have in common; `approvals`: the client accepts an item that asks for
        confirmation."""
        self.approvals = approvals
        self._about: Json = about
        self._place = place
        self._after = after
        self._last = -1
        self._base = 0
        self._said = ""
        self._again: str | None = None
        self._message: tuple[int, Json] | None = None
        self._items: list[Json] = []
        self._index = 1
        """Index 0 is the answer's, whatever tools are shown before it, so that a resumed stream need not know them."""
        self._open: dict[str, tuple[int, Json]] = {}
        self._messages = 0
        self._told: list[Json] = []

    @property
    def response(self) -> Json:
        """The object as it is now."""
        output: list[Json] = []
        if self._message is not None:
            item = self._message[1]
            part = _part(self._said)
            output.append({**item, "content": item["content"] or [part]})
        return {**self._about, "output": output + self._items}

    # ------------------------------------------------------------------ the answer's text

    def begin(self) -> list[Json]:
        """The response exists."""
        self._event("response.created", 0, response=self.response)
        self._event("response.in_progress", 1, response=self.response)
        return self._taken()

    def restart(self) -> None:
        """Another run begins: its text may differ from the text so far."""
        self._again = "" if self._said else None

    def text(self, delta: str) -> list[Json]:
        """More text."""
        if self._again is not None:
            self._again += delta
            if self._said.startswith(self._again):
                return self._taken()
            whole, self._again = self._again, None
            self._up_to(whole)
            return self._taken()
        self._more(delta)
        return self._taken()

    def whole(self, text: str, citations: Sequence[Citation] = ()) -> list[Json]:
        """The text is complete."""
        self._again = None
        self._up_to(text)
        if self._message is None:
            self._open_message()
        annotations = [
            {"type": "url_citation", "url": one.url, "title": one.title or "", "start_index": 0, "end_index": len(text)}
            for one in citations
        ]
        self._close_message("completed", annotations)
        return self._taken()

    def _up_to(self, text: str) -> None:
        if not text.startswith(self._said):
            # It cannot be unsaid: the item ends there, and another one has the answer.
            self._close_message("incomplete", [])
            self._base += len(self._said)
            self._said, self._message = "", None
        self._more(text[len(self._said) :])

    def _more(self, delta: str) -> None:
        if not delta:
            return
        if self._message is None:
            self._open_message()
        start = self._base + len(self._said)
        self._said += delta
        heard = max(self._after // STEP - start, 0) if self._after >= STEP else 0
        index, item = self._of_message()
        self._event(
            "response.output_text.delta",
            STEP * (start + len(delta)),
            item_id=item["id"],
            output_index=index,
            content_index=0,
            delta=delta[heard:],
            logprobs=[],
        )

    def _open_message(self) -> None:
        self._messages += 1
        first = self._messages == 1
        index = 0 if first else self._next_index()
        identity = f"msg_{self._place}" if first else f"msg_{self._place}_{self._messages}"
        item: Json = {"id": identity, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        self._message = (index, item)
        at = _ITEM_ADDED if first else 0
        self._event("response.output_item.added", at, output_index=index, item=dict(item))
        part = _part("")
        at = _PART_ADDED if first else 0
        self._event("response.content_part.added", at, item_id=identity, output_index=index, content_index=0, part=part)

    def _close_message(self, status: str, annotations: list[Json]) -> None:
        if self._message is None:
            return
        index, item = self._message
        where = {"item_id": item["id"], "output_index": index, "content_index": 0}
        part = _part(self._said, annotations)
        self._event("response.output_text.done", 0, **where, text=self._said, logprobs=[])
        self._event("response.content_part.done", 0, **where, part=part)
        item.update(status=status, content=[part])
        self._event("response.output_item.done", 0, output_index=index, item=dict(item))

    def _of_message(self) -> tuple[int, Json]:
        if self._message is None:
            raise RuntimeError("the message is not open")
        return self._message

    # ------------------------------------------------------------------ tools, calls, confirmations

    def tool_started(self, call: str, name: str) -> list[Json]:
        """A tool of the platform runs."""
        item = {"id": f"mcp_{call}", "type": "mcp_call", "server_label": LABEL, "name": name, "arguments": "{}"}
        item |= {"status": "in_progress", "output": None, "error": None, "approval_request_id": None}
        index = self._next_index()
        self._open[call] = (index, item)
        self._event("response.output_item.added", 0, output_index=index, item=dict(item))
        self._event("response.mcp_call.in_progress", 0, output_index=index, item_id=item["id"])
        return self._taken()

    def tool_finished(self, call: str, *, success: bool) -> list[Json]:
        """It has finished."""
        if call not in self._open:
            return self._taken()
        index, item = self._open.pop(call)
        how = "completed" if success else "failed"
        item["status"] = how
        if not success:
            item["error"] = {"type": "mcp_tool_execution_error", "content": []}
        self._items.append(item)
        self._event(f"response.mcp_call.{how}", 0, output_index=index, item_id=item["id"])
        self._event("response.output_item.done", 0, output_index=index, item=dict(item))
        return self._taken()

    def call(self, call: CompletionCall) -> list[Json]:
        """The caller is to run a function of their own."""
        item = {"id": f"fc_{call.id}", "type": "function_call", "call_id": call.id, "name": call.name}
        index = self._next_index()
        begun = {**item, "arguments": "", "status": "in_progress"}
        self._event("response.output_item.added", 0, output_index=index, item=begun)
        where = {"item_id": item["id"], "output_index": index}
        self._event("response.function_call_arguments.delta", 0, **where, delta=call.arguments)
        done = {"arguments": call.arguments, "name": call.name}
        self._event("response.function_call_arguments.done", 0, **where, **done)
        self._item_done(index, {**item, "arguments": call.arguments, "status": "completed"})
        return self._taken()

    def approval(self, action: Action) -> list[Json]:
        """An action waits for the caller's confirmation."""
        if not self.approvals:
            return self._taken()
        details = {"summary": action.summary, **action.details}
        item = {
            "id": f"mcpr_{self._place}.{action.id}",
            "type": "mcp_approval_request",
            "server_label": LABEL,
            "name": action.kind,
        }
        item["arguments"] = json.dumps(details, ensure_ascii=False)
        self._whole_item(item)
        return self._taken()

    def decided(self, action: Action) -> list[Json]:
        """The decision, whose response has the approval request's place."""
        item = {"id": f"mcp_{self._place}", "type": "mcp_call", "server_label": LABEL, "name": action.kind}
        item |= {"arguments": json.dumps(action.details, ensure_ascii=False), "status": "completed", "error": None}
        item |= {"output": action.to_json().decode(), "approval_request_id": f"mcpr_{self._place}"}
        self._whole_item(item)
        return self._taken()

    def spoken(self, identity: str, text: str) -> list[Json]:
        """A person has written more."""
        part = _part(text)
        item = {"id": f"msg_{self._place}_{identity}", "type": "message", "role": "assistant", "status": "completed"}
        self._whole_item({**item, "content": [part]})
        return self._taken()

    def _whole_item(self, item: Json) -> None:
        index = self._next_index()
        self._event("response.output_item.added", 0, output_index=index, item=item)
        self._item_done(index, item)

    def _item_done(self, index: int, item: Json) -> None:
        self._items.append(item)
        self._event("response.output_item.done", 0, output_index=index, item=item)

    # ------------------------------------------------------------------ the end

    def end(self, status: str, at: int, usage: Usage | None = None, **about: Any) -> list[Json]:
        """The response has ended; the last event is sent to everybody. `at`: seconds since the epoch."""
        told = None if usage is None else usage_of(usage)
        done = at if status == "completed" else None
        self._about |= {**about, "status": status, "completed_at": done, "usage": told}
        if status != "completed" and self._message is not None and self._message[1]["status"] == "in_progress":
            self._close_message("incomplete", [])
        self._after = min(self._after, self._last)
        if status == "failed":
            error: Json = self._about["error"]
            flat: Json = {"code": error["code"], "message": error["message"], "param": None}
            # OpenAI's reference has the fields flat, the specification has them in `error`.
            self._event("error", 0, **flat, error={"type": "server_error", **flat})
        kind = {"completed": "completed", "failed": "failed"}.get(status, "incomplete")
        self._event(f"response.{kind}", 0, response=self.response)
        return self._taken()

    def _next_index(self) -> int:
        self._index += 1
        return self._index - 1

    def _taken(self) -> list[Json]:
        told, self._told = self._told, []
        return told

    def _event(self, kind: str, at: int, **fields: Any) -> None:
        self._last = max(self._last + 1, at)
        if self._last > self._after:
            self._told.append({"type": kind, "sequence_number": self._last, **fields})


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
