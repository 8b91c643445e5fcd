"""The previous release as a tree of files: until there are tags, a commit of main."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

PREVIOUS = "ee2cb2cad"
ROOT = Path(__file__).parents[2]


def has_previous() -> bool:
    """Returns whether this clone has its commit; a shallow clone has not."""
    command = ["git", "-C", str(ROOT), "cat-file", "-e", f"{PREVIOUS}^{{commit}}"]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0


def previous_release(directory: Path, commit: str = PREVIOUS) -> Path:
    """Unpacks the whole tree below `directory`, since services link to files elsewhere in it.

    Raises:
        subprocess.CalledProcessError: this clone does not have the commit; fetch its whole history.
    """
    archive_bytes = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit], capture_output=True, timeout=60, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive_bytes)) as archive:
        archive.extractall(directory, filter="data")
    return directory
