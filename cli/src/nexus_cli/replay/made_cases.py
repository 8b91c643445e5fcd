"""Cases of `nexus eval` made of recorded turns: what was asked, and the tools that it was answered with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

Turn = Mapping[str, Any]
MOST = 60
"""Characters of a case's id."""
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def write_cases(directory: Path, turns: Sequence[Turn], only: str | None = None) -> list[Path]:
    """One file for each turn, or for that one; the questions before it in its conversation come first in it. Files that
    are there stay as they are, since somebody may have worked on them.

    Raises:
        OSError: the folder cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    said: dict[str, list[str]] = {}
    for turn in turns:
        conversation = str(turn["conversationId"])
        before = said.setdefault(conversation, [])
        before.append(str(turn["question"]))
        file = directory / f"{_name(conversation, str(turn['turnId']))}.toml"
        if turn["question"] and only in (None, turn["turnId"]) and not file.exists():
            file.write_text(case_text(turn, before), "utf-8")
            written.append(file)
    return written


def case_text(turn: Turn, said: Sequence[str]) -> str:
    """The TOML of one case. A turn that a model answered needs one again."""
    recorded, role = turn["recorded"], turn.get("role", "visitor")
    tools = recorded["tools"]
    about = f"Recorded on {turn['at'][:10]}: the same tools, with the same arguments"
    errors = [str(use["error"]) for use in tools if use.get("error")]
    lines = [
        f"about = {_toml(about)}",
        f"kind = {_toml('copilot' if role == 'user' else 'visitor')}",
        f"language = {_toml(turn.get('language', 'en'))}",
        *([f"plan = {_toml(turn['plan'])}"] if role == "user" and turn.get("plan") else []),
        f"say = {_toml(list(said))}",
        *(["needs_model = true"] if recorded["provider"] != "offline" else []),
        "",
        "[expect]",
        f"tools = {_toml([use['tool'] for use in tools])}",
        f"arguments = {_toml([use['arguments'] for use in tools])}",
        *([f"errors = {_toml(errors)}"] if errors else []),
        "",
        "# It was answered so. Say here what must hold of another answer: says = [], says_not = [], citations = []",
        *(f"# {_CONTROLS.sub(' ', line)}" for line in str(recorded["text"]).splitlines()),
    ]
    return "\n".join(lines) + "\n"


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
        parts = [f"{_toml(name)} = {_toml(part)}" for name, part in known.items() if part is not None]
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in cast('list[object]', value) if part is not None)}]"
    # JSON's strings are TOML's, but for the one control character that JSON lets stand.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
