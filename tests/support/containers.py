"""The system tests against the official images: `make test-containers`.

Starts NATS, Redis and MongoDB through testcontainers, in the versions that docker-compose.yml names, and runs the
system tests with their addresses; the services themselves run as processes, as in every other run.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import docker
import yaml
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

ROOT = Path(__file__).resolve().parents[2]
# Name in docker-compose.yml: port, command, what the log says when it serves, scheme of the address.
SERVERS: dict[str, tuple[int, str, str, str]] = {
    "nats": (4222, "-js", "Server is ready", "nats"),
    "redis": (6379, "redis-server --appendonly yes", "Ready to accept connections", "redis"),
    "mongodb": (27017, "mongod --bind_ip_all", "Waiting for connections", "mongodb"),
}


def main() -> int:
    """Runs the tests; returns pytest's exit code, or 1 without a Docker engine."""
    try:
        docker.from_env().ping()  # pyright: ignore[reportUnknownMemberType] - the docker package is partly untyped
    except DockerException as error:
        sys.stderr.write(f"nexus: no Docker engine answers here ({error}); start one, or run `make test`\n")
        return 1
    with contextlib.ExitStack() as running:
        addresses = {f"NEXUS_TEST_{name.upper()}_URL": running.enter_context(server(name)) for name in SERVERS}
        command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "tests/system", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **addresses}, check=False).returncode


@contextlib.contextmanager
def server(name: str) -> Generator[str]:
    """Runs a server while the block runs; yields its address."""
    port, command, ready, scheme = SERVERS[name]
    container = DockerContainer(image(name)).with_command(command).with_exposed_ports(port)
    with container.waiting_for(LogMessageWaitStrategy(ready)) as started:
        yield f"{scheme}://{started.get_container_host_ip()}:{started.get_exposed_port(port)}"


def image(name: str) -> str:
    """Returns the image that docker-compose.yml names for the server."""
    compose = cast(dict[str, Any], yaml.safe_load((ROOT / "docker-compose.yml").read_text()))
    return str(compose["services"][name]["image"])


if __name__ == "__main__":
    sys.exit(main())
