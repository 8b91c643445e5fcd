"""A stack for one question: started quietly in a directory of its own, ended and forgotten afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from nexus_cli.stack.errors import StartFailed
from nexus_cli.target import Target, find_target

SERVICES = "agent,tool-executor,memory,market-adapter"
_READY_WITHIN = 180.0
_STOPPED_WITHIN = 60.0


@contextlib.contextmanager
def embedded() -> Generator[Target]:
    """Servers and the services that an analysis needs, for the length of the block. They end with this process, however
    it ends.

    Raises:
        StartFailed: something did not start; the message is the supervisor's own.
    """
    with tempfile.TemporaryDirectory(prefix="nexus-ask-") as directory:
        data, log = Path(directory) / "data", Path(directory) / "supervisor.log"
        # A question is asked at one moment: the sample market stands on its last day, unless told otherwise.
        environment = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", **os.environ}
        command = [sys.executable, "-m", "nexus_cli", "up", "--data", str(data), "--port", "0"]
        with log.open("wb") as errors:
            supervisor = subprocess.Popen(
                [*command, "--services", SERVICES, "--with-parent"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        try:
            _wait_until_ready(supervisor, log)
            yield find_target(data)
        finally:
            supervisor.terminate()
            try:
                supervisor.wait(_STOPPED_WITHIN)
            except subprocess.TimeoutExpired:
                supervisor.kill()
                supervisor.wait(_STOPPED_WITHIN)


def _wait_until_ready(supervisor: subprocess.Popen[bytes], log: Path) -> None:
    output = supervisor.stdout
    end = time.monotonic() + _READY_WITHIN
    if output is not None and select.select([output], [], [], max(end - time.monotonic(), 0))[0] and output.readline():
        return
    supervisor.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        supervisor.wait(_STOPPED_WITHIN)
    lines = log.read_text(errors="replace").strip().splitlines()
    raise StartFailed(lines[-1].removeprefix("nexus: ") if lines else "what the question needs did not start")
