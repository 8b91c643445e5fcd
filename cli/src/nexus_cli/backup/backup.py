"""`nexus backup` and `nexus restore`.

The directory holds `streams/NAME`, `documents/NAME.bson`, `files/` with `files.jsonl`, of a local stack `settings/`,
and `manifest.json`, which is written last: without it a backup is not whole. Nothing stops meanwhile, so the order
makes it consistent: documents first, since memory brings up a store that is behind the log; then what a turn works
with; then the log, at one sequence; then what tells of it; then the files, of which messages of the log name no later
ones.
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
from nexus_cli.backup.streams import BackupFailedError
from nexus_cli.target import Addresses, bus

FORM = 3
"""The version of the directory's form; a newer one is refused. The second has files, the third a digest of the
manifest."""
MANIFEST = "manifest.json"
LAST = (CHAT.name, FACTS.name, DLQ.name, TRACES.name)
SETTINGS = ("secrets.json", "bus.json")
_DAMAGED = "{} is damaged or missing: take another backup"
Say = Callable[[str], None]


async def backup(addresses: Addresses, settings: Path | None, directory: Path, say: Say) -> dict[str, Any]:
    """Makes a backup of what runs at the addresses; the manifest. `settings`: the data directory of a local stack.

    Raises:
        BackupFailedError: the directory holds something, or a server does not give what it has.
    """
    with _made(directory):
        return await _backup(directory, addresses, settings, say)


async def _backup(directory: Path, addresses: Addresses, settings: Path | None, say: Say) -> dict[str, Any]:
    if addresses.mongodb is None:
        raise BackupFailedError("no MongoDB is known: set NEXUS_MONGODB_URL")
    manifest: dict[str, Any] = {"form": FORM, "madeAt": datetime.now(UTC).isoformat(timespec="seconds")}
    manifest["database"] = addresses.database
    count = 0
    manifest["documents"] = {}
    async with documents.database(addresses.mongodb, addresses.database) as source:
        for name in await documents.names(source):
            kept = await documents.save(source, name, directory / "documents" / f"{name}.bson")
            manifest["documents"][name] = asdict(kept)
            count += kept.count
    say(f"{count} documents")
    manifest["streams"] = {}
    async with bus(addresses.nats) as client:
        found = await streams.names(client)
        for name in sorted(found, key=lambda name: (LAST.index(name) + 1 if name in LAST else 0, name)):
            stream = await streams.save(client, name, directory / "streams" / name)
            manifest["streams"][name] = asdict(stream)
            say(f"{name} up to {stream.state['last_seq']}: {stream.state['messages']} messages")
    kept_files = await files.save(settings, directory, say)
    manifest["files"] = None if kept_files is None else asdict(kept_files)
    manifest["settings"] = {}
    for name in SETTINGS:
        if settings is not None and (settings / name).exists():
            shutil.copyfile(settings / name, directory / "settings" / name)
            (directory / "settings" / name).chmod(0o600)
            manifest["settings"][name] = _digest(directory / "settings" / name)
    draft = directory / f".{MANIFEST}"
    draft.write_text(json.dumps(manifest | {"digest": _of(manifest)}, indent=1))
    os.sync()
    draft.replace(directory / MANIFEST)
    return manifest


async def read(directory: Path) -> dict[str, Any]:
    """The manifest of a backup that is whole: each file is there as it was written.

    Raises:
        BackupFailedError: it is no backup, not whole, damaged, or of a newer release.
    """
    try:
        manifest = cast(dict[str, Any], json.loads((directory / MANIFEST).read_text()))
        if manifest["form"] > FORM:
            raise BackupFailedError(f"{directory} was made by a newer release: restore it with that one")
        given = manifest.pop("digest", None)
        whole = given == _of(manifest) or (given is None and manifest["form"] < FORM)
        parts = {f"documents/{name}.bson": one["digest"] for name, one in manifest["documents"].items()}
        parts |= {f"streams/{name}": one["digest"] for name, one in manifest["streams"].items()}
        parts |= {f"settings/{name}": digest for name, digest in manifest["settings"].items()}
    except FileNotFoundError:
        raise BackupFailedError(f"{directory} is not a complete backup: {MANIFEST} is missing") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BackupFailedError(_DAMAGED.format(directory / MANIFEST)) from None
    if not whole:
        raise BackupFailedError(_DAMAGED.format(directory / MANIFEST))
    for name, digest in parts.items():
        if not (directory / name).is_file() or _digest(directory / name) != digest:
            raise BackupFailedError(_DAMAGED.format(directory / name))
    if (kept := _files(manifest)) is not None:
        await files.check(kept, directory)
    return manifest


@contextmanager
def restored_settings(manifest: dict[str, Any], directory: Path, data: Path) -> Generator[None]:
    """Secrets and passwords of a local stack, which has to be new. They go again where the block fails, so that the
    same command can be given again.

    Raises:
        BackupFailedError: the data directory has some.
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
    """Puts streams, documents and files into servers that are empty. No service may run yet: the first of them makes
    streams. `data`: the data directory of a local stack.

    Raises:
        BackupFailedError: they are not empty, or a server does not take it.
    """
    if addresses.mongodb is None:
        raise BackupFailedError("no MongoDB is known: set NEXUS_MONGODB_URL")
    secrets = manifest["settings"].get("secrets.json")
    if data is not None and secrets not in {None, _digest(data / "secrets.json")}:
        # Services take a log only with the keys that it was written with.
        raise BackupFailedError(
            f"{data} has secrets of its own: stop its stack, and restore into a directory that is new"
        )
    async with (
        bus(addresses.nats) as client,
        documents.database(addresses.mongodb, addresses.database) as target,
        files.empty_place(_files(manifest), data) as place,
    ):
        there = sorted(await streams.names(client))
        if there:
            raise BackupFailedError(f"the bus holds streams already ({', '.join(there)}): restore into an empty one")
        if await documents.names(target):
            raise BackupFailedError(f"the database {addresses.database} is not empty: restore into an empty one")
        async with documents.being_restored(target, manifest["madeAt"]):
            count = 0
            for name in manifest["documents"]:
                count += await documents.load(target, name, directory / "documents" / f"{name}.bson")
            say(f"{count} documents")
            if place is None:
                say(f"{files.NOT_IN_IT}where they lie is as it is")
            else:
                say(f"{await files.load(place, directory)} files of conversations")
            for name, one in manifest["streams"].items():
                kept = streams.KeptStream(**one)
                info = await streams.load(client, kept, directory / "streams" / name, replicas)
                if info["state"]["last_seq"] != kept.state["last_seq"]:
                    raise BackupFailedError(
                        f"stream {name} ends at {info['state']['last_seq']}, not {kept.state['last_seq']}"
                    )
                say(f"{name} up to {kept.state['last_seq']}: {info['state']['messages']} messages")


def _files(manifest: dict[str, Any]) -> files.BackupFiles | None:
    one = manifest.get("files")
    return None if one is None else files.BackupFiles(**one)


@contextmanager
def _made(directory: Path) -> Generator[None]:
    """The new directory. It is emptied where the block fails, so that the same command can be given again."""
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


def _of(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
