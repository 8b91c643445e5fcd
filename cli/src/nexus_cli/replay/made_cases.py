"""Writes cases for `nexus eval` made from recorded turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def write_cases(directory: Path, cases: Sequence[Mapping[str, object]], only: str | None = None) -> list[Path]:
    """Writes a file for each case, or for that turn's: {turnId, name, toml}, as `agent.replay --cases` prints them.
    Existing files stay as they are, since somebody may have worked on them.

    Raises:
        OSError: the folder cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for case in cases:
        file = directory / f"{case['name']}.toml"
        if only in (None, case["turnId"]) and not file.exists():
            file.write_text(str(case["toml"]), "utf-8")
            written.append(file)
    return written
