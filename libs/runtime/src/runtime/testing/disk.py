"""A small disk that tests may fill."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class SmallDisk:
    """A disk of 24 MiB, mounted at `path`."""

    path: Path

    def enlarge(self) -> None:
        """Enlarges the disk to 192 MiB."""
        subprocess.run(["mount", "-o", "remount,size=192m", str(self.path)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small tmpfs. Only root may mount it; for others this fails rather than skips, so that the test does not seem to
    pass."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
    yield SmallDisk(disk)
    subprocess.run(["umount", "--lazy", str(disk)], check=True)
