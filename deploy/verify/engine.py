"""A Docker engine of our own: its data in a directory, no bridge and no firewall's rule on this machine's network."""

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
"""Debian's own client comes first: newer ones that stand elsewhere may lack what builds."""
NEEDED = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "debootstrap": "debootstrap",
    "unshare": "util-linux",
    "ip": "iproute2",
}
"""Programs, and the Debian package of each."""
SYSTEMD = Path("/run/systemd/system")
STARTS_WITHIN = 60.0
ENDS_WITHIN = 60.0


class VerifyError(Exception):
    """This machine, or what was built on it, does not let the verification go on; the text says why."""


def missing() -> list[str]:
    """Debian packages that have to be installed first."""
    found = {package for program, package in NEEDED.items() if shutil.which(program, path=PATH) is None}
    if _plugin() is None and shutil.which("docker-compose", path=PATH) is None:
        found.add("docker-compose")
    return sorted(found)


def install(packages: Sequence[str]) -> None:
    """Installs them where that starts nothing: on a machine without systemd, such as a container or CI's.

    Raises:
        VerifyError: with what to type, where it is somebody's machine, or where it does not work.
    """
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    told = f"install what is missing first: {' '.join(command)}"
    if SYSTEMD.exists() or shutil.which("apt-get", path=PATH) is None:
        raise VerifyError(told)
    environment = os.environ | {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update"], command):
        done = subprocess.run(step, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise VerifyError(f"{told}\n{(done.stdout + done.stderr)[-2000:]}")


class Engine:
    """The client of a running engine."""

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
        """The engine's processes, for the length of the block."""
        files = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        given = [f"--{option}={self.directory / name}" for option, name in files.items()]
        given.append(f"--host={self._environment['DOCKER_HOST']}")
        with (self.directory / "engine.log").open("ab") as log:
            # It ends with this process, and not before it when somebody presses Ctrl-C: the stack is taken down by it.
            command = ["setpriv", "--pdeathsig", "TERM", "dockerd", *given, "--bridge=none", *options]
            process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, start_new_session=True)
        try:
            end = time.monotonic() + STARTS_WITHIN
            while self._run(["docker", "version"]).returncode != 0:
                if process.poll() is not None or time.monotonic() > end:
                    raise VerifyError(f"the engine does not start: {self._said()}")
                time.sleep(0.3)
            yield
        finally:
            process.terminate()
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def docker(self, *arguments: str, timeout: float = 120, stdin: Any = None) -> str:
        """What a command prints. Raises VerifyError with its last words if it fails."""
        return self._checked(["docker", *arguments], timeout, stdin=stdin)

    def compose(self, *arguments: str, timeout: float = 600, files: Sequence[str], environment: Path) -> str:
        """The same, of a project's commands."""
        given = [word for file in files for word in ("--file", file)]
        options = ["--project-name", "nexus-verify", "--project-directory", ".", "--env-file", str(environment)]
        return self._checked([*self._compose, *options, *given, *arguments], timeout)

    @contextmanager
    def exported(self, container: str) -> Generator[IO[bytes]]:
        """A container's files as a stream of tar."""
        command = ["docker", "export", container]
        with subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            yield process.stdout

    def inspect(self, *names: str) -> list[dict[str, Any]]:
        """What the engine knows of images or containers."""
        return json.loads(self.docker("inspect", *names)) if names else []

    def try_in(self, container: str, *command: str) -> subprocess.CompletedProcess[str]:
        """A command inside a container, whatever comes of it."""
        return self._run(["docker", "exec", container, *command])

    def _checked(self, command: Sequence[str], timeout: float, stdin: Any = None) -> str:
        try:
            done = self._run(command, timeout, stdin)
        except subprocess.TimeoutExpired as error:
            raise VerifyError(f"{' '.join(command)} took longer than {timeout:g} s") from error
        if done.returncode != 0:
            raise VerifyError(f"{' '.join(command)}\n{(done.stdout + done.stderr)[-4000:]}")
        return done.stdout

    def _run(self, command: Sequence[str], timeout: float = 60, stdin: Any = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=timeout, check=False, stdin=stdin
        )

    def _said(self) -> str:
        return (self.directory / "engine.log").read_text(errors="replace")[-2000:]


def _plugin() -> list[str] | None:
    """`docker compose`, where the client has it."""
    command = ["docker", "compose"]
    if shutil.which("docker", path=PATH) is None:
        return None
    done = subprocess.run([*command, "version"], env=os.environ | {"PATH": PATH}, capture_output=True, check=False)
    return command if done.returncode == 0 else None
