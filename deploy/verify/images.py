"""Builds the images of deploy/Dockerfile, compares two builds file by file, and measures them."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Mapping
from typing import cast

from deploy.verify.base import PYTHON
from deploy.verify.engine import Engine, VerifyError

LIMITS = {"gateway": 200, "agent": 200, "memory": 200, "tool-executor": 200, "market-adapter": 500, "nexus-cli": 250}
"""The maximum size of each image above the base image, in megabytes (10^6 bytes)."""
NOBODY = "10001:10001"
LABELS = ("org.opencontainers.image.title", "org.opencontainers.image.version")


def build(engine: Engine, image: str, tag: str, *, without_cache: bool = False) -> None:
    """Builds one image; `without_cache`: without the cache of earlier builds."""
    arguments = ["--build-arg", f"SERVICE={image}"]
    if image == "nexus-cli":
        arguments += ["--build-arg", "PROJECT=cli"]
    if without_cache:
        arguments.append("--no-cache")
    engine.docker("build", "--network=host", "--file", "deploy/Dockerfile", *arguments, "--tag", tag, ".", timeout=1200)


def looked_at(engine: Engine, image: str, tag: str) -> str:
    """Returns the image's size in words. Raises VerifyError if it is too large, or not configured as required."""
    built, base = engine.inspect(tag, PYTHON)
    size = (built["Size"] - base["Size"]) / 1e6
    faults: list[str] = []
    if size > LIMITS[image]:
        faults.append(f"{size:.0f} MB above the base, not {LIMITS[image]}")
    config = built["Config"]
    if config["User"] != NOBODY:
        faults.append(f"its user is {config['User'] or 'root'}")
    if image != "nexus-cli" and "sh" in config["Healthcheck"]["Test"][:2]:
        faults.append("its health needs a shell")
    faults += [f"no label {label}" for label in LABELS if not config["Labels"].get(label)]
    if faults:
        raise VerifyError(f"the image of {image}: {'; '.join(faults)}")
    return f"{size:.0f} MB above the base (at most {LIMITS[image]})"


def differences(engine: Engine, first_image: str, second_image: str) -> list[str]:
    """Returns the files that differ between two images."""
    first, second = files_of(engine, first_image), files_of(engine, second_image)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def files_of(engine: Engine, image: str) -> Mapping[str, str]:
    """Returns the SHA-256 of each file that was built into an image."""
    container = engine.docker("create", image).strip()
    try:
        hashes: dict[str, str] = {}
        with engine.exported(container) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if member.isfile() and member.name.startswith("opt/nexus/"):
                    content = cast("tarfile.ExFileObject", archive.extractfile(member)).read()
                    hashes[member.name] = hashlib.sha256(content).hexdigest()
        return hashes
    finally:
        engine.docker("rm", container)
