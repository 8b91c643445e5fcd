"""The images out of deploy/Dockerfile: built twice, compared file by file, and measured."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Mapping
from typing import cast

from deploy.verify.base import PYTHON
from deploy.verify.engine import Engine, VerifyError

LIMITS = {"gateway": 200, "agent": 200, "memory": 200, "tool-executor": 200, "market-adapter": 500, "nexus-cli": 250}
"""Megabytes (10^6 bytes) above the base image."""
NOBODY = "10001:10001"
LABELS = ("org.opencontainers.image.title", "org.opencontainers.image.version")


def build(engine: Engine, image: str, tag: str, *, anew: bool = False) -> None:
    """One image; `anew`: with nothing of what an earlier build has left."""
    arguments = ["--build-arg", f"SERVICE={image}"]
    if image == "nexus-cli":
        arguments += ["--build-arg", "PROJECT=cli"]
    if anew:
        arguments.append("--no-cache")
    engine.docker("build", "--network=host", "--file", "deploy/Dockerfile", *arguments, "--tag", tag, ".", timeout=1200)


def looked_at(engine: Engine, image: str, tag: str) -> str:
    """Its size, in words. Raises VerifyError where it is too large, or is not what an image has to be."""
    held, base = engine.inspect(tag, PYTHON)
    size = (held["Size"] - base["Size"]) / 1e6
    faults: list[str] = []
    if size > LIMITS[image]:
        faults.append(f"{size:.0f} MB above the base, not {LIMITS[image]}")
    config = held["Config"]
    if config["User"] != NOBODY:
        faults.append(f"its user is {config['User'] or 'root'}")
    if image != "nexus-cli" and "sh" in config["Healthcheck"]["Test"][:2]:
        faults.append("its health needs a shell")
    faults += [f"no label {label}" for label in LABELS if not config["Labels"].get(label)]
    if faults:
        raise VerifyError(f"the image of {image}: {'; '.join(faults)}")
    return f"{size:.0f} MB above the base (at most {LIMITS[image]})"


def differences(engine: Engine, one: str, other: str) -> list[str]:
    """Files of two images that are not the same."""
    first, second = files_of(engine, one), files_of(engine, other)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def files_of(engine: Engine, image: str) -> Mapping[str, str]:
    """What was built into it, by its SHA-256."""
    container = engine.docker("create", image).strip()
    try:
        found: dict[str, str] = {}
        with engine.exported(container) as stream, tarfile.open(fileobj=stream, mode="r|") as packed:
            for member in packed:
                if member.isfile() and member.name.startswith("opt/nexus/"):
                    content = cast("tarfile.ExFileObject", packed.extractfile(member)).read()
                    found[member.name] = hashlib.sha256(content).hexdigest()
        return found
    finally:
        engine.docker("rm", container)
