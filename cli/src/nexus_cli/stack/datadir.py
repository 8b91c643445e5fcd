"""The data directory: its lock for one supervisor at a time, and the files in which the stack describes itself.

`stack.lock`    locked with flock by the supervisor and, by inheritance, by every process that it starts, so that it is
                free only when the last of them is gone. It contains the supervisor's pid and address.
`stack.json`    {processes [{name, pid, port, url}], urls {nats, redis, mongodb}}, replaced as a whole.
`secrets.json`  the development secrets, created once, readable only by their owner.
`bus.json`      passwords of the embedded bus's users, likewise.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from nexus_cli.stack.errors import AlreadyRunningError, DamagedSecretsError, NotRunningError, UnusableDataError

# After a kill -9 of the supervisor its processes are gone within milliseconds; a new one waits this long for that.
_ORPHANS_SECONDS = 3.0


@dataclass(frozen=True)
class StackProcess:
    """One process of the stack, as in stack.json."""

    name: str
    pid: int
    port: int
    url: str


@dataclass(frozen=True)
class DevSecrets:
    """Secrets of this data directory's development stack."""

    jwt_secret: str
    principal_key: str
    mark_key: str
    secrets_key: str


@contextlib.contextmanager
def _unusable_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        advice = "choose another directory with --data, or change that"
        raise UnusableDataError(f"{error.filename}: {error.strerror}: {advice}") from None


class DataDirectory:
    """The files of `nexus` below `--data`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.logs = self.path / "logs"
        self._lock: int | None = None

    def create(self) -> None:
        """Creates the directory, readable only by its owner. Raises UnusableDataError."""
        with _unusable_errors():
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.logs.mkdir(exist_ok=True)

    # ---- the lock

    def acquire(self) -> int:
        """Locks the directory for this process.

        Returns:
            The lock's file descriptor, for the children to inherit.

        Raises:
            AlreadyRunningError: a stack is running on it.
            UnusableDataError: it cannot be written.
        """
        with _unusable_errors():
            descriptor = os.open(self.path / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + _ORPHANS_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = self._holder()
                if _is_alive(holder.get("pid")) or time.monotonic() > end:
                    os.close(descriptor)
                    raise AlreadyRunningError(
                        f"a stack is already running on {self.path} (pid {holder.get('pid')}, "
                        f"{holder.get('address', 'starting')}); stop it with `nexus down --data {self.path}`"
                    ) from None
                time.sleep(0.02)
        self._lock = descriptor
        self.announce(None)
        with contextlib.suppress(FileNotFoundError):
            (self.path / "stack.json").unlink()
        return descriptor

    def announce(self, address: str | None) -> None:
        """Writes this process's pid and the address of its page into the lock file."""
        if self._lock is None:
            raise NotRunningError(f"{self.path} is not held by this process")
        text = json.dumps({"pid": os.getpid(), **({"address": address} if address else {})}).encode()
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, text, 0)

    def release(self) -> None:
        """Unlocks the directory. Children that still run keep it locked."""
        if self._lock is not None:
            with contextlib.suppress(FileNotFoundError):
                (self.path / "stack.json").unlink()
            os.close(self._lock)
            self._lock = None

    def is_held(self) -> bool:
        """Whether a supervisor or a process that it started is alive."""
        try:
            descriptor = os.open(self.path / "stack.lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def supervisor(self) -> int:
        """The pid of the running supervisor.

        Raises:
            NotRunningError: no stack is running.
        """
        pid = self._holder().get("pid") if self.is_held() else None
        if not isinstance(pid, int):
            raise NotRunningError(f"no stack is running on {self.path}; start one with `nexus up --data {self.path}`")
        return pid

    def _holder(self) -> dict[str, Any]:
        try:
            return cast(dict[str, Any], json.loads((self.path / "stack.lock").read_bytes() or b"{}"))
        except (OSError, ValueError):
            return {}

    # ---- stack.json

    def record(self, processes: Sequence[StackProcess], urls: Mapping[str, str]) -> None:
        """Replaces stack.json atomically."""
        content = {"processes": [asdict(process) for process in processes], "urls": dict(urls)}
        self._replace("stack.json", json.dumps(content, indent=2) + "\n")

    def recorded(self) -> dict[str, Any]:
        """The content of stack.json.

        Raises:
            NotRunningError: no stack runs here, or it is not ready yet.
        """
        self.supervisor()
        try:
            return cast(dict[str, Any], json.loads((self.path / "stack.json").read_bytes()))
        except FileNotFoundError:
            raise NotRunningError(f"the stack on {self.path} is still starting; try again in a moment") from None

    # ---- secrets

    @property
    def is_new(self) -> bool:
        """Whether no stack has run on it yet, so that no stack knows the secrets that `secrets` would create."""
        return not (self.path / "secrets.json").exists()

    def secrets(self) -> DevSecrets:
        """The development secrets, created at the first call."""
        stored = self._created_once("secrets.json", ("jwt_secret", "principal_key"))
        # Derived, so that older directories and backups have these keys too.
        mark_key = hmac.digest(stored["principal_key"].encode(), b"marks", hashlib.sha256).hex()
        secrets_key = hmac.digest(stored["principal_key"].encode(), b"secrets of companies", hashlib.sha256).hex()
        return DevSecrets(stored["jwt_secret"], stored["principal_key"], mark_key, secrets_key)

    def bus_passwords(self, users: Sequence[str]) -> dict[str, str]:
        """The passwords of the embedded bus's users, created at the first call."""
        return self._created_once("bus.json", users)

    def _created_once(self, name: str, keys: Sequence[str]) -> dict[str, str]:
        path = self.path / name
        if not path.exists():
            self.create()
            # The first character is a letter, since nats-server would parse some hexadecimal texts as numbers.
            draft = self._write(json.dumps({key: f"s{secrets.token_hex(32)}" for key in keys}) + "\n")
            # Two commands may do this at the same time: a link, unlike a rename, keeps the file of the first.
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(draft)
            draft.unlink()
        try:
            stored = cast(dict[str, str], json.loads(path.read_bytes()))
            return stored | {key: stored[key] for key in keys}
        except (ValueError, KeyError, TypeError):
            raise DamagedSecretsError(
                f"{path} is damaged: put back the one of a backup (settings/{name}), since what was signed and sealed "
                "with it is valid with no other"
            ) from None

    def _replace(self, name: str, text: str) -> None:
        self._write(text).replace(self.path / name)

    def _write(self, text: str) -> Path:
        draft = self.path / f".{secrets.token_hex(8)}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return draft


def _is_alive(pid: object) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
