"""The five services under the supervisor, once as users have them."""

from __future__ import annotations

import os
import signal
import urllib.request
from pathlib import Path

from nexus_cli.stack.services import SERVICES
from nexus_cli.testing import Nexus, all_gone, children_of
from runtime.testing import eventually


async def test_all_are_ready_a_dead_one_comes_back_and_a_dead_supervisor_leaves_nothing(tmp_path: Path) -> None:
    nexus = Nexus(tmp_path / "data")
    with nexus.up("--port", "0") as supervisor:
        processes = {process["name"]: process for process in nexus.stack()["processes"]}
        assert list(processes) == ["nats", "redis", "mongodb", *SERVICES]
        for service in SERVICES:
            for path in ("healthz", "readyz", "metrics"):
                url = f"{processes[service]['url']}/{path}"
                assert urllib.request.urlopen(url, timeout=5).status == 200, url

        os.kill(processes["agent"]["pid"], signal.SIGKILL)
        await eventually(lambda: nexus.pids()["agent"] != processes["agent"]["pid"], deadline=30)

        started = children_of(supervisor.pid)
        assert len(started) == len(processes) + 1
        supervisor.kill()
        await eventually(all_gone(started), deadline=5)
