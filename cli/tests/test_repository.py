"""What must never get into the repository."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICES = sorted(path.name for path in (ROOT / "services").iterdir() if (path / "pyproject.toml").exists())
# Spelled apart, so that this file does not find itself.
REGISTRIES = re.compile("|".join(re.escape(a + b) for a, b in [
    ("pypi.", "org"), ("python", "hosted.org"), ("registry.", "npmjs"), ("registry.", "yarnpkg"),
    ("proxy.", "golang.org"),
    ("extra-", "index-url"), ("--index", "-url"), ("--find", "-links "),
]))  # fmt: skip
MACHINE_PATHS = re.compile(r"(?<![\w.*}])/(?:root|work|home/\w+|Users/\w+|opt/(?:pypi|wheels))/[\w.]")
SECRETS = re.compile(
    r"-----BEGIN (?:\w+ )?PRIVATE KEY-----\\?n?[A-Za-z0-9+/]{40}|\b(?:gsk|sk-ant|sk-proj)[-_][A-Za-z0-9]{20}"
)


def committed() -> Iterator[Path]:
    """Files under version control, and new ones that are about to be."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listing.split("\0")):
        if (path := ROOT / name).is_file():
            yield path


def texts() -> Iterator[tuple[str, str]]:
    for path in committed():
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            yield str(path.relative_to(ROOT)), content.decode(errors="replace")


@pytest.mark.parametrize(
    "pattern", [REGISTRIES, MACHINE_PATHS, SECRETS], ids=["registries", "machine paths", "secrets"]
)
def test_no_file_holds_what_belongs_to_one_machine(pattern: re.Pattern[str]) -> None:
    found = [f"{name}: {match.group()}" for name, text in texts() for match in pattern.finditer(text)]
    # The options that keep addresses out of the locks carry their names.
    assert [line for line in found if not line.startswith("Makefile: ")] == []


def test_there_is_one_lock_and_it_is_not_uvs() -> None:
    assert [path for path in committed() if path.name in {"uv.lock", "poetry.lock", "Pipfile.lock"}] == []


def test_no_committed_file_is_large() -> None:
    assert {path.name: path.stat().st_size for path in committed() if path.stat().st_size > 2_000_000} == {}


def test_no_module_is_longer_than_400_lines() -> None:
    modules = [path for path in committed() if path.suffix == ".py" and "tests" not in path.parts]
    assert {str(p.relative_to(ROOT)): n for p in modules if (n := p.read_text().count("\n")) > 400} == {}


def pins(lock: Path) -> dict[str, str]:
    """Versions by package name; every pin has to have hashes."""
    text = lock.read_text()
    found = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    entries = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries), lock
    return found


def requirements(project: Path) -> set[str]:
    content = tomllib.loads(project.read_text())
    names = [*content["project"]["dependencies"], *content.get("dependency-groups", {}).get("dev", [])]
    plain = {re.split(r"[\[<>=!~; ]", name, maxsplit=1)[0].lower() for name in names}
    return {name for name in plain if not name.startswith("nexus-")}


def test_every_declared_dependency_is_locked() -> None:
    locked = set(pins(ROOT / "requirements.lock"))
    for project in [ROOT / "pyproject.toml", *ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("*/pyproject.toml")]:
        assert requirements(project) <= locked, f"{project}: run `make lock`"


@pytest.mark.parametrize("service", SERVICES)
def test_a_services_own_lock_is_complete_and_agrees_with_the_whole(service: str) -> None:
    whole, own = pins(ROOT / "requirements.lock"), pins(ROOT / f"deploy/locks/{service}.lock")
    declared = requirements(ROOT / "services" / service / "pyproject.toml")
    for library in ("contracts", "runtime"):
        declared |= requirements(ROOT / "libs" / library / "pyproject.toml")
    assert declared <= set(own), "run `make lock`"
    assert {name: version for name, version in own.items() if whole.get(name) != version} == {}, "run `make lock`"


@pytest.mark.parametrize(
    "lock", [path for path in committed() if path.name == "package-lock.json"], ids=lambda path: path.parent.name
)
def test_npms_locks_have_hashes_and_no_addresses(lock: Path) -> None:
    packages = json.loads(lock.read_text())["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []
