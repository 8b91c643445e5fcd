"""A separate Docker engine: its data is in a directory, and it adds no bridge or firewall rule to this machine's
network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PATH = f"/usr/bin:/usr/sbin:{os.environ.get('PATH', '')}"
"""Debian's client comes first: newer ones installed elsewhere may lack the build plugin."""
NEEDED = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "debootstrap": "debootstrap",
    "unshare": "util-linux",
    "ip": "iproute2",
}
"""Required programs, and the Debian package of each."""
SYSTEMD = Path("/run/systemd/system")
START_TIMEOUT = 60.0
END_TIMEOUT = 60.0


class VerifyError(Exception):
    """The verification failed, or cannot run on this machine; the message says why."""


def missing() -> list[str]:
    """Returns the Debian packages that must be installed first."""
    packages = {package for program, package in NEEDED.items() if shutil.which(program, path=PATH) is None}
    if _plugin() is None and shutil.which("docker-compose", path=PATH) is None:
        packages.add("docker-compose")
    return sorted(packages)


def install(packages: Sequence[str]) -> None:
    """Installs packages, but only on a machine without systemd, such as a container or CI, where this starts no
    service.

    Raises:
        VerifyError: on a machine with systemd, or if installing fails; the message contains the command to type.
    """
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    advice = f"install what is missing first: {' '.join(command)}"
    if SYSTEMD.exists() or shutil.which("apt-get", path=PATH) is None:
        raise VerifyError(advice)
    environment = os.environ | {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update"], command):
        result = subprocess.run(step, env=environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise VerifyError(f"{advice}\n{(result.stdout + result.stderr)[-2000:]}")


class Engine:
    """Starts an engine, and is its client."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._environment = os.environ | {
            "PATH": PATH,
            "DOCKER_HOST": f"unix://{directory / 'docker.sock'}",
            "DOCKER_BUILDKIT": "1",
            "DOCKER_CONFIG": str(directory / "client"),
            "BUILDKIT_PROGRESS": "plain",
        }
        self._compose = _plugin() or ["docker-compose"]

    @contextmanager
    def running(self, *options: str) -> Generator[None]:
        """Runs the engine during the block."""
        files = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        arguments = [f"--{option}={self.directory / name}" for option, name in files.items()]
        arguments.append(f"--host={self._environment['DOCKER_HOST']}")
        with (self.directory / "engine.log").open("ab") as log:
            # It ends with this process but not on Ctrl-C, since it is needed to take the stack down.
            command = ["setpriv", "--pdeathsig", "TERM", "dockerd", *arguments, "--bridge=none", *options]
            process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, start_new_session=True)
        try:
            deadline = time.monotonic() + START_TIMEOUT
            while self._run(["docker", "version"]).returncode != 0:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise VerifyError(f"the engine does not start: {self._log_end()}")
                time.sleep(0.3)
            yield
        finally:
            process.terminate()
            try:
                process.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def docker(self, *arguments: str, timeout: float = 120, stdin: Any = None) -> str:
        """Runs a docker command and returns its output. Raises VerifyError with the end of its output if it fails."""
        return self._checked(["docker", *arguments], timeout, stdin=stdin)

    def compose(self, *arguments: str, timeout: float = 600, files: Sequence[str], environment: Path) -> str:
        """Runs a docker compose command and returns its output; raises VerifyError if it fails."""
        file_options = [word for file in files for word in ("--file", file)]
        options = ["--project-name", "nexus-verify", "--project-directory", ".", "--env-file", str(environment)]
        return self._checked([*self._compose, *options, *file_options, *arguments], timeout)

    @contextmanager
    def exported(self, container: str) -> Generator[IO[bytes]]:
        """Yields a container's files as a tar stream."""
        command = ["docker", "export", container]
        with subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            yield process.stdout

    def inspect(self, *names: str) -> list[dict[str, Any]]:
        """Returns the engine's description of images or containers."""
        return json.loads(self.docker("inspect", *names)) if names else []

    def try_in(self, container: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command inside a container, and returns its result even if it fails."""
        return self._run(["docker", "exec", container, *command])

    def _checked(self, command: Sequence[str], timeout: float, stdin: Any = None) -> str:
        try:
            result = self._run(command, timeout, stdin)
        except subprocess.TimeoutExpired as error:
            raise VerifyError(f"{' '.join(command)} took longer than {timeout:g} s") from error
        if result.returncode != 0:
            raise VerifyError(f"{' '.join(command)}\n{(result.stdout + result.stderr)[-4000:]}")
        return result.stdout

    def _run(self, command: Sequence[str], timeout: float = 60, stdin: Any = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=timeout, check=False, stdin=stdin
        )

    def _log_end(self) -> str:
        return (self.directory / "engine.log").read_text(errors="replace")[-2000:]


def _plugin() -> list[str] | None:
    """Returns the command `docker compose` if the client has that plugin, else None."""
    command = ["docker", "compose"]
    if shutil.which("docker", path=PATH) is None:
        return None
    result = subprocess.run([*command, "version"], env=os.environ | {"PATH": PATH}, capture_output=True, check=False)
    return command if result.returncode == 0 else None
