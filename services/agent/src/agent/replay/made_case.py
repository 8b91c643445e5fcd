"""Turns a recorded turn into a case for `nexus eval`: the questions, and the tools that answered them."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from agent.record.recorded_turn import RecordedTurn
from agent.replay.rerun import tool_uses
from contracts.expressions import expression
from contracts.replay_rpc import MadeCase

MAX_NAME_CHARS = 60
"""Characters of a case's name."""
_CONTROLS = expression(r"[\x00-\x08\x0a-\x1f\x7f]")


def case_of(turn: RecordedTurn) -> MadeCase | None:
    """Returns the case; None if the turn has no question. Earlier questions of the conversation come first. A turn that
    a model answered needs a model again. The expected texts are left to the reader of the case."""
    questions = [message.text for message in turn.inputs.history.messages if not message.mine and message.text.strip()]
    if not questions:
        return None
    requester, journal, uses_ = turn.inputs.seen.requester, turn.journal, tool_uses(turn.journal)
    about = (
        f"Recorded on {datetime.fromtimestamp(turn.started_at, UTC):%Y-%m-%d}: the same tools, with the same arguments"
    )
    errors = [str(use["error"]) for use in uses_ if use["error"]]
    lines = [
        f"about = {_toml(about)}",
        f"kind = {_toml('copilot' if requester.role == 'user' else 'visitor')}",
        f"language = {_toml(requester.language)}",
        *([f"plan = {_toml(requester.plan)}"] if requester.role == "user" else []),
        f"say = {_toml(questions)}",
        *(["needs_model = true"] if journal.provider != "offline" else []),
        "",
        "[expect]",
        f"tools = {_toml([use['tool'] for use in uses_])}",
        f"arguments = {_toml([use['arguments'] for use in uses_])}",
        *([f"errors = {_toml(errors)}"] if errors else []),
        "",
        "# It was answered so. Say here what must hold of another answer: says = [], says_not = [], citations = []",
        *(f"# {_CONTROLS.sub(' ', line)}" for line in (journal.answer or f"({journal.failure})").splitlines()),
    ]
    return MadeCase(name=_name(turn.key.conversation, journal.turn_id), toml="\n".join(lines) + "\n")


def _name(conversation: str, turn: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", f"{conversation}-{turn}".lower()).strip("-")
    return name[-MAX_NAME_CHARS:].strip("-")


def _toml(value: object) -> str:
    """Returns a value in TOML; null values are left out."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        parts = [f"{json.dumps(name)} = {_toml(part)}" for name, part in mapping.items() if part is not None]
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in cast('list[object]', value) if part is not None)}]"
    # JSON strings are TOML strings, except for the one control character that JSON does not escape.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
