"""`nexus up` and `nexus down` as users run them, with the real embedded servers."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import nats
import pytest
from nats.aio.client import Client
from nats.js import JetStreamContext

from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import UnusableDataError
from nexus_cli.stack.settings import StackSettings
from nexus_cli.stack.up import UpOptions, run_stack
from nexus_cli.testing.stacks import Nexus, all_gone, children_of
from runtime.testing.servers import NatsServer, eventually

SERVERS = ("--services", "none")


@pytest.fixture
def nexus(tmp_path: Path) -> Nexus:
    return Nexus(tmp_path / "data")


def jetstream(client: Client) -> JetStreamContext:
    return client.jetstream()  # pyright: ignore[reportUnknownMemberType]


async def connect(nexus: Nexus) -> Client:
    return await nats.connect(nexus.stack()["urls"]["nats"])  # pyright: ignore[reportUnknownMemberType]


def test_the_three_servers_are_up_and_recorded(nexus: Nexus) -> None:
    with nexus.up(*SERVERS):
        stack = nexus.stack()
        assert [process["name"] for process in stack["processes"]] == ["nats", "redis", "mongodb"]
        assert set(stack["urls"]) == {"nats", "redis", "mongodb"}
        for process in stack["processes"]:
            assert set(process) == {"name", "pid", "port", "url"}
            assert stack["urls"][process["name"]] == process["url"]
            assert str(process["port"]) in process["url"]
            os.kill(process["pid"], 0)


async def test_a_full_disk_is_told_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", Mock(return_value=SimpleNamespace(free=2**20)))
    with pytest.raises(UnusableDataError, match=f"{tmp_path} has 1 MiB of room, and the servers need 64: make room"):
        await run_stack(UpOptions(port=0), DataDirectory(tmp_path), StackSettings())
    assert not (tmp_path / "nats").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_stops_everything_with_exit_code_0(nexus: Nexus, number: signal.Signals) -> None:
    with nexus.up_unforked(*SERVERS) as process:
        started = children_of(process.pid)
        process.send_signal(number)
        assert process.wait(60) == 0
        # The guard sees that the supervisor is gone, and goes.
        await eventually(all_gone(started))
        assert not (nexus.data / "stack.json").exists()


async def test_kill_9_of_the_supervisor_leaves_no_process_behind(nexus: Nexus) -> None:
    with nexus.up_unforked(*SERVERS) as process:
        started = children_of(process.pid)
        assert len(started) == 4  # three servers and the guard
        process.send_signal(signal.SIGKILL)
        await eventually(all_gone(started))


async def test_kill_9_in_the_middle_of_starting_leaves_no_process_behind(nexus: Nexus) -> None:
    process = subprocess.Popen(nexus.command("up", *SERVERS), env=nexus.environment)
    started = await eventually(lambda: children_of(process.pid))
    process.kill()
    process.wait()
    await eventually(all_gone(started))


async def test_with_parent_the_stack_stops_when_the_program_that_started_it_is_killed(nexus: Nexus) -> None:
    command = shlex.join(nexus.command("up", *SERVERS, "--with-parent"))
    # The shell stays the parent: it has another command to run after this one.
    parent = subprocess.Popen(["/bin/sh", "-c", f"{command}; true"], env=nexus.environment)
    await eventually(lambda: (nexus.data / "stack.json").exists() and len(nexus.pids()) == 3)
    supervisor = children_of(parent.pid)
    started = children_of(supervisor[0])
    parent.kill()
    parent.wait()
    await eventually(all_gone([*supervisor, *started]))


async def keep_one(nexus: Nexus) -> int:
    """Stores a message; its sequence."""
    client = await connect(nexus)
    await jetstream(client).add_stream(name="KEPT", subjects=["kept.>"])  # pyright: ignore[reportUnknownMemberType]
    acknowledged = await jetstream(client).publish("kept.one", b"still here")
    await client.close()
    return acknowledged.seq


async def kept(nexus: Nexus, seq: int) -> bytes | None:
    client = await connect(nexus)
    message = await jetstream(client).get_msg("KEPT", seq)
    await client.close()
    return message.data


async def test_data_survives_a_kill_and_a_restart(nexus: Nexus) -> None:
    with nexus.up_unforked(*SERVERS) as process:
        seq = await keep_one(nexus)
        secrets = (nexus.data / "secrets.json").read_text()
        # A power cut cannot be had here: what the bus acknowledges is on disk only with this.
        assert "sync_interval: always" in (nexus.data / "nats/server.conf").read_text()
        process.send_signal(signal.SIGKILL)
        process.wait()
    with nexus.up(*SERVERS):
        assert await kept(nexus, seq) == b"still here"
        assert (nexus.data / "secrets.json").read_text() == secrets


async def test_streams_of_the_time_before_the_bus_had_users_are_found_again(nexus: Nexus) -> None:
    with nexus.up(*SERVERS):
        seq = await keep_one(nexus)
    streams = nexus.data / "nats" / "jetstream"
    (streams / "NEXUS").rename(streams / "$G")
    with nexus.up(*SERVERS):
        assert await kept(nexus, seq) == b"still here"


async def test_a_server_that_is_killed_comes_back_on_the_same_address(nexus: Nexus) -> None:
    with nexus.up(*SERVERS):
        before = nexus.stack()
        os.kill(nexus.pids()["nats"], signal.SIGKILL)
        await eventually(lambda: nexus.pids()["nats"] != before["processes"][0]["pid"])
        assert nexus.stack()["urls"] == before["urls"]
        await (await connect(nexus)).close()


def test_a_second_up_on_the_same_data_says_so_and_harms_nothing(nexus: Nexus) -> None:
    with nexus.up(*SERVERS):
        before = nexus.stack()
        second = nexus.run("up", *SERVERS)
        assert second.returncode == 1
        assert "already running" in second.stderr
        assert "nexus down" in second.stderr
        assert len(second.stderr.strip().splitlines()) == 1
        assert nexus.stack() == before


def test_a_taken_port_is_an_error_that_says_what_to_do(nexus: Nexus) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = nexus.run("up", "--port", str(port))
    assert refused.returncode == 1
    assert f"port {port} is in use" in refused.stderr
    assert f"pid {os.getpid()}" in refused.stderr
    assert "--port" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_detach_returns_when_ready_and_down_stops_it(nexus: Nexus) -> None:
    started = nexus.run("up", *SERVERS, "--detach")
    try:
        assert started.returncode == 0, started.stderr
        pids = list(nexus.pids().values())
        assert not any(all_gone([pid])() for pid in pids)
    finally:
        stopped = nexus.run("down")
    assert stopped.returncode == 0, stopped.stderr
    assert all_gone(pids)()


def test_a_detached_start_that_fails_says_why(nexus: Nexus) -> None:
    nexus.environment["NEXUS_NATS_URL"] = "nats://127.0.0.1:1"
    started = nexus.run("up", *SERVERS, "--detach")
    assert started.returncode == 1
    assert "NEXUS_NATS_URL is set, but nothing answers at 127.0.0.1:1" in started.stderr
    assert started.stdout == ""


def test_down_with_nothing_running_is_fine(nexus: Nexus) -> None:
    stopped = nexus.run("down")
    assert stopped.returncode == 0
    assert "no stack is running" in stopped.stderr


def test_an_address_in_the_environment_replaces_the_embedded_server(nexus: Nexus, nats_server: NatsServer) -> None:
    nexus.environment["NEXUS_NATS_URL"] = nats_server.url
    with nexus.up(*SERVERS):
        stack = nexus.stack()
        assert [process["name"] for process in stack["processes"]] == ["redis", "mongodb"]
        assert stack["urls"]["nats"] == nats_server.url


def test_what_it_keeps_is_for_its_owner_alone(nexus: Nexus) -> None:
    with nexus.up(*SERVERS):
        assert nexus.data.stat().st_mode & 0o777 == 0o700
        for name in ("secrets.json", "stack.json", "stack.lock"):
            assert (nexus.data / name).stat().st_mode & 0o777 == 0o600


def test_an_unknown_service_is_wrong_usage(nexus: Nexus) -> None:
    assert nexus.run("up", "--services", "gatway").returncode == 2


async def test_two_stacks_side_by_side_do_not_meet(tmp_path: Path) -> None:
    one, two = Nexus(tmp_path / "one"), Nexus(tmp_path / "two")
    with one.up(*SERVERS), two.up(*SERVERS):
        ports = [process["port"] for stack in (one, two) for process in stack.stack()["processes"]]
        assert len(set(ports)) == 6
        clients = await asyncio.gather(connect(one), connect(two))
        assert clients[0].connected_url != clients[1].connected_url
        for client in clients:
            await client.close()


def test_a_setting_that_cannot_be_is_named_in_one_line(nexus: Nexus) -> None:
    nexus.environment["NEXUS_GATEWAY_PORT"] = "eighty"
    refused = nexus.run("up", *SERVERS)
    assert refused.returncode == 1
    assert refused.stderr.startswith("nexus: NEXUS_GATEWAY_PORT: ")
    assert len(refused.stderr.strip().splitlines()) == 1
