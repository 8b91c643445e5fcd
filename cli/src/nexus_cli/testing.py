"""For tests: `nexus` as a real process on a data directory of its own, and a look at processes from outside."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, cast


def is_gone(pid: int) -> bool:
    """True if no such process runs; a zombie, which only waits for its exit code to be read, counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in {"Z", "X"}
    except FileNotFoundError:
        return True


class Nexus:
    """`nexus …` as a child process, on a data directory of its own."""

    def __init__(self, data: Path, environment: Mapping[str, str] | None = None) -> None:
        self.data = data
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NEXUS_")}
        self.environment = {**inherited, **(environment or {})}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

    @contextlib.contextmanager
    def up(self, *arguments: str) -> Generator[subprocess.Popen[str]]:
        """`nexus up` until it has printed its line; killed, with all it started, at the end of the block."""
        process = subprocess.Popen(
            self.command("up", *arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 60)[0], "nothing printed within 60 s"
            line = process.stdout.readline()
            assert line, process.communicate(timeout=10)[1]
            yield process
        finally:
            process.kill()
            process.communicate(timeout=10)

    def stack(self) -> dict[str, Any]:
        """The content of stack.json."""
        return cast(dict[str, Any], json.loads((self.data / "stack.json").read_text()))

    def pids(self) -> dict[str, int]:
        """Process ids by name, from stack.json."""
        return {entry["name"]: entry["pid"] for entry in self.stack()["processes"]}

    def command(self, *arguments: str) -> list[str]:
        """The argument vector of `nexus …` on this data directory."""
        return [sys.executable, "-m", "nexus_cli", *arguments, "--data", str(self.data)]


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def all_gone(pids: list[int]) -> Callable[[], bool]:
    """A predicate for `eventually`."""
    return lambda: all(is_gone(pid) for pid in pids)
