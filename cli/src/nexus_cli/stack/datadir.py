"""The data directory: one supervisor at a time, and what it tells others about itself.

`stack.lock`    held with flock by the supervisor and, through inheritance, by every process that it starts: it is free
                only when the last of them is gone. It contains the supervisor's pid and address.
`stack.json`    {processes [{name, pid, port, url}], urls {nats, redis, mongodb}}, replaced as a whole.
`secrets.json`  the development secrets, made once, readable by their owner alone.
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

# After a kill -9 of the supervisor its processes are gone within milliseconds; this is how long a new one waits.
_ORPHANS_GONE_WITHIN = 3.0


@dataclass(frozen=True)
class StackProcess:
    """One process of the stack, as stack.json shows it."""

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
def _usable() -> Generator[None]:
    try:
        yield
    except OSError as error:
        advice = "choose another directory with --data, or change that"
        raise UnusableDataError(f"{error.filename}: {error.strerror}: {advice}") from None


class DataDirectory:
    """Everything that `nexus` keeps below `--data`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.logs = self.path / "logs"
        self._lock: int | None = None

    def create(self) -> None:
        """Makes the directory, for its owner alone; raises UnusableDataError."""
        with _usable():
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.logs.mkdir(exist_ok=True)

    # ---- the lock

    def acquire(self) -> int:
        """Takes the directory for this process.

        Returns:
            The lock's file descriptor, for the children to inherit.

        Raises:
            AlreadyRunningError: a stack runs on it.
            UnusableDataError: it cannot be written.
        """
        with _usable():
            descriptor = os.open(self.path / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + _ORPHANS_GONE_WITHIN
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = self._holder()
                if _alive(holder.get("pid")) or time.monotonic() > end:
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
        """Writes the holder of the lock, and the address of its page."""
        if self._lock is None:
            raise NotRunningError(f"{self.path} is not held by this process")
        text = json.dumps({"pid": os.getpid(), **({"address": address} if address else {})}).encode()
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, text, 0)

    def release(self) -> None:
        """Gives the directory back. Children that are still there keep it locked."""
        if self._lock is not None:
            with contextlib.suppress(FileNotFoundError):
                (self.path / "stack.json").unlink()
            os.close(self._lock)
            self._lock = None

    def is_held(self) -> bool:
        """True while a supervisor, or anything it started, is alive."""
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
            NotRunningError: there is none.
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
        """Replaces stack.json; a reader sees the old one or the new one, never a half."""
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
        """Whether no stack has run on it yet: what `secrets` makes then, nobody else knows."""
        return not (self.path / "secrets.json").exists()

    def secrets(self) -> DevSecrets:
        """The development secrets; made at the first call, the same ever after."""
        made = self._made_once("secrets.json", ("jwt_secret", "principal_key"))
        # Derived, so that directories and backups from before marks have one too.
        mark_key = hmac.digest(made["principal_key"].encode(), b"marks", hashlib.sha256).hex()
        secrets_key = hmac.digest(made["principal_key"].encode(), b"secrets of companies", hashlib.sha256).hex()
        return DevSecrets(made["jwt_secret"], made["principal_key"], mark_key, secrets_key)

    def bus_passwords(self, users: Sequence[str]) -> dict[str, str]:
        """The passwords of the embedded bus's users; made at the first call, the same ever after."""
        return self._made_once("bus.json", users)

    def _made_once(self, name: str, keys: Sequence[str]) -> dict[str, str]:
        path = self.path / name
        if not path.exists():
            self.create()
            # A letter first, then hexadecimal digits: nats-server would read some texts as numbers.
            draft = self._write(json.dumps({key: f"s{secrets.token_hex(32)}" for key in keys}) + "\n")
            # Two commands may get here at once: a link, unlike a rename, keeps the first one's.
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(draft)
            draft.unlink()
        try:
            made = cast(dict[str, str], json.loads(path.read_bytes()))
            return made | {key: made[key] for key in keys}
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


def _alive(pid: object) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
