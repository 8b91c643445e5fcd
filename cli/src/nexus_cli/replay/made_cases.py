"""Writes cases for `nexus eval` made from recorded turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def write_cases(directory: Path, cases: Sequence[Mapping[str, object]], only: str | None = None) -> list[Path]:
    """Writes a file for each case {turnId, name, toml} that `agent.replay --cases` printed, or only for the turn
    `only`. Returns the new files. Existing files are kept, since somebody may have edited them.

    Raises:
        OSError: the folder cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for case in cases:
        file = directory / f"{case['name']}.toml"
        if only in (None, case["turnId"]) and not file.exists():
            file.write_text(str(case["toml"]), "utf-8")
            files.append(file)
    return files
