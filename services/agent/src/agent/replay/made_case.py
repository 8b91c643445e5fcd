"""Turns a recorded turn into a case for `nexus eval`: what was asked, and the tools that answered it."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from agent.record.recorded_turn import RecordedTurn
from agent.replay.rerun import uses
from contracts.replay_rpc import MadeCase

MOST = 60
"""Characters of a case's name."""
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def case_of(turn: RecordedTurn) -> MadeCase | None:
    """The case; None: nothing was asked. The questions before it in its conversation come first in it. A turn that a
    model answered needs one again; what must hold of the text is for whoever reads it to add."""
    said = [message.text for message in turn.inputs.history.messages if not message.mine and message.text.strip()]
    if not said:
        return None
    requester, journal, tools = turn.inputs.seen.requester, turn.journal, uses(turn.journal)
    about = (
        f"Recorded on {datetime.fromtimestamp(turn.started_at, UTC):%Y-%m-%d}: the same tools, with the same arguments"
    )
    errors = [str(use["error"]) for use in tools if use["error"]]
    lines = [
        f"about = {_toml(about)}",
        f"kind = {_toml('copilot' if requester.role == 'user' else 'visitor')}",
        f"language = {_toml(requester.language)}",
        *([f"plan = {_toml(requester.plan)}"] if requester.role == "user" else []),
        f"say = {_toml(said)}",
        *(["needs_model = true"] if journal.provider != "offline" else []),
        "",
        "[expect]",
        f"tools = {_toml([use['tool'] for use in tools])}",
        f"arguments = {_toml([use['arguments'] for use in tools])}",
        *([f"errors = {_toml(errors)}"] if errors else []),
        "",
        "# It was answered so. Say here what must hold of another answer: says = [], says_not = [], citations = []",
        *(f"# {_CONTROLS.sub(' ', line)}" for line in (journal.answer or f"({journal.failure})").splitlines()),
    ]
    return MadeCase(name=_name(turn.key.conversation, journal.turn_id), toml="\n".join(lines) + "\n")


def _name(conversation: str, turn: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", f"{conversation}-{turn}".lower()).strip("-")
    return name[-MOST:].strip("-")


def _toml(value: object) -> str:
    """A value as TOML writes it; what is null is left out."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        known = cast("Mapping[str, object]", value)
        parts = [f"{json.dumps(name)} = {_toml(part)}" for name, part in known.items() if part is not None]
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in cast('list[object]', value) if part is not None)}]"
    # JSON's strings are TOML's, but for the one control character that JSON lets stand.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
