"""Asks the user to confirm an order through their own MCP client.

The SDK seals the data that the client carries (AES-256-GCM with a key that all gateways share) and binds it to the
caller, the tool, the arguments and an hour: nobody can confirm another user's order, or an order other than shown.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic.alias_generators import to_snake

from contracts.json_values import is_object, object_of
from gateway.texts import TEXTS

_PENDING = "pending_confirmation"
_QUESTION = "order"
_FIELD = "confirm"


@dataclass(frozen=True, slots=True)
class PendingAction:
    """A pending action, with the data of the call that created it."""

    action: str
    data: dict[str, object]

    @classmethod
    def parse(cls, state: str) -> "PendingAction":
        """The action in data that was sealed; raises MCPError, which only data of another version can cause."""
        try:
            fields = json.loads(state)
            return cls(str(fields["action"]), object_of(fields["data"]))
        except (ValueError, KeyError, TypeError) as error:
            raise MCPError(code=types.INVALID_PARAMS, message="requestState is not of this call") from error

    def to_state(self) -> str:
        """The data to seal."""
        return json.dumps({"action": self.action, "data": self.data})

    @property
    def editable(self) -> dict[str, object]:
        """The fields that a confirmation may change, with their requested values."""
        editable, order = self.data.get("editable"), self.data.get("order")
        if not is_object(editable) or not is_object(order):
            return {}
        return {name: order.get(to_snake(name)) for name in editable}

    @property
    def summary(self) -> str:
        """The order in its service's words, or else field by field."""
        summary = self.data.get("summary")
        if isinstance(summary, str) and summary:
            return summary
        order = self.data.get("order")
        fields = order if is_object(order) else self.data
        return ", ".join(f"{name}: {value}" for name, value in fields.items() if value is not None)


def pending_action_in(data: Mapping[str, object] | None) -> PendingAction | None:
    """The pending action in a result's data; None if there is none."""
    action = data.get("action_id") if data is not None and data.get("status") == _PENDING else None
    return PendingAction(action, dict(data or {})) if isinstance(action, str) else None


def question_form(pending: PendingAction, language: str) -> types.ElicitRequestFormParams:
    """The form that asks the client's user."""
    summary = pending.summary
    question, title = (TEXTS[f"order.{key}"].in_language(language) for key in ("question", "confirm"))
    titles = TEXTS.section("order.titles")
    changes = {
        name: {
            "type": "number",
            "title": titles[name].in_language(language) if name in titles else name,
            "default": value,
        }
        for name, value in pending.editable.items()
    }
    schema = {
        "type": "object",
        "properties": {_FIELD: {"type": "boolean", "title": title, "description": summary}, **changes},
        "required": [_FIELD],
    }
    return types.ElicitRequestFormParams(message=f"{question}\n{summary}", requested_schema=schema)


def question_result(pending: PendingAction, question: types.ElicitRequestFormParams) -> types.InputRequiredResult:
    """The question as the call's result; the client repeats the call with the answer."""
    return types.InputRequiredResult(
        input_requests={_QUESTION: types.ElicitRequest(params=question)}, request_state=pending.to_state()
    )


def answer_in(responses: types.InputResponses | None) -> types.ElicitResult | None:
    """The user's answer in the repeated call; None if there is none."""
    answer = (responses or {}).get(_QUESTION)
    return answer if isinstance(answer, types.ElicitResult) else None


def edits_in(pending: PendingAction, answer: types.ElicitResult | None) -> dict[str, object] | None:
    """The fields that the user has changed, also those that were not in the form; None if there are none."""
    content = (answer.content if answer is not None else None) or {}
    requested = pending.editable
    return {
        name: value
        for name, value in content.items()
        if name != _FIELD and value is not None and value != requested.get(name)
    } or None


def with_snake_case_names(edits: Mapping[str, object]) -> dict[str, object]:
    """The edits with the field names of the tool's data (snake_case)."""
    return {to_snake(name): value for name, value in edits.items()}


def decision_in(answer: types.ElicitResult | None) -> Literal["confirm", "reject"] | None:
    """The user's decision; None if they closed the question or said neither, so that the action stays pending."""
    if answer is None or answer.action == "cancel":
        return None
    if answer.action == "decline":
        return "reject"
    is_confirmed = (answer.content or {}).get(_FIELD)
    return ("confirm" if is_confirmed else "reject") if isinstance(is_confirmed, bool) else None
