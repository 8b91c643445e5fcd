"""The five services under the supervisor, once as users have them."""

from __future__ import annotations

import json
import os
import signal
import stat
import urllib.request
from pathlib import Path

import nats
import pytest
from nats.errors import Error as NatsError

from nexus_cli.stack.services import SERVICES
from nexus_cli.testing.stacks import Nexus, all_gone, children_of
from runtime.testing.servers import eventually


async def test_all_are_ready_a_dead_one_comes_back_and_a_dead_supervisor_leaves_nothing(tmp_path: Path) -> None:
    nexus = Nexus(tmp_path / "data")
    with nexus.up_unforked("--port", "0") as supervisor:
        processes = {process["name"]: process for process in nexus.stack()["processes"]}
        assert list(processes) == ["nats", "redis", "mongodb", *SERVICES]
        for service in SERVICES:
            for path in ("healthz", "readyz", "metrics"):
                url = f"{processes[service]['url']}/{path}"
                assert urllib.request.urlopen(url, timeout=20).status == 200, url

        os.kill(processes["agent"]["pid"], signal.SIGKILL)
        await eventually(lambda: nexus.pids()["agent"] != processes["agent"]["pid"])

        await _bus_has_its_users(nexus)
        doctor = nexus.run("doctor").stdout
        assert "ready on nats://127.0.0.1" in doctor, doctor

        started = children_of(supervisor.pid)
        assert len(started) == len(processes) + 1
        supervisor.kill()
        await eventually(all_gone(started))


async def _bus_has_its_users(nexus: Nexus) -> None:
    """Nobody comes in without a name, no service may do more than its part, and the address in stack.json may all."""
    address: str = nexus.stack()["urls"]["nats"]
    place = address.rpartition("@")[2]
    log, kept = nexus.data / "logs/nats.log", nexus.data / "bus.json"
    assert "Violation" not in log.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with pytest.raises(NatsError, match="Authorization"):
        await nats.connect(f"nats://{place}", allow_reconnect=False, error_cb=_ignore)  # pyright: ignore[reportUnknownMemberType]
    password = json.loads(kept.read_text())["gateway"]
    gateway = await nats.connect(f"nats://gateway:{password}@{place}", error_cb=_ignore)  # pyright: ignore[reportUnknownMemberType]
    for subject in ("chat.demo.c1.message.assistant.v1", "$JS.API.STREAM.DELETE.CHAT"):
        await gateway.publish(subject, b"{}")
    await eventually(lambda: log.read_text().count("Publish Violation") == 2)
    await gateway.close()
    operator = await nats.connect(address)  # pyright: ignore[reportUnknownMemberType]
    assert (await operator.jetstream().stream_info("CHAT")).state.messages == 0  # pyright: ignore[reportUnknownMemberType]
    await operator.close()
    assert all(
        secret not in file.read_text()
        for secret in json.loads(kept.read_text()).values()
        for file in (nexus.data / "logs").iterdir()
    )


async def _ignore(_: Exception) -> None:
    """Refusals are what is looked for."""
