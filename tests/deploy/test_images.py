"""What an image holds, without a container engine: the packages of its lock, as this environment has them installed."""

import importlib.metadata
import os
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LIMITS = {
    "gateway": 250,
    "agent": 250,
    "tool-executor": 250,
    "memory": 250,
    "market-adapter": 500,
    "nexus-cli": 250,
}
"""Megabytes (10^6 bytes) of third-party and own packages, as `make sizes` measures them at a real installation."""
OWN = {"contracts": "libs/contracts/src", "runtime": "libs/runtime/src"}


def locked(image: str) -> list[Distribution]:
    """The packages that the image's lock names for this machine."""
    lines = (ROOT / f"deploy/locks/{image}.lock").read_text().splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]
    here = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    found = [importlib.metadata.distribution(one.name) for one in here]
    wrong = [one.name for one, held in zip(here, found, strict=True) if not one.specifier.contains(held.version)]
    assert wrong == [], f"deploy/locks/{image}.lock and requirements.lock do not agree: make lock"
    return found


def files_of(distribution: Distribution) -> list[Path]:
    found = [Path(str(distribution.locate_file(file))) for file in distribution.files or []]
    return [file for file in found if file.is_file() and file.suffix != ".pyc"]


def sources(image: str) -> list[Path]:
    package = ROOT / "cli/src/nexus_cli" if image == "nexus-cli" else ROOT / f"services/{image}/src"
    return [*(ROOT / path for path in OWN.values()), package]


@pytest.mark.parametrize("image", LIMITS)
def test_an_image_is_within_its_size(image: str) -> None:
    third = {file for distribution in locked(image) for file in files_of(distribution)}
    own = {file for source in sources(image) for file in source.rglob("*") if file.is_file() and file.suffix != ".pyc"}
    size = sum(file.stat().st_size for file in third | own) / 1e6
    assert 20 < size <= LIMITS[image], f"{image}: {size:.0f} MB"


@pytest.mark.parametrize("image", LIMITS)
def test_traces_can_leave_an_image(image: str) -> None:
    assert "opentelemetry-exporter-otlp-proto-http" in {distribution.name for distribution in locked(image)}


def test_the_command_runs_from_nothing_but_its_lock(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    held = [*locked("nexus-cli"), importlib.metadata.distribution("nexus-cli")]
    for distribution in held:
        for file in distribution.files or []:
            first = file.parts[0]
            if first != ".." and not (site / first).exists():
                (site / first).symlink_to(Path(str(distribution.locate_file(first))))
    for source in (*(ROOT / path / name for name, path in OWN.items()), ROOT / "cli/src/nexus_cli"):
        (site / source.name).symlink_to(source)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tmp_path)}

    def nexus(*arguments: str) -> subprocess.CompletedProcess[str]:
        # -S: nothing of this environment but what is linked above.
        command = [sys.executable, "-S", "-m", "nexus_cli", *arguments]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert nexus("--version").stdout.startswith("nexus ")
    doctor = nexus("doctor", "--live", "--data", str(tmp_path / "data"))
    assert doctor.returncode == 1
    assert "Traceback" not in doctor.stderr + doctor.stdout
    backup = nexus("backup", str(tmp_path / "backup"), "--data", str(tmp_path / "data"))
    assert backup.returncode == 1
    assert "nexus up" in backup.stderr
