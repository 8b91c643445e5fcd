"""`nexus backup` and `nexus restore`.

The directory holds `streams/NAME`, `documents/NAME.bson`, `files/` with `files.jsonl`, of a local stack `settings/`,
and `manifest.json`, which is written last: without it a backup is incomplete. Everything keeps running meanwhile, so
consistency comes from the order: documents first, since memory updates a store that is behind the log; then the streams
that turns work with; then the log, at one sequence; then the streams derived from it; then the files, so that all files
named by messages in the saved log are included.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from contracts.streams import CHAT, DLQ, FACTS, TRACES
from nexus_cli.backup import documents, files, streams
from nexus_cli.backup.streams import BackupFailedError, file_digest
from nexus_cli.target import Addresses, bus

FORM = 3
"""Version of the directory's format; a newer one is refused. Version 2 added files, version 3 a digest of the
manifest."""
MANIFEST = "manifest.json"
LAST_STREAMS = (CHAT.name, FACTS.name, DLQ.name, TRACES.name)
SETTINGS_FILES = ("secrets.json", "bus.json")
_DAMAGED = "{} is damaged or missing: take another backup"
Say = Callable[[str], None]


async def backup(addresses: Addresses, settings: Path | None, directory: Path, say: Say) -> dict[str, Any]:
    """Backs up the stack at the addresses and returns the manifest. `settings`: the data directory of a local stack.

    Raises:
        BackupFailedError: the directory is not empty, or a server fails.
    """
    with _new_directory(directory):
        if addresses.mongodb is None:
            raise BackupFailedError("no MongoDB is known: set NEXUS_MONGODB_URL")
        manifest: dict[str, Any] = {"form": FORM, "madeAt": datetime.now(UTC).isoformat(timespec="seconds")}
        manifest["database"] = addresses.database
        count = 0
        manifest["documents"] = {}
        async with documents.database(addresses.mongodb, addresses.database) as source:
            for name in await documents.names(source):
                saved = await documents.save(source, name, directory / "documents" / f"{name}.bson")
                manifest["documents"][name] = asdict(saved)
                count += saved.count
        say(f"{count} documents")
        manifest["streams"] = {}
        async with bus(addresses.nats) as client:
            stream_names = await streams.names(client)
            for name in sorted(
                stream_names, key=lambda name: (LAST_STREAMS.index(name) + 1 if name in LAST_STREAMS else 0, name)
            ):
                stream = await streams.save(client, name, directory / "streams" / name)
                manifest["streams"][name] = asdict(stream)
                say(f"{name} up to {stream.state['last_seq']}: {stream.state['messages']} messages")
        saved_files = await files.save(settings, directory, say)
        manifest["files"] = None if saved_files is None else asdict(saved_files)
        manifest["settings"] = {}
        for name in SETTINGS_FILES:
            if settings is not None and (settings / name).exists():
                shutil.copyfile(settings / name, directory / "settings" / name)
                (directory / "settings" / name).chmod(0o600)
                manifest["settings"][name] = file_digest(directory / "settings" / name)
        draft = directory / f".{MANIFEST}"
        draft.write_text(json.dumps(manifest | {"digest": _manifest_digest(manifest)}, indent=1))
        os.sync()
        draft.replace(directory / MANIFEST)
        return manifest


async def read(directory: Path) -> dict[str, Any]:
    """Checks that a backup is complete and undamaged, and returns its manifest.

    Raises:
        BackupFailedError: it is no backup, incomplete, damaged, or from a newer release.
    """
    try:
        manifest = cast(dict[str, Any], json.loads((directory / MANIFEST).read_text()))
        if manifest["form"] > FORM:
            raise BackupFailedError(f"{directory} was made by a newer release: restore it with that one")
        stored_digest = manifest.pop("digest", None)
        is_complete = stored_digest == _manifest_digest(manifest) or (stored_digest is None and manifest["form"] < FORM)
        parts = {f"documents/{name}.bson": collection["digest"] for name, collection in manifest["documents"].items()}
        parts |= {f"streams/{name}": stream["digest"] for name, stream in manifest["streams"].items()}
        parts |= {f"settings/{name}": digest for name, digest in manifest["settings"].items()}
        saved_files = _files(manifest)
        if saved_files is not None:
            parts[files.LIST] = saved_files.digest
    except FileNotFoundError:
        raise BackupFailedError(f"{directory} is not a complete backup: {MANIFEST} is missing") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BackupFailedError(_DAMAGED.format(directory / MANIFEST)) from None
    if not is_complete:
        raise BackupFailedError(_DAMAGED.format(directory / MANIFEST))
    for name, digest in parts.items():
        if not (directory / name).is_file() or file_digest(directory / name) != digest:
            raise BackupFailedError(_DAMAGED.format(directory / name))
    if saved_files is not None:
        await files.check(directory)
    return manifest


@contextmanager
def restored_settings(manifest: dict[str, Any], directory: Path, data: Path) -> Generator[None]:
    """Copies the secrets and passwords of a backup into a new data directory. If the block fails they are removed
    again, so that the command can be repeated.

    Raises:
        BackupFailedError: the data directory has been in use.
    """
    for name in manifest["settings"]:
        if (data / name).exists():
            raise BackupFailedError(f"{data} has been in use: restore into a directory that is new")
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in manifest["settings"]:
        shutil.copyfile(directory / "settings" / name, data / name)
        (data / name).chmod(0o600)
    try:
        yield
    except BaseException:
        for name in manifest["settings"]:
            (data / name).unlink(missing_ok=True)
        raise


async def restore(
    manifest: dict[str, Any], directory: Path, addresses: Addresses, replicas: int, say: Say, data: Path | None = None
) -> None:
    """Loads streams, documents and files into empty servers. No service may be running, since services create streams.
    `data`: the data directory of a local stack.

    Raises:
        BackupFailedError: the servers are not empty, or one fails.
    """
    if addresses.mongodb is None:
        raise BackupFailedError("no MongoDB is known: set NEXUS_MONGODB_URL")
    secrets = manifest["settings"].get("secrets.json")
    if data is not None and secrets not in {None, file_digest(data / "secrets.json")}:
        # Services accept a log only with the keys with which it was written.
        raise BackupFailedError(
            f"{data} has secrets of its own: stop its stack, and restore into a directory that is new"
        )
    async with (
        bus(addresses.nats) as client,
        documents.database(addresses.mongodb, addresses.database) as target,
        files.empty_place(_files(manifest), data) as place,
    ):
        existing = sorted(await streams.names(client))
        if existing:
            raise BackupFailedError(f"the bus holds streams already ({', '.join(existing)}): restore into an empty one")
        if await documents.names(target):
            raise BackupFailedError(f"the database {addresses.database} is not empty: restore into an empty one")
        async with documents.being_restored(target, manifest["madeAt"]):
            count = 0
            for name in manifest["documents"]:
                count += await documents.load(target, name, directory / "documents" / f"{name}.bson")
            say(f"{count} documents")
            if place is None:
                say(f"{files.NOT_IN_BACKUP}where they lie is as it is")
            else:
                say(f"{await files.load(place, directory)} files of conversations")
            for name, saved_view in manifest["streams"].items():
                saved = streams.SavedStream(**saved_view)
                info = await streams.load(client, saved, directory / "streams" / name, replicas)
                if info["state"]["last_seq"] != saved.state["last_seq"]:
                    raise BackupFailedError(
                        f"stream {name} ends at {info['state']['last_seq']}, not {saved.state['last_seq']}"
                    )
                say(f"{name} up to {saved.state['last_seq']}: {info['state']['messages']} messages")


def _files(manifest: dict[str, Any]) -> files.BackupFiles | None:
    saved_view = manifest.get("files")
    return None if saved_view is None else files.BackupFiles(**saved_view)


@contextmanager
def _new_directory(directory: Path) -> Generator[None]:
    """Creates the directory. If the block fails it is emptied, so that the command can be repeated."""
    if directory.exists() and any(directory.iterdir()):
        raise BackupFailedError(f"{directory} is not empty: name a new directory for each backup")
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        for part in ("streams", "documents", "settings"):
            (directory / part).mkdir(mode=0o700)
        yield
    except BaseException:
        for part in directory.iterdir():
            shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)
        raise


def _manifest_digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
