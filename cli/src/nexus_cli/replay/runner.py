"""Runs the agent's replay as a child process, so that the judged code is the code that answers."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

from contracts.json_values import JsonObject
from nexus_cli.stack.errors import StackError
from runtime.lifecycle.parent import end_with_parent

Line = JsonObject


class ReplayFailedError(StackError):
    """The replay failed. The message is one line."""


def replay_lines(nats: str, options: Sequence[str]) -> Iterator[Line]:
    """Yields the lines of `python -m agent.replay`: the plan, then one for each turn.

    Raises:
        ReplayFailedError: the replay reported an error or ended early.
    """
    if importlib.util.find_spec("agent") is None:
        raise ReplayFailedError("the agent is not installed here: install the distribution nexus-agent")
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.replay", *options],
        env={**os.environ, "NEXUS_NATS_URL": nats},
        preexec_fn=lambda: end_with_parent(signal.SIGKILL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output = process.stdout
    try:
        for text in output or ():
            line = cast(Line, json.loads(text))
            if line["type"] == "error":
                raise ReplayFailedError(str(line["message"]))
            yield line
        _, errors = process.communicate(timeout=10)
        if process.returncode:
            last_line = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            raise ReplayFailedError(f"the replay failed: {last_line[0]}")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()
